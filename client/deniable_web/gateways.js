//@ts-check
/* Teaches devices to ask by gateways (Oblivious HTTP). Pages of collectors need none; a place's page, and who builds one, do. */

import { byGateway } from "./oblivious.js";
import { ways } from "./tokens.js";

ways.byGateway = byGateway;

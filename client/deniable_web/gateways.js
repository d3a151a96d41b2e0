//@ts-check
/*
 * Teaches a page to seal reports and to ask by gateways (Oblivious HTTP): a place's page, a collector's page of a survey whose
 * reports are sealed, and whoever builds a page of these modules.
 */

import { byGateway } from "./oblivious.js";
import { sealReport } from "./sealing.js";
import { ways } from "./ways.js";

Object.assign(ways, { byGateway, seal: sealReport });

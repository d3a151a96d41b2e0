//@ts-check
/* Teaches whoever builds a page of these modules to seal reports, to buy blind tokens and to ask by gateways (Oblivious HTTP). */

import * as blindTokens from "./blind-tokens.js";
import { sealReport } from "./sealing.js";
import { ways } from "./ways.js";

Object.assign(ways, { seal: sealReport, tokens: async () => blindTokens });

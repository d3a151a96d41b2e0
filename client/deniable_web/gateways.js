//@ts-check
/* Teaches whoever builds a page of these modules to seal reports, to buy blind tokens, to ask by gateways (Oblivious HTTP), and to frame. */

import * as blindTokens from "./blind-tokens.js";
import { framed } from "./framed.js";
import { sealReport } from "./sealing.js";
import { ways } from "./ways.js";

Object.assign(ways, { frame: framed, seal: sealReport, tokens: async () => blindTokens });

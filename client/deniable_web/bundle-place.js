//@ts-check
/* What dist/deniable-place.js is made of: <deniable-survey> for the page of a place, which seals reports. */

import { register } from "./base-element.js";
import { sealReport } from "./sealing.js";
import { DeniableSurvey } from "./element.js";
import { ways } from "./ways.js";
import { beside } from "./beside.js";

// build.mjs writes the hash of that script here.
const integrity = /** @type {any} */ (import.meta).tokens;
Object.assign(ways, { seal: sealReport, tokens: beside("deniable-tokens.js", integrity) });
register("deniable-survey", DeniableSurvey);

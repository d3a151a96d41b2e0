//@ts-check
/* What dist/deniable-place.js is made of: <deniable-survey> up to Start, for the page of a place, and where reports are sealed. */

import { register } from "./base-element.js";
import { answering } from "./beside.js";
import { DeniableSurvey } from "./element.js";
import { ways } from "./ways.js";

Object.assign(ways, { answering, seals: true });
register("deniable-survey", DeniableSurvey);

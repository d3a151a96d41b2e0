//@ts-check
/* What dist/deniable-place.js is made of: <deniable-survey> for the page of a place, with what passes through it at once. */

import { register } from "./base-element.js";
import { DeniableSurvey } from "./element.js";
import "./gateways.js";

register("deniable-survey", DeniableSurvey);

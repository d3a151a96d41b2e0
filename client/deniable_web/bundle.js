//@ts-check
/* What dist/deniable.js is made of: <deniable-survey>. */

import { register } from "./base-element.js";
import { DeniableSurvey } from "./element.js";

register("deniable-survey", DeniableSurvey);

//@ts-check
/* What dist/deniable.js is made of: <deniable-survey>, and <deniable-told> for the page on what a device has told. */

import { register } from "./base-element.js";
import { DeniableSurvey } from "./element.js";
import { DeniableTold } from "./told.js";

register("deniable-survey", DeniableSurvey);
register("deniable-told", DeniableTold);

//@ts-check
/* Registers both elements. Their classes stand apart, so that a page may register them under other names. */

import { register } from "./base-element.js";
import { DeniableSurvey } from "./element.js";
import { DeniableQuestion } from "./question.js";
import "./taught.js";

register("deniable-survey", DeniableSurvey);
register("deniable-question", DeniableQuestion);

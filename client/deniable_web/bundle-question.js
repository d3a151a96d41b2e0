//@ts-check
/* What dist/deniable-question.js is made of: <deniable-question>, for pages that have a form of their own. */

import { DeniableQuestion } from "./question.js";
import { register } from "./base-element.js";

register("deniable-question", DeniableQuestion);

//@ts-check
/* The odds in English, for the library: the elements have catalogues, and do not load this. */

import { english } from "./catalogues/figures.js";
import { oddsOf } from "./odds.js";

export { english };

/** The odds of one question in words. @param {import("./survey.js").Question} question */
export const oddsSentences = (question, m = english) => oddsOf(question, m);

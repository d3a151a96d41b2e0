//@ts-check
/* The odds in English, for the library: the elements have catalogues, and do not load this. */

import { oddsOf } from "./odds.js";

/** @type {import("./messages.js").Messages} */
export const english = {
  lang: "en",
  oddsYes: "Of 100 people whose true answer is Yes, about {p} send Yes and {rest} send No.",
  oddsNo: "Of 100 people whose true answer is No, about {q} send Yes and {other} send No.",
  "forced-response": "Of 100 people, about {p} send what they chose and {rest} send an option drawn by chance.",
  "k-ary": "Of 100 people who choose an option, about {p} send it and {rest} send another one.",
  longitudinal:
    "Of 100 people who choose an option, all waves together show it for about {p} and another one for {rest}; one wave shows less.",
  subset:
    "Of 100 people who choose an option, about {p} send a set of {w} options that holds it; of 100 who choose another, about {q} do.",
  "tick-boxes": "Of 100 people who tick a box, about {p} send it as ticked; of 100 who do not, about {rest} do.",
  "drawn-boxes":
    "Your device draws {s} of the {k} boxes by chance and sends nothing about the others. Of 100 people who tick a drawn box, about {p} send it as ticked; of 100 who do not, about {rest} do.",
  mean: "Of 100 people who give the highest answer, about {p} send “high”; of 100 who give the lowest, about {q} do.",
  near: "Answers far apart are easier to tell apart than close ones.",
  oddsExact: "Whatever somebody believed before, what you send can multiply the odds of any answer by at most {e}.",
  oddsAll: "Whatever somebody believed before, all that you send can multiply the odds of any answer by at most {e}.",
  oddsGain: "Of 100 guesses about such answers, at most {n} more are right than before.",
};

/** The odds of one question in words. @param {import("./survey.js").Question} question */
export const oddsSentences = (question, m = english) => oddsOf(question, m);

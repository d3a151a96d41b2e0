//@ts-check
/* What the noise means to a person: odds out of 100 people, never a bare number of privacy loss. */

import { UNIT } from "./randomness.js";

/** @typedef {import("./mechanisms/base.js").Mechanism} Mechanism */

/** @typedef {{ sentence: string, share?: number }} Odds a sentence, and the share of people if it splits all in two */

/**
 * What some send, and what all others of them do.
 * @param {string} who @param {number} share @param {string} what @param {string} other @returns {Odds}
 */
function split(who, share, what, other) {
  const n = of100(share);
  return { sentence: `Of 100 people${who}, about ${n} send ${what} and ${100 - n} send ${other}.`, share };
}

/**
 * How many do something out of these, and out of those.
 * @param {string} who @param {number} n @param {string} what @param {string} others @param {number} m @returns {Odds}
 */
const compare = (who, n, what, others, m) => ({
  sentence: `Of 100 people who ${who}, about ${n} send ${what}; of 100 who ${others}, about ${m} do.`,
});

/** The odds of one question, computed from its mechanism's integers. @param {Mechanism} mechanism @returns {Odds[]} */
export function odds(mechanism) {
  // Whatever parameters there are: TypeScript cannot tell mechanisms by their names.
  const { name, support = [], truth = 0, w } = /** @type {Mechanism & { truth?: number, w?: number }} */ (mechanism);
  const { ifTrue, ifOther } = support[1] ?? { ifTrue: likeliest(mechanism), ifOther: 0 };
  const [p, q] = [of100(ifTrue), of100(ifOther)];
  switch (name) {
    case "two-coin":
    case "warner":
      return [
        split(" whose true answer is Yes", ifTrue, "Yes", "No"),
        split(" whose true answer is No", ifOther, "Yes", "No"),
      ];
    case "forced-response":
      return [split("", truth / UNIT, "what they chose", "an option drawn by chance")];
    case "k-ary":
      return [split(" who choose an option", ifTrue, "it", "another one")];
    case "subset":
      return [compare("choose an option", p, `a set of ${w} options that holds it`, "choose another", q)];
    case "tick-boxes":
      return [compare("tick a box", p, "it as ticked", "do not", 100 - p)];
    case "mean":
      return [compare("give the highest answer", p, "1", "give the lowest", q)];
    default:
      return [{ sentence: `Of 100 people, about ${p} or fewer send the very answer that they gave.` }];
  }
}

/** The odds of one question in words. @param {import("./survey.js").Question} question */
export const oddsSentences = ({ mechanism }) => odds(mechanism).map(({ sentence }) => sentence);

/** The largest probability, over all answers, of sending the truth. @param {Mechanism} mechanism */
function likeliest({ name, hi, support, kept = 0 }) {
  const p = support?.reduce((most, each) => Math.max(most, each.ifTrue), 0) ?? kept;
  return name === "tick-boxes" ? p ** (hi + 1) : p;
}

/**
 * The odds of the whole survey: how many people, at most, send nothing but true answers.
 * @param {import("./survey.js").Survey} survey @returns {string[]}
 */
export function wholeOdds({ questions }) {
  if (questions.length === 1) return [];
  const n = of100(questions.reduce((product, { mechanism }) => product * likeliest(mechanism), 1));
  return [`Of 100 people, about ${n} or fewer send their true answer to every question.`];
}

/** Round to whole people, but never say that nobody or everybody does what a few do or do not. @param {number} p */
const of100 = (p) => Math.min(Math.max(Math.floor(100 * p + 0.5), 1), 99);

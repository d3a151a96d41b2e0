//@ts-check
/* What the noise means to a person: odds out of 100 people, never a bare number of privacy loss. */

import { likeliest, readable } from "./mechanisms/base.js";
import { fill } from "./messages.js";
import { UNIT } from "./randomness.js";

/** @typedef {import("./mechanisms/base.js").Mechanism} Mechanism */
/** @typedef {import("./messages.js").Messages} Messages */

/** @typedef {{ sentence: string, share: number }} Odds a sentence, and the share of people that it says first */

/**
 * The odds of one question, computed from its mechanism's integers.
 * @param {Mechanism} mechanism @param {Messages} m @returns {Odds[]}
 */
export function odds(mechanism, m) {
  // Whatever parameters there are: TypeScript cannot tell mechanisms by their names.
  const { name, support, truth, k, s, w } = /** @type {Mechanism & { truth: number, k?: number, s?: number, w?: number }} */ (mechanism);
  const { ifTrue, ifOther } = support?.[1] ?? { ifTrue: likeliest(mechanism), ifOther: 0 };
  const share = name === "forced-response" ? truth / UNIT : ifTrue;
  const [p, q] = [of100(share), of100(ifOther)];
  const say = (/** @type {string} */ text, share = 0) => ({
    sentence: fill(text, { k, s, w, p, q, rest: 100 - p, other: 100 - q }),
    share,
  });
  return name === "two-coin" || name === "warner"
    ? [say(m.oddsYes, ifTrue), say(m.oddsNo, ifOther)]
    : [say(m[name] ?? m.oddsExact, share), ...(support ? [] : [say(m.near)])];
}

/**
 * The question whose sentence says the most about a person, as a reader compares them: in whole people.
 * @template {{ mechanism: Mechanism }} Q @param {readonly Q[]} questions
 */
export const plainest = (questions) => questions.reduce((a, b) => (told(b) > told(a) ? b : a));

/** @param {{ mechanism: Mechanism }} question */
const told = ({ mechanism }) => of100(readable(mechanism));

/** The odds of one question in words. @param {{ mechanism: Mechanism }} question @param {Messages} m */
export const oddsOf = ({ mechanism }, m) => odds(mechanism, m).map(({ sentence }) => sentence);

/**
 * The odds of the whole survey: how many people, at most, send nothing but true answers.
 * @param {{ questions: readonly unknown[], units: readonly { mechanism: Mechanism }[] }} survey @param {Messages} m @returns {string[]}
 */
export function wholeOdds({ questions, units }, m) {
  if (questions.length === 1) return [];
  const p = of100(units.reduce((product, { mechanism }) => product * likeliest(mechanism), 1));
  return [fill(m.oddsAll, { p })];
}

/** Round to whole people, but never say that nobody or everybody does what a few do or do not. @param {number} p */
const of100 = (p) => Math.min(Math.max(Math.floor(100 * p + 0.5), 1), 99);

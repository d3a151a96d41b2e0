//@ts-check
/* What the noise means to a person: odds out of 100 people, never a bare number of privacy loss. */

import { compare, product } from "./mechanisms/base.js";
import { fill } from "./messages.js";
import { UNIT } from "./randomness.js";

/** @typedef {import("./mechanisms/base.js").Mechanism} Mechanism */
/** @typedef {import("./mechanisms/base.js").Ratio} Ratio */
/** @typedef {import("./messages.js").Messages} Messages */

/**
 * The odds of one question in words, computed from its mechanism's integers.
 * @param {{ mechanism: Mechanism }} question @param {Messages} m @returns {string[]}
 */
export function oddsOf({ mechanism }, m) {
  // Whatever parameters there are: TypeScript cannot tell mechanisms by their names.
  const { name, support, truth, k, s, w } = /** @type {Mechanism & { truth: number, k?: number, s?: number, w?: number }} */ (mechanism);
  const { ifTrue, ifOther } = support?.[1] ?? { ifTrue: 0, ifOther: 0 };
  const [p, q] = [of100(name === "forced-response" ? truth / UNIT : ifTrue), of100(ifOther)];
  // By what a mechanism says of itself: one that is added later has its sentences too.
  const texts = mechanism.isYesNo ? [m.oddsYes, m.oddsNo] : [m[name] ?? m.oddsExact, ...(support ? [] : [m.near])];
  return texts.map((text) => fill(text, { k, s, w, p, q, e: factorAbove(m, ...mechanism.ratio), rest: 100 - p, other: 100 - q }));
}

/**
 * The question whose sentence says the most about a person: the one that can multiply odds most.
 * @template {{ mechanism: Mechanism }} Q @param {readonly Q[]} questions
 */
export const plainest = (questions) =>
  questions.reduce((a, b) => (compare(b.mechanism.toldRatio, a.mechanism.toldRatio) > 0 ? b : a));

/**
 * What all that a device sends can tell somebody, whatever that one believed before.
 *
 * The factor is the largest ratio of the probabilities of a whole report under any two sets of true answers, exactly, and
 * rounded up. By Bayes it bounds the odds of any single answer, whatever the answers have to do with each other.
 * @param {{ units: readonly { mechanism: Mechanism }[] }} survey @param {Messages} m @returns {string[]}
 */
export function wholeOdds({ units }, m) {
  const [more, less] = product(units.map(({ mechanism }) => mechanism.ratio));
  return [
    fill(m.guessEven, { g: chances(m, more, less) }),
    fill(m.oddsTen, { s: chances(m, more, 9n * less), t: chances(m, 9n * more, less) }),
    fill(m.oddsAll, { e: factorAbove(m, more, less) }),
  ];
}

/**
 * How often whoever knew nothing before is still wrong: of 100 what the figure of `guessEven` leaves, so rounded down where that
 * one is rounded up. Between more answers than two a guess is wrong more often.
 * @param {{ units: readonly { mechanism: Mechanism }[] }} survey @param {Messages} m
 */
export function stillWrong({ units }, m) {
  const [more, less] = product(units.map(({ mechanism }) => mechanism.ratio));
  const tenths = Number((1000n * less) / (more + less));
  return fill(m.guessWrong, { w: (tenths < 10 ? tenths / 10 : Math.floor(tenths / 10)).toLocaleString(m.lang, { numberingSystem: "latn" }) });
}

/**
 * A quotient for people, rounded up: to tenths below 10, and above `fine` tenths, otherwise to a whole number.
 * @param {Messages} m @param {bigint} a @param {bigint} b @param {any} [fine] nothing is above what is left out
 */
function above(m, a, b, fine) {
  const tenths = Number((10n * a + b - 1n) / b);
  const number = tenths < 100 || tenths > fine ? tenths / 10 : Math.ceil(tenths / 10);
  return number.toLocaleString(m.lang, { numberingSystem: "latn", useGrouping: false });
}

/**
 * Of 100 chances at even odds, how many are right where odds grow by at most this factor: 100 r / (1 + r). Of other odds
 * before, the factor times these. Above 99 there are tenths, so that hardly anything is rounded up to certainty.
 * @param {Messages} m @param {bigint} more @param {bigint} less
 */
const chances = (m, more, less) => above(m, 100n * more, more + less, 990);

/**
 * A factor for people: tenths below 10, then whole, and from 10^9 on the power of ten above it.
 * @param {Messages} m @param {bigint} more @param {bigint} less
 */
function factorAbove(m, more, less) {
  const whole = (more + less - 1n) / less;
  // A bit is .30103 digits, or a little less.
  if (whole > 1e9) return `10^${Math.floor((whole.toString(2).length * 30103) / 1e5) + 1}`;
  return above(m, more, less);
}

/** Round to whole people, but never say that nobody or everybody does what a few do or do not. @param {number} p */
export const of100 = (p) => Math.min(Math.max(Math.floor(100 * p + 0.5), 1), 99);

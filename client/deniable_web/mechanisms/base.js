//@ts-check
/* What every mechanism is: a frozen value with integer weights, and what follows from them. */

import { AnswerError, ParameterError } from "../errors.js";
import { UNIT } from "../randomness.js";

/**
 * @typedef {object} Support How likely a report supports one option.
 * @property {number} ifTrue when it is the true answer
 * @property {number} ifOther when another one is
 */

/**
 * @typedef {object} Mechanism The randomiser of one question, over its options or over a range of numbers.
 * @property {string} name the name under which a survey publishes it; its meaning never changes
 * @property {number} lo the lowest answer; 0 where answers are options
 * @property {number} hi the highest one
 * @property {readonly Support[]} [support] probabilities of what reports can support, where two figures say it all
 * @property {number} [kept] otherwise: the largest probability, over all answers, of sending the very answer
 * @property {number} epsilon privacy loss of these very integers, in nats
 * @property {(answer: any, word?: import("../randomness.js").Word) => number | string} randomize
 *   mix chance into one answer; how many words it draws does not depend on the answer
 */

/**
 * Whether a value is an integer in a range, both ends included. Number.isInteger is false for everything that is no
 * number: true, "1" and [1] do not pass for 1.
 * @param {any} value @param {number} least @param {number} most @returns {value is number}
 */
export const isWhole = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;

/**
 * A published integer; every bound is below 10**15, where doubles are exact.
 * @param {unknown} value @param {string} name @param {number} least @param {number} most @returns {number}
 */
export function integer(value, name, least, most) {
  if (isWhole(value, least, most)) return value;
  throw new ParameterError(`${name}: must be an integer from ${least} to ${most}`);
}

/**
 * A published weight. 0 and 2**32 are certainties: some report would be impossible under one answer and possible
 * under another, which is no protection at all. 1 could be read as the probability 1.
 * @param {unknown} value @param {string} name
 */
export const weight = (value, name) => integer(value, name, 2, UNIT - 1);

/**
 * A published list of integers.
 * @param {unknown} value @param {string} name @param {number} length @param {number} least @param {number} most
 */
export function integers(value, name, length, least, most) {
  if (!Array.isArray(value) || value.length !== length) {
    throw new ParameterError(`${name}: must be a list of ${length} integers`);
  }
  return Object.freeze(Array.from(value, (each) => integer(each, name, least, most)));
}

/** Length of a published list; of everything else 0. @param {unknown} value */
export const length = (value) => (Array.isArray(value) ? value.length : 0);

/** @param {readonly number[]} numbers */
export const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

/**
 * The logarithm of a ratio, precise in doubles even where the ratio is nearly 1.
 * @param {number} larger @param {number} smaller
 */
export const logRatio = (larger, smaller) => Math.log1p((larger - smaller) / smaller);

/**
 * Refuse what is no answer. The message does not repeat it, so that no log can.
 * @param {unknown} answer @param {{ lo: number, hi: number }} range
 */
export function checkAnswer(answer, { lo, hi }) {
  if (!isWhole(answer, lo, hi)) throw new AnswerError(`answer: must be an integer in [${lo}, ${hi + 1})`);
}

/**
 * Support where some tell the truth and all others say option v with weight forced[v], both out of 2**32.
 * @param {number} truth @param {readonly number[]} forced
 */
export const forcedSupport = (truth, forced) =>
  forced.map((weight) => {
    const ifOther = ((UNIT - truth) / UNIT) * (weight / UNIT);
    return { ifTrue: truth / UNIT + ifOther, ifOther };
  });

/**
 * Privacy loss of the same: ln(1 + t / ((1 - t) min g)), with no difference of nearly equal numbers, so that doubles
 * are exact enough.
 * @param {number} truth @param {readonly number[]} forced
 */
export const forcedLoss = (truth, forced) =>
  Math.log1p(truth / ((UNIT - truth) * (forced.reduce((least, each) => Math.min(least, each)) / UNIT)));

/** Support that is the same for every option. @param {number} k @param {number} ifTrue @param {number} ifOther */
export const alike = (k, ifTrue, ifOther) => Array(k).fill({ ifTrue, ifOther });

//@ts-check
/* What every mechanism is: a frozen value with integer weights, and what follows from them. */

import { AnswerError, ParameterError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";

/**
 * @typedef {object} Support How likely a report supports one option.
 * @property {number} ifTrue when it is the true answer
 * @property {number} ifOther when another one is
 */

/** @typedef {Mechanism & { draw: (answer: any, word: import("../randomness.js").Word) => number | string }} Drawing what every mechanism has of its own */

/** The randomiser of one question, over its options or over a range of numbers. */
export class Mechanism {
  /** The name under which a survey publishes it, which never changes its meaning, and its parameters. */
  static published = [""];
  name = /** @type {typeof Mechanism} */ (this.constructor).published[0];
  /** The types of questions that it may answer for. */
  static types = "";
  /** The lowest answer; 0 where answers are options. */
  lo = 0;
  /** The highest one. */
  hi = 1;
  /** How far reports reach beyond the answers. */
  excess = 0;
  /** Privacy loss of these very integers, in nats. */
  epsilon = 0;
  /** Probabilities of what reports can support, where two figures say it all. @type {readonly Support[] | undefined} */
  support;
  /** Otherwise: the largest probability, over all answers, that the very answer can be read. */
  kept = 0;
  /** The same of the whole answer, where that is not one option or number. @type {number | undefined} */
  whole;

  /** Whether reports tell the share of every answer; of some no more than the mean. */
  hasShares = true;

  /** Where each survey sends a draw of its own from the value that a device keeps: what draws it. @type {Drawing | undefined} */
  second;

  /** What it costs a device's ledger, in millionths of epsilon. */
  get cost() {
    return Math.ceil(this.epsilon * 1e6);
  }

  /**
   * Mix chance into one answer. How many words it draws does not depend on the answer.
   * @param {any} answer @param {import("../randomness.js").Word} word @param {boolean} [isKept] the permanent value, which
   *   a device keeps, instead of what one survey sends @returns {number | string}
   */
  randomize(answer, word = systemWord, isKept) {
    if (!this.takes(answer)) throw new AnswerError("answer: must be one that its question allows"); // and not what came, which a log would keep
    const value = /** @type {Drawing} */ (/** @type {Mechanism} */ (this)).draw(answer, word);
    return isKept ? value : this.instantaneous(value, word);
  }

  /**
   * What one survey sends of the permanent value: the same, unless there is a second step.
   * @param {any} value @param {import("../randomness.js").Word} word @returns {number | string}
   */
  instantaneous(value, word = systemWord) {
    return this.second ? this.second.draw(value, word) : value;
  }

  /** Whether a value is an answer. @param {any} value @returns {boolean} */
  takes(value) {
    return isWhole(value, this.lo, this.hi);
  }

  /** Whether a value can be one of its reports. @param {any} value @returns {boolean} */
  makes(value) {
    return isWhole(value, this.lo - this.excess, this.hi + this.excess);
  }

  /**
   * What follows from the weights, once: the last step of every constructor.
   * @param {number} epsilon @param {readonly Support[]} [support] @param {number} [kept]
   */
  settle(epsilon, support, kept = 0) {
    // Doubles are off by a few units of 2**-53; 16 of them upwards, and no device counts less than the survey declares.
    this.epsilon = epsilon * (1 + 2 ** -49);
    this.kept = kept;
    this.support = Object.freeze(support);
    Object.freeze(this);
  }
}

/**
 * Whether a value is an integer in a range, both ends included. Number.isInteger is false for everything that is no
 * number: true, "1" and [1] do not pass for 1.
 * @param {any} value @param {number} least @param {number} most @returns {value is number}
 */
export const isWhole = (value, least, most) => Number.isInteger(value) && value >= least && value <= most;

/** Whether a value is a text of 0 and 1, one for each option. @param {any} value @param {number} k */
export const isBits = (value, k) => value.length === k && /^[01]+$/.test(value);

/** Refuse parameters that make no mechanism. @param {unknown} isGood @returns {asserts isGood} */
export function demand(isGood) {
  if (!isGood) throw new ParameterError("mechanism: must be as a survey is published");
}

/**
 * A published integer; every bound is below 10**15, where doubles are exact.
 * @param {unknown} value @param {number} least @param {number} most @returns {number}
 */
export function integer(value, least, most) {
  demand(isWhole(value, least, most));
  return /** @type {number} */ (value);
}

/**
 * A published weight. 0 and 2**32 are certainties: some report would be impossible under one answer and possible
 * under another, which is no protection at all. 1 could be read as the probability 1.
 * @param {unknown} value
 */
export const weight = (value) => integer(value, 2, UNIT - 1);

/** @param {any} value @param {number} least @param {number} most @returns {unknown[]} */
export function list(value, least, most) {
  demand(Array.isArray(value) && isWhole(value.length, least, most));
  return value;
}

/**
 * A published list of integers.
 * @param {any} value @param {number} length @param {number} least @param {number} most @returns {readonly number[]}
 */
export function integers(value, length, least, most) {
  return Object.freeze(Array.from(list(value, length, length), (each) => integer(each, least, most)));
}

/** @param {readonly number[]} numbers */
export const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

/** Which of some weights a word draws: the first that, with all those before it, exceeds the word. @param {readonly number[]} weights @param {number} word */
export const drawn = (weights, word) => weights.findIndex((weight) => (word -= weight) < 0);

/**
 * The logarithm of the ratio of the larger to the smaller of two numbers, precise in doubles even where it is nearly 0.
 * @param {number} one @param {number} another
 */
export const logRatio = (one, another) => Math.log1p(Math.abs(one - another) / Math.min(one, another));

/**
 * Privacy loss and support where some tell the truth and all others say option v with weight forced[v], both out of
 * 2**32: ln(1 + t / ((1 - t) min g)), with no difference of nearly equal numbers, so that doubles are exact enough.
 * @param {number} truth @param {readonly number[]} forced @returns {[number, Support[]]}
 */
export const forcedLoss = (truth, forced) => [
  Math.log1p(truth / ((UNIT - truth) * (forced.reduce((least, each) => Math.min(least, each)) / UNIT))),
  forced.map((weight) => {
    const ifOther = ((UNIT - truth) / UNIT) * (weight / UNIT);
    return { ifTrue: truth / UNIT + ifOther, ifOther };
  }),
];

/**
 * The largest probability, over all answers, that a report tells the truth to whoever reads it as the answer under
 * which it is likeliest, which need not be the answer that it names; of tick boxes, the truth about one of them.
 * @param {Mechanism} mechanism
 */
export const readable = ({ support, kept }) =>
  support?.reduce((most, { ifTrue, ifOther }) => Math.max(most, ifTrue, ifOther), 0) ?? kept;

/** The same for the whole answer. @param {Mechanism} mechanism */
export const likeliest = (mechanism) => mechanism.whole ?? readable(mechanism);

/** Support that is the same for every option. @param {number} k @param {number} ifTrue @param {number} ifOther */
export const alike = (k, ifTrue, ifOther) => /** @type {Support[]} */ (Array(k)).fill({ ifTrue, ifOther });

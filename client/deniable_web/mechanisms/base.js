//@ts-check
/* What every mechanism is: a frozen value with integer weights, and what follows from them. */

import { AnswerError, ParameterError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";

/**
 * @typedef {object} Support How likely a report supports one option.
 * @property {number} ifTrue when it is the true answer
 * @property {number} ifOther when another one is
 */

/** @typedef {readonly [bigint, bigint]} Ratio of two whole numbers, the larger one first */

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
  /** How many reports stand beside those of numbers: one, where a question may not apply. */
  aside = 0;
  /** Privacy loss of these very integers, in nats: the logarithm of the ratio. */
  epsilon = 0;
  /** Probabilities of what reports can support, where two figures say it all. @type {readonly Support[] | undefined} */
  support;
  /** The largest ratio of the probabilities of a report under any two answers, exactly. @type {Ratio} */
  ratio = [1n, 1n];

  /** Whether reports tell the share of every answer; of some no more than the mean. */
  hasShares = true;

  /** Where each survey sends a draw of its own from the value that a device keeps: what draws it. @type {Drawing | undefined} */
  second;

  /** Whether it answers yes-no questions alone, whose odds have a sentence for each answer. */
  get isYesNo() {
    return /** @type {typeof Mechanism} */ (this.constructor).types === "yes-no";
  }

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

  /** The same ratio of what the odds in words are about: of tick boxes one box, otherwise the answer. */
  get toldRatio() {
    return this.ratio;
  }

  /**
   * What follows from the weights, once: the last step of every constructor.
   * @param {Ratio} ratio @param {readonly Support[]} [support]
   */
  settle(ratio, support) {
    this.ratio = Object.freeze(ratio);
    // Doubles are off by a few units of 2**-53; 16 of them upwards, and no device counts less than the survey declares.
    this.epsilon = logarithm(ratio) * (1 + 2 ** -49);
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
  if (!isGood) throw new ParameterError("mechanism: must be as published");
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

/** The ratio of the larger to the smaller of two whole numbers. @param {number | bigint} one @param {number | bigint} another @returns {Ratio} */
export const ratioOf = (one, another) => (one > another ? [BigInt(one), BigInt(another)] : [BigInt(another), BigInt(one)]);

/** How two ratios compare: above 0 where the first is larger. @param {Ratio} one @param {Ratio} another */
export const compare = ([more, less], [above, below]) => Number(more * below > above * less) - Number(more * below < above * less);

/** The product of ratios. @param {readonly Ratio[]} ratios @returns {Ratio} */
export const product = (ratios) => ratios.reduce(([more, less], [above, below]) => [more * above, less * below], [1n, 1n]);

/** The logarithm of a ratio, precise in doubles even where it is nearly 0, or where no double holds the ratio. @param {Ratio} ratio */
function logarithm([more, less]) {
  const bits = (/** @type {bigint} */ number) => number.toString(2).length;
  const twos = Math.max(0, bits(more) - bits(less) - 1);
  const rest = less << BigInt(twos); // more is 1 to 4 times that
  return twos * Math.LN2 + Math.log1p(Number(((more - rest) << 120n) / rest) / 2 ** 120);
}

/**
 * Ratio and support where some tell the truth and all others say option v with weight forced[v], both out of 2**32: the
 * rarest forced option tells most, 1 + t / ((1 - t) min g).
 * @param {number} truth @param {readonly number[]} forced @returns {[Ratio, Support[]]}
 */
export function forcedLoss(truth, forced) {
  const least = BigInt(UNIT - truth) * BigInt(forced.reduce((least, each) => Math.min(least, each)));
  const support = forced.map((weight) => {
    const ifOther = ((UNIT - truth) / UNIT) * (weight / UNIT);
    return { ifTrue: truth / UNIT + ifOther, ifOther };
  });
  return [[least + BigInt(truth) * BigInt(UNIT), least], support];
}

/** Support that is the same for every option. @param {number} k @param {number} ifTrue @param {number} ifOther */
export const alike = (k, ifTrue, ifOther) => /** @type {Support[]} */ (Array(k)).fill({ ifTrue, ifOther });

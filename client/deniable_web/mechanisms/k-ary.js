//@ts-check
/* k-ary randomised response, also called generalised randomised response (GRR). */

import { ParameterError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";
import { checkAnswer, weight } from "./base.js";

/**
 * Tell the truth with probability keep / 2**32, otherwise one of the other k - 1 options, uniformly.
 *
 * The published parameter is the integer `keep`, not epsilon: two languages agree on integers, not on exp.
 * With other = (2**32 - keep) / (k - 1), epsilon = ln(keep / other).
 *
 * P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016), 1-51.
 * @implements {Mechanism}
 * @typedef {import("./base.js").Mechanism} Mechanism
 */
export class KAry {
  static parameters = ["k", "keep"];
  name = "k-ary";

  /** @param {unknown} k @param {unknown} keep weight out of 2**32 */
  constructor(k, keep) {
    this.k = weight(k, "k");
    if (this.k > 2 ** 16) throw new ParameterError(`k: must be at most 65536 options, got ${this.k}`);
    this.keep = weight(keep, "keep");
    /** Weight of each option that is not the truth. */
    this.other = (UNIT - this.keep) / (this.k - 1);
    if (!Number.isInteger(this.other)) {
      throw new ParameterError(`keep: 2**32 - keep must divide by k - 1 = ${this.k - 1}, got ${this.keep}`);
    }
    if (this.keep <= this.other) {
      throw new ParameterError(`keep: must exceed the weight of each other option, got ${this.keep}`);
    }
    Object.freeze(this);
  }

  get support() {
    return Array(this.k).fill({ ifTrue: this.keep / UNIT, ifOther: this.other / UNIT });
  }

  get epsilon() {
    return Math.log(this.keep / this.other);
  }

  /** @param {number} answer */
  randomize(answer, word = systemWord) {
    checkAnswer(answer, this.k);
    const draw = word();
    if (draw < this.keep) return answer;
    // Integer division: a quotient of integers below 2**32 that is not whole is at least 2**-32 away from the
    // next whole number, and doubles there are finer than 2**-20 * 2**-32, so rounding never crosses it.
    const instead = Math.floor((draw - this.keep) / this.other);
    return instead < answer ? instead : instead + 1; // skip over the truth
  }
}

//@ts-check
/* k-ary randomised response, also called generalised randomised response (GRR). */

import { ParameterError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";
import { alike, checkAnswer, integer, logRatio, weight } from "./base.js";

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
  lo = 0;

  /** @param {unknown} k @param {unknown} keep weight out of 2**32 */
  constructor(k, keep) {
    this.k = integer(k, "k", 2, 2 ** 16);
    this.hi = this.k - 1;
    this.keep = weight(keep, "keep");
    /** Weight of each option that is not the truth. */
    this.other = (UNIT - this.keep) / (this.k - 1);
    if (!Number.isInteger(this.other)) {
      throw new ParameterError("keep: 2**32 - keep must divide by k - 1");
    }
    if (this.keep <= this.other) {
      throw new ParameterError("keep: must exceed the weight of each other option");
    }
    Object.freeze(this);
  }

  get support() {
    return alike(this.k, this.keep / UNIT, this.other / UNIT);
  }

  get epsilon() {
    return logRatio(this.keep, this.other);
  }

  /** @param {number} answer */
  randomize(answer, word = systemWord) {
    checkAnswer(answer, this);
    const draw = word();
    if (draw < this.keep) return answer;
    // Integer division: a quotient of integers below 2**32 that is not whole is at least 2**-32 away from the
    // next whole number, and doubles there are finer than 2**-20 * 2**-32, so rounding never crosses it.
    const instead = Math.floor((draw - this.keep) / this.other);
    return instead < answer ? instead : instead + 1; // skip over the truth
  }
}

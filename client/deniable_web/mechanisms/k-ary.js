//@ts-check
/* k-ary randomised response, also called generalised randomised response (GRR). */

import { UNIT } from "../randomness.js";
import { Mechanism, alike, demand, integer, ratioOf, weight } from "./base.js";

/** @typedef {import("../randomness.js").Word} Word */

/**
 * Tell the truth with probability keep / 2**32, otherwise one of the other k - 1 options, uniformly.
 *
 * The published parameter is the integer `keep`, not epsilon: two languages agree on integers, not on exp.
 * With other = (2**32 - keep) / (k - 1), epsilon = ln(keep / other).
 *
 * P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016), 1-51.
 */
export class KAry extends Mechanism {
  /** @override */ static published = ["k-ary", "k", "keep"];
  /** @override */ static types = "choice scale";

  /** @param {unknown} k @param {unknown} keep weight out of 2**32 @param {unknown[]} again that of a second step */
  constructor(k, keep, ...again) {
    super();
    this.k = integer(k, 2, 2 ** 16);
    this.hi = this.k - 1;
    this.keep = weight(keep);
    /** Weight of each option that is not the truth. */
    this.other = (UNIT - this.keep) / this.hi;
    demand(Number.isInteger(this.other) && this.isTelling());
    [this.second] = again.map((each) => new KAry(k, each)); // undefined where there is none: then no weight to check
    this.settle(ratioOf(this.keep, this.other), alike(this.k, this.keep / UNIT, this.other / UNIT));
  }

  /** Whether reports say anything, and are to be read as they stand. */
  isTelling() {
    return this.keep > this.other;
  }

  /** @param {number} answer @param {Word} word */
  draw(answer, word) {
    const draw = word();
    if (draw < this.keep) return answer;
    // Integer division: a quotient of integers below 2**32 that is not whole is at least 2**-32 away from the
    // next whole number, and doubles there are finer than 2**-20 * 2**-32, so rounding never crosses it.
    const instead = Math.floor((draw - this.keep) / this.other);
    return instead < answer ? instead : instead + 1; // skip over the truth
  }
}

//@ts-check
/* The mean of numbers: round at random to an end of the range, then Warner. Two reports, one word. */

import { UNIT } from "../randomness.js";
import { Mechanism, alike, demand, integer, isWhole, ratioOf } from "./base.js";

/** @typedef {import("../randomness.js").Word} Word */

/**
 * Report 1 with a probability that grows linearly from lo to hi, so that the mean can be estimated.
 *
 * J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", Journal
 * of the American Statistical Association 113 (2018), 182-201.
 */
export class OneBitMean extends Mechanism {
  /** @override */ static published = ["mean", "lo", "hi", "slope"];
  /** @override */ static types = "scale number";
  /** @override */ hasShares = false;

  /** @param {unknown} lo @param {unknown} hi @param {unknown} slope what each step adds to the weight of sending 1 */
  constructor(lo, hi, slope) {
    super();
    this.lo = integer(lo, -1e12, 1e12);
    this.hi = integer(hi, this.lo + 1, this.lo + 1e6);
    this.slope = integer(slope, 1, Math.floor((UNIT - 3) / (this.hi - this.lo)));
    const span = this.slope * (this.hi - this.lo);
    demand(span % 2 === 0);
    /** Weight out of 2**32 of sending 1 when the answer is lo. */
    this.least = (UNIT - span) / 2;
    const most = UNIT - this.least;
    this.settle(ratioOf(most, this.least), alike(2, most / UNIT, this.least / UNIT)); // support of the two ends
  }

  /** @override @param {any} value */
  makes(value) {
    return isWhole(value, 0, 1);
  }

  /** @param {number} answer @param {Word} word */
  draw(answer, word) {
    return word() < this.least + (answer - this.lo) * this.slope ? 1 : 0;
  }
}

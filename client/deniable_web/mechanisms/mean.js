//@ts-check
/* The mean of numbers: round at random to an end of the range, then Warner. Two reports, one word. */

import { ParameterError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";
import { alike, checkAnswer, integer, logRatio } from "./base.js";

/**
 * Report 1 with a probability that grows linearly from lo to hi, so that the mean can be estimated.
 *
 * J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", Journal
 * of the American Statistical Association 113 (2018), 182-201.
 * @implements {Mechanism}
 * @typedef {import("./base.js").Mechanism} Mechanism
 */
export class Mean {
  static parameters = ["lo", "hi", "slope"];
  name = "mean";

  /** @param {unknown} lo @param {unknown} hi @param {unknown} slope what each step adds to the weight of sending 1 */
  constructor(lo, hi, slope) {
    this.lo = integer(lo, "lo", -1e12, 1e12);
    this.hi = integer(hi, "hi", this.lo + 1, this.lo + 1e6);
    this.slope = integer(slope, "slope", 1, Math.floor((UNIT - 3) / (this.hi - this.lo)));
    const span = this.slope * (this.hi - this.lo);
    if (span % 2) throw new ParameterError("slope: times hi - lo must be even");
    /** Weight out of 2**32 of sending 1 when the answer is lo. */
    this.least = (UNIT - span) / 2;
    Object.freeze(this);
  }

  /** Of the two ends: 0 stands for lo, 1 for hi. */
  get support() {
    return alike(2, 1 - this.least / UNIT, this.least / UNIT);
  }

  get epsilon() {
    return logRatio(UNIT - this.least, this.least);
  }

  /** @param {number} answer */
  randomize(answer, word = systemWord) {
    checkAnswer(answer, this);
    return word() < this.least + (answer - this.lo) * this.slope ? 1 : 0;
  }
}

//@ts-check
/* Warner's original design: tell the truth, or the opposite. */

import { UNIT } from "../randomness.js";
import { Mechanism, alike, demand, logRatio, weight } from "./base.js";

/** @typedef {import("../randomness.js").Word} Word */

/**
 * Tell the truth with probability keep / 2**32, otherwise the opposite: epsilon = |ln(p / (1 - p))|.
 *
 * S. L. Warner, Journal of the American Statistical Association 60 (1965), 63-69.
 */
export class Warner extends Mechanism {
  /** @override */ static published = ["warner", "keep"];
  /** @override */ static types = "yes-no";

  /** @param {unknown} keep weight out of 2**32 */
  constructor(keep) {
    super();
    this.keep = weight(keep);
    const other = UNIT - this.keep;
    demand(this.keep !== other); // reports would say nothing
    this.settle(
      logRatio(Math.max(this.keep, other), Math.min(this.keep, other)),
      alike(2, this.keep / UNIT, other / UNIT),
    );
  }

  /** @param {number} answer @param {Word} word */
  draw(answer, word) {
    return word() < this.keep ? answer : 1 - answer;
  }
}

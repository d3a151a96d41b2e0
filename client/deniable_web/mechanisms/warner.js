//@ts-check
/* Warner's original design: tell the truth, or the opposite. */

import { ParameterError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";
import { alike, checkAnswer, logRatio, weight } from "./base.js";

/**
 * Tell the truth with probability keep / 2**32, otherwise the opposite: epsilon = |ln(p / (1 - p))|.
 *
 * S. L. Warner, Journal of the American Statistical Association 60 (1965), 63-69.
 * @implements {Mechanism}
 * @typedef {import("./base.js").Mechanism} Mechanism
 */
export class Warner {
  static parameters = ["keep"];
  name = "warner";
  lo = 0;
  hi = 1;

  /** @param {unknown} keep weight out of 2**32 */
  constructor(keep) {
    this.keep = weight(keep, "keep");
    if (this.keep === UNIT / 2) {
      throw new ParameterError("keep: must not be 1/2");
    }
    Object.freeze(this);
  }

  get support() {
    return alike(2, this.keep / UNIT, (UNIT - this.keep) / UNIT);
  }

  get epsilon() {
    const other = UNIT - this.keep;
    return logRatio(Math.max(this.keep, other), Math.min(this.keep, other));
  }

  /** @param {number} answer */
  randomize(answer, word = systemWord) {
    checkAnswer(answer, this);
    return word() < this.keep ? answer : 1 - answer;
  }
}

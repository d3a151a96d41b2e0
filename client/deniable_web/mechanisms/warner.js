//@ts-check
/* Warner's original design: tell the truth, or the opposite. */

import { ParameterError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";
import { checkAnswer, weight, yesNoSupport } from "./base.js";

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
  k = 2;

  /** @param {unknown} keep weight out of 2**32 */
  constructor(keep) {
    this.keep = weight(keep, "keep");
    if (this.keep === UNIT / 2) {
      throw new ParameterError("keep: must not be 1/2, where every answer gives the same reports");
    }
    Object.freeze(this);
  }

  get support() {
    return yesNoSupport(this.keep / UNIT, (UNIT - this.keep) / UNIT);
  }

  get epsilon() {
    return Math.abs(Math.log(this.keep / (UNIT - this.keep)));
  }

  /** @param {number} answer */
  randomize(answer, word = systemWord) {
    checkAnswer(answer, 2);
    return word() < this.keep ? answer : 1 - answer;
  }
}

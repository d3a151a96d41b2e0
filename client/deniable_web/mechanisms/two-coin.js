//@ts-check
/* Two coins: the first decides whether to tell the truth, the second what to say otherwise. */

import { UNIT, systemWord } from "../randomness.js";
import { checkAnswer, weight, yesNoSupport } from "./base.js";

/**
 * P(1|1) = t + (1 - t) y and P(1|0) = (1 - t) y. For t = y = 1/2: 3/4 and 1/4, epsilon = ln 3.
 *
 * R. F. Boruch, "Assuring confidentiality of responses in social research", The American Sociologist 6 (1971).
 * @implements {Mechanism}
 * @typedef {import("./base.js").Mechanism} Mechanism
 */
export class TwoCoin {
  static parameters = ["truth", "yes"];
  name = "two-coin";
  k = 2;

  /** @param {unknown} truth @param {unknown} yes weights out of 2**32 */
  constructor(truth, yes) {
    this.truth = weight(truth, "truth");
    this.yes = weight(yes, "yes");
    Object.freeze(this);
  }

  get support() {
    const yesIfNo = ((UNIT - this.truth) / UNIT) * (this.yes / UNIT);
    return yesNoSupport(this.truth / UNIT + yesIfNo, yesIfNo);
  }

  get epsilon() {
    // ln(1 + t / ((1 - t) min(y, 1 - y))): no difference of nearly equal numbers, so doubles are exact enough.
    const rarer = Math.min(this.yes, UNIT - this.yes) / UNIT;
    return Math.log1p(this.truth / ((UNIT - this.truth) * rarer));
  }

  /** @param {number} answer */
  randomize(answer, word = systemWord) {
    checkAnswer(answer, 2);
    const first = word();
    const second = word(); // both, always: the number of words must not tell which coin decided
    if (first < this.truth) return answer;
    return second < this.yes ? 1 : 0;
  }
}

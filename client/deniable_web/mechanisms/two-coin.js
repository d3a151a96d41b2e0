//@ts-check
/* Two coins: the first decides whether to tell the truth, the second what to say otherwise. */

import { UNIT, systemWord } from "../randomness.js";
import { checkAnswer, forcedLoss, forcedSupport, weight } from "./base.js";

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
  lo = 0;
  hi = 1;

  /** @param {unknown} truth @param {unknown} yes weights out of 2**32 */
  constructor(truth, yes) {
    this.truth = weight(truth, "truth");
    this.yes = weight(yes, "yes");
    Object.freeze(this);
  }

  get support() {
    return forcedSupport(this.truth, [UNIT - this.yes, this.yes]);
  }

  get epsilon() {
    return forcedLoss(this.truth, [UNIT - this.yes, this.yes]);
  }

  /** @param {number} answer */
  randomize(answer, word = systemWord) {
    checkAnswer(answer, this);
    const first = word();
    const second = word(); // both, always: the number of words must not tell which coin decided
    if (first < this.truth) return answer;
    return second < this.yes ? 1 : 0;
  }
}

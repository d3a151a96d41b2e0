//@ts-check
/* Two coins: the first decides whether to tell the truth, the second what to say otherwise. */

import { UNIT } from "../randomness.js";
import { Mechanism, forcedLoss, weight } from "./base.js";

/** @typedef {import("../randomness.js").Word} Word */

/**
 * P(1|1) = t + (1 - t) y and P(1|0) = (1 - t) y. For t = y = 1/2: 3/4 and 1/4, epsilon = ln 3.
 *
 * R. F. Boruch, "Assuring confidentiality of responses in social research", The American Sociologist 6 (1971).
 */
export class TwoCoin extends Mechanism {
  /** @override */ static published = ["two-coin", "truth", "yes"];
  /** @override */ static types = "yes-no";

  /** @param {unknown} truth @param {unknown} yes weights out of 2**32 */
  constructor(truth, yes) {
    super();
    this.truth = weight(truth);
    this.yes = weight(yes);
    this.settle(...forcedLoss(this.truth, [UNIT - this.yes, this.yes]));
  }

  /** @param {number} answer @param {Word} word */
  draw(answer, word) {
    const first = word();
    const second = word(); // both, always: the number of words must not tell which coin decided
    if (first < this.truth) return answer;
    return second < this.yes ? 1 : 0;
  }
}

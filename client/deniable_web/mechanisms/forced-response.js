//@ts-check
/* Forced response: tell the truth, or say what the second step says. */

import { ParameterError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";
import { checkAnswer, forcedLoss, forcedSupport, integer, integers, length, sum, weight } from "./base.js";

/**
 * With probability truth / 2**32 tell the truth, otherwise say option v with probability forced[v] / 2**32.
 *
 * P(v|v) = t + (1 - t) g[v] and P(v|x) = (1 - t) g[v], so epsilon = ln(1 + t / ((1 - t) min g)).
 *
 * R. F. Boruch, "Assuring confidentiality of responses in social research", The American Sociologist 6 (1971).
 * @implements {Mechanism}
 * @typedef {import("./base.js").Mechanism} Mechanism
 */
export class ForcedResponse {
  static parameters = ["truth", "forced"];
  name = "forced-response";
  lo = 0;

  /** @param {unknown} truth weight out of 2**32 @param {unknown} forced weights that add up to 2**32 */
  constructor(truth, forced) {
    this.truth = weight(truth, "truth");
    const k = integer(length(forced), "forced: options", 2, 2 ** 16);
    this.hi = k - 1;
    this.forced = integers(forced, "forced", k, 2, UNIT - 1);
    if (sum(this.forced) !== UNIT) throw new ParameterError("forced: must add up to 2**32");
    Object.freeze(this);
  }

  get support() {
    return forcedSupport(this.truth, this.forced);
  }

  get epsilon() {
    return forcedLoss(this.truth, this.forced);
  }

  /** @param {number} answer */
  randomize(answer, word = systemWord) {
    checkAnswer(answer, this);
    const first = word();
    let left = word(); // both, always: the number of words must not tell which step decided
    return first < this.truth ? answer : this.forced.findIndex((weight) => (left -= weight) < 0);
  }
}

//@ts-check
/* Forced response: tell the truth, or say what the second step says. */

import { UNIT } from "../randomness.js";
import { Mechanism, demand, drawn, forcedLoss, integer, integers, sum, weight } from "./base.js";

/** @typedef {import("../randomness.js").Word} Word */

/**
 * With probability truth / 2**32 tell the truth, otherwise say option v with probability forced[v] / 2**32.
 *
 * P(v|v) = t + (1 - t) g[v] and P(v|x) = (1 - t) g[v], so epsilon = ln(1 + t / ((1 - t) min g)).
 *
 * R. F. Boruch, "Assuring confidentiality of responses in social research", The American Sociologist 6 (1971).
 */
export class ForcedResponse extends Mechanism {
  /** @override */ static published = ["forced-response", "truth", "forced"];
  /** @override */ static types = "choice";

  /** @param {unknown} truth weight out of 2**32 @param {any} forced weights that add up to 2**32 */
  constructor(truth, forced) {
    super();
    this.truth = weight(truth);
    const k = integer(forced?.length, 2, 2 ** 16);
    this.hi = k - 1;
    this.forced = integers(forced, k, 2, UNIT - 1);
    demand(sum(this.forced) === UNIT);
    this.settle(...forcedLoss(this.truth, this.forced));
  }

  /** @param {number} answer @param {Word} word */
  draw(answer, word) {
    const first = word();
    const second = word(); // both, always: the number of words must not tell which step decided
    return first < this.truth ? answer : drawn(this.forced, second);
  }
}

//@ts-check
/* k-ary randomised response whose options are not equally likely where they are not the truth. One word. */

import { UNIT } from "../randomness.js";
import { Mechanism, demand, drawn, integers, list, ratioOf, sum } from "./base.js";

/**
 * Tell the truth with the probability that the weights of `others` leave of 2**32, otherwise say each option with its own.
 *
 * It is what a k-ary response to patterns of answers does to one question of them.
 *
 * R. F. Boruch, "Assuring confidentiality of responses in social research", The American Sociologist 6 (1971): forced response.
 */
export class UnequalKAry extends Mechanism {
  /** @override */ static published = ["unequal-k-ary", "others"];
  /** @override */ static types = "yes-no choice scale";

  /** @param {any} others weights of each option whatever is the truth */
  constructor(others) {
    super();
    const k = list(others, 2, 2 ** 16).length;
    this.hi = k - 1;
    this.others = integers(others, k, 1, UNIT);
    this.truth = UNIT - sum(this.others);
    demand(this.truth > 0);
    const least = Math.min(...others);
    const supports = this.others.map((each) => ({ ifTrue: (this.truth + each) / UNIT, ifOther: each / UNIT }));
    this.settle(ratioOf(this.truth + least, least), supports);
  }

  /** @param {number} answer @param {import("../randomness.js").Word} word */
  draw(answer, word) {
    const draw = word();
    return draw < this.truth ? answer : drawn(this.others, draw - this.truth);
  }
}

//@ts-check
/* The mean of numbers, near the least noise there can be: rows of weights that are linear between knots. One word. */

import { UNIT } from "../randomness.js";
import { demand, integer, integers, isWhole, list } from "./base.js";
import { RowMechanism } from "./rows.js";

/**
 * Report one of a few numbers, whose probabilities are linear in the answer between knots.
 *
 * J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", Journal
 * of the American Statistical Association 113 (2018), 182-201: two knots and two reports.
 *
 * Whether the mean can be estimated, for which the knots' rows must be independent, is the collector's to check.
 */
export class Piecewise extends RowMechanism {
  /** @override */ static published = ["piecewise", "knots", "weights", "slopes"];
  /** @override */ static types = "scale number";
  /** @override */ hasShares = false;

  /**
   * @param {any} knots 2 to 11 answers in rising order, from the lowest to the highest
   * @param {any} weights out of 2**32, when the answer is the first knot: as many as knots, up to 15
   * @param {any} slopes what each step from one knot towards the next adds to them: one row for each two neighbours
   * @param {any[]} others the weights where the question does not apply, for which the number after the last knot stands
   */
  constructor(knots, weights, slopes, ...others) {
    super();
    const more = (this.aside = others.length);
    const n = list(knots, 2, 11).length;
    this.lo = integer(knots[0], -1e12, 1e12);
    this.hi = integer(knots[n - 1], this.lo + 1, this.lo + 1e6) + more;
    this.knots = integers(knots, n, this.lo, this.hi - more);
    demand(!this.knots.some((knot, j) => knot <= knots[j - 1]));
    this.weights = integers(weights, list(weights, n + more, 15 + more).length, 1, UNIT);
    this.others = others.flatMap((each) => integers(each, weights.length, 1, UNIT));
    this.slopes = Object.freeze(list(slopes, n - 1, n - 1).map((row) => integers(row, weights.length, -UNIT, UNIT)));
    const ends = more ? [...this.knots, this.hi] : this.knots;
    this.settleRows(ends.map((answer) => this.row(answer))); // all others are mixtures of these
  }

  /** @override @param {any} value */
  makes(value) {
    return isWhole(value, 0, this.weights.length - 1);
  }

  /** @override @param {number} answer @returns {readonly number[]} */
  row(answer) {
    const { knots, slopes, others } = this;
    if (answer > knots[knots.length - 1]) return others;
    const steps = slopes.map((_, j) => Math.min(Math.max(answer - knots[j], 0), knots[j + 1] - knots[j]));
    return this.weights.map((weight, r) => slopes.reduce((all, slope, j) => all + slope[r] * steps[j], weight));
  }

  /** @override @param {number} answer @param {import("../randomness.js").Word} word */
  draw(answer, word) {
    return super.draw(answer, word) - this.lo; // reports are numbered from 0
  }
}

//@ts-check
/* Mechanisms that send one of a row of weights: one word, inverse distribution function. */

import { UNIT } from "../randomness.js";
import { Mechanism, compare, demand, drawn, integer, integers, ratioOf, sum } from "./base.js";

/** Answers that a mechanism with published rows can tell apart. */
const LARGEST_RANGE = 1000;

/** How far reports may reach beyond the range. */
const LARGEST_EXCESS = 4000;

/**
 * A mechanism whose report is drawn from the row of integer weights of its answer.
 *
 * Every row adds up to 2**32 and holds no 0, so no report tells that an answer is impossible.
 * @abstract
 */
export class RowMechanism extends Mechanism {
  /**
   * Weights out of 2**32 of the reports, in order, when this is the answer.
   * @abstract @param {number} _answer @returns {readonly number[]}
   */
  row(_answer) {
    return [];
  }

  /**
   * `settle` with what follows from the rows.
   * @param {readonly (readonly number[])[]} rows of all answers, or those of which all others are mixtures
   */
  settleRows(rows = Array.from({ length: this.hi - this.lo + 1 }, (_, n) => this.row(this.lo + n))) {
    demand(rows.every((row) => sum(row) === UNIT && Math.min(...row) > 0));
    const ratios = rows[0].map((_, n) => {
      const weights = rows.map((row) => row[n]);
      return ratioOf(Math.max(...weights), Math.min(...weights));
    });
    this.settle(ratios.reduce((most, each) => (compare(each, most) > 0 ? each : most)));
  }

  /** @param {number} answer @param {import("../randomness.js").Word} word */
  draw(answer, word) {
    return this.lo - this.excess + drawn(this.row(answer), word());
  }
}

/**
 * Add noise with published tails to a number in [lo, hi], and clamp the sum to the reports: `excess` beyond either end.
 *
 * tails[d - 1] is the weight out of 2**32 of noise of at least d upwards, and the same downwards, for d from 1 to
 * hi - lo + excess: from one end of the range to the other end's last report.
 */
export class ClampedNoise extends RowMechanism {
  /** @param {unknown} lo @param {unknown} hi @param {unknown} excess @param {unknown} tails */
  constructor(lo, hi, excess, tails) {
    super();
    this.lo = integer(lo, -1e12, 1e12);
    this.hi = integer(hi, this.lo + 1, this.lo + LARGEST_RANGE);
    this.excess = integer(excess, 0, LARGEST_EXCESS);
    this.tails = integers(tails, this.hi - this.lo + this.excess, 1, UNIT / 2 - 1);
    demand(!this.tails.some((tail, n) => tail >= this.tails[n - 1]));
    this.settleRows();
  }

  /** @override @param {number} answer */
  row(answer) {
    const { tails } = this;
    const first = this.lo - this.excess;
    const last = this.hi + this.excess;
    const row = [];
    let before = UNIT; // weight of all reports from this one on
    for (let noise = first + 1 - answer; noise <= last - answer; noise++) {
      const after = noise > 0 ? tails[noise - 1] : UNIT - tails[-noise];
      row.push(before - after);
      before = after;
    }
    row.push(before);
    return row;
  }
}

//@ts-check
/* The exponential mechanism over a finite set with a score. */

import { UNIT } from "../randomness.js";
import { integer, integers } from "./base.js";
import { RowMechanism } from "./rows.js";

/** A survey publishes all k * k weights. */
const LARGEST_K = 64;

/**
 * Report option r with a probability that grows exponentially with its score for the true option.
 *
 * weights[x][r] out of 2**32: how likely r is reported when x is the truth.
 *
 * F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007, 94-103.
 */
export class Exponential extends RowMechanism {
  /** @override */ static published = ["exponential", "weights"];
  /** @override */ static types = "choice scale";

  /** @param {any} weights a square table; every row adds up to 2**32 */
  constructor(weights) {
    super();
    const k = integer(weights?.length, 2, LARGEST_K);
    this.hi = k - 1;
    this.weights = Object.freeze(Array.from(weights, (row) => integers(row, k, 1, UNIT)));
    this.settleRows();
  }

  /** @override @param {number} answer */
  row(answer) {
    return this.weights[answer];
  }
}

//@ts-check
/* The exponential mechanism over a finite set with a score. */

import { ParameterError } from "../errors.js";
import { UNIT } from "../randomness.js";
import { integer, integers, length, sum } from "./base.js";
import { RowMechanism } from "./rows.js";

/** A survey publishes all k * k weights. */
const LARGEST_K = 64;

/**
 * Report option r with a probability that grows exponentially with its score for the true option.
 *
 * weights[x][r] out of 2**32: how likely r is reported when x is the truth.
 *
 * F. McSherry, K. Talwar, "Mechanism design via differential privacy", FOCS 2007, 94-103.
 * @implements {Mechanism}
 * @typedef {import("./base.js").Mechanism} Mechanism
 */
export class Exponential extends RowMechanism {
  static parameters = ["weights"];
  name = "exponential";

  /** @param {unknown} weights a square table; every row adds up to 2**32 */
  constructor(weights) {
    super();
    const k = integer(length(weights), "weights: rows", 2, LARGEST_K);
    this.hi = k - 1;
    this.weights = Object.freeze(
      Array.from(/** @type {unknown[]} */ (weights), (row) => integers(row, "weights", k, 1, UNIT)),
    );
    if (this.weights.some((row) => sum(row) !== UNIT)) {
      throw new ParameterError("weights: every row must add up to 2**32");
    }
    this.settle();
  }

  /** @override @param {number} answer */
  row(answer) {
    return this.weights[answer];
  }
}

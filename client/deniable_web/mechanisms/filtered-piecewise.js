//@ts-check
/* The mean of numbers that not everybody has, beside which the question may not apply: one more row of weights. One word. */

import { Piecewise } from "./piecewise.js";

/**
 * Report one of a few numbers, whose probabilities are linear in the answer between knots, or mostly the last one where the
 * question does not apply, for which the number after the last knot stands.
 *
 * P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", Journal of Machine Learning
 * Research 17 (2016), 1-51.
 */
export class FilteredPiecewise extends Piecewise {
  /** @override */ static published = ["filtered-piecewise", "knots", "weights", "slopes", "others"];
}

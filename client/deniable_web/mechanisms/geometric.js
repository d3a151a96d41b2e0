//@ts-check
/* Two-sided geometric noise on an ordered scale. */

import { ClampedNoise } from "./rows.js";

/**
 * Add two-sided geometric noise to a number in [lo, hi], and clamp the sum to the ends.
 *
 * P(noise >= d) = alpha**d / (1 + alpha); the published parameters are these tails as integers.
 *
 * A. Ghosh, T. Roughgarden, M. Sundararajan, "Universally utility-maximizing privacy mechanisms", SIAM Journal on
 * Computing 41 (2012), 1673-1693.
 */
export class Geometric extends ClampedNoise {
  /** @override */ static published = ["geometric", "lo", "hi", "tails"];
  /** @override */ static types = "scale number";

  /** @param {unknown} lo @param {unknown} hi @param {unknown} tails weights out of 2**32, strictly falling */
  constructor(lo, hi, tails) {
    super(lo, hi, 0, tails);
  }
}

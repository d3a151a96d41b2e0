//@ts-check
/* Warner's original design: tell the truth, or the opposite. */

import { KAry } from "./k-ary.js";

/**
 * Tell the truth with probability keep / 2**32, otherwise the opposite: epsilon = |ln(p / (1 - p))|. It is k-ary response
 * to two options, which may also lie more often than not.
 *
 * S. L. Warner, Journal of the American Statistical Association 60 (1965), 63-69.
 */
export class Warner extends KAry {
  /** @override */ static published = ["warner", "keep"];
  /** @override */ static types = "yes-no";

  /** @param {unknown} keep weight out of 2**32 */
  constructor(keep) {
    super(2, keep);
  }

  /** @override */
  isTelling() {
    return this.keep !== this.other;
  }
}

//@ts-check
/* Longitudinal k-ary response: an answer drawn once for all waves, and once more for each of them (L-GRR). */

import { KAry } from "./k-ary.js";

/**
 * k-ary response twice: a device keeps what the first made of the answer, a wave sends what the second makes of it.
 *
 * Waves are made of the permanent value alone, so all of them together tell no more than it does: epsilon and support
 * are those of the first step. `again` is to the second what `keep` is to the first.
 *
 * U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response", CCS 2014,
 * 1054-1067.
 */
export class Longitudinal extends KAry {
  /** @override */ static published = ["longitudinal", "k", "keep", "again"];
  /** @override */ static types = "yes-no choice scale";
}

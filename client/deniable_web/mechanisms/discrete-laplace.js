//@ts-check
/* Two-sided geometric noise on a grid of numbers: the discrete Laplace distribution. */

import { ClampedNoise } from "./rows.js";

/**
 * Add two-sided geometric noise to a number in [lo, hi]; reports reach `excess` beyond either end.
 *
 * The safe form of the Laplace mechanism: continuous noise in floating point leaks through the gaps between floats
 * (I. Mironov, CCS 2012). Noise that passes the last report is sent as that report.
 *
 * C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data analysis", TCC 2006.
 */
export class DiscreteLaplace extends ClampedNoise {
  /** @override */ static published = ["discrete-laplace", "lo", "hi", "excess", "tails"];
  /** @override */ static types = "number";
}

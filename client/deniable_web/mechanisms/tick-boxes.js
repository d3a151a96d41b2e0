//@ts-check
/* Tick boxes: any of k options; in `TickBoxes` each box has a Warner coin of its own. */

import { UNIT } from "../randomness.js";
import { Mechanism, alike, integer, isBits, product, ratioOf } from "./base.js";

/** @typedef {import("../randomness.js").Word} Word */

/** A mechanism over k boxes: an answer is a list of the options that are ticked. */
export class BoxMechanism extends Mechanism {
  /** @override */ static types = "ticks";

  /** @param {unknown} k */
  constructor(k) {
    super();
    this.k = integer(k, 2, 256);
    this.hi = this.k - 1;
  }

  /** @override @param {any} value */
  takes(value) {
    return Array.isArray(value) && new Set(value).size === value.length && [...value].every((each) => super.takes(each)); // a hole is no option
  }
}

/**
 * Each box is reported truthfully with probability keep / 2**32, otherwise turned over.
 *
 * A report is a text of k characters in option order, 1 for a box
 * that is reported as ticked. A person may change every box, so the boxes' losses add up.
 *
 * U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR", CCS 2014, 1054-1067: basic RAPPOR.
 */
export class TickBoxes extends BoxMechanism {
  /** @override */ static published = ["tick-boxes", "k", "keep"];

  /** @param {unknown} k @param {unknown} keep weight out of 2**32 */
  constructor(k, keep) {
    super(k);
    this.keep = integer(keep, UNIT / 2 + 1, UNIT - 1);
    const other = UNIT - this.keep;
    this.settle(product(Array(this.k).fill(ratioOf(this.keep, other))), alike(this.k, this.keep / UNIT, other / UNIT));
  }

  /** @override */
  get toldRatio() {
    return ratioOf(this.keep, UNIT - this.keep);
  }

  /** @override @param {any} value */
  makes(value) {
    return isBits(value, this.k);
  }

  /** @param {readonly number[]} answer @param {Word} word */
  draw(answer, word) {
    // One word for each box, ticked or not.
    const bits = Array.from({ length: this.k }, (_, option) => answer.includes(option) === word() < this.keep);
    return bits.map(Number).join("");
  }
}

//@ts-check
/* Tick boxes: any of k options, each box with a Warner coin of its own. */

import { AnswerError } from "../errors.js";
import { UNIT, systemWord } from "../randomness.js";
import { alike, integer, logRatio } from "./base.js";

/**
 * Each box is reported truthfully with probability keep / 2**32, otherwise turned over.
 *
 * An answer is a list of the options that are ticked. A report is a text of k characters in option order, 1 for a box
 * that is reported as ticked. A person may change every box, so the boxes' losses add up.
 *
 * U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR", CCS 2014, 1054-1067: basic RAPPOR.
 * @implements {Mechanism}
 * @typedef {import("./base.js").Mechanism} Mechanism
 */
export class TickBoxes {
  static parameters = ["k", "keep"];
  name = "tick-boxes";
  lo = 0;

  /** @param {unknown} k @param {unknown} keep weight out of 2**32 */
  constructor(k, keep) {
    this.k = integer(k, "k", 2, 256);
    this.hi = this.k - 1;
    this.keep = integer(keep, "keep", UNIT / 2 + 1, UNIT - 1);
    Object.freeze(this);
  }

  get support() {
    return alike(this.k, this.keep / UNIT, (UNIT - this.keep) / UNIT);
  }

  get epsilon() {
    return this.k * logRatio(this.keep, UNIT - this.keep);
  }

  /** @param {readonly number[]} answer */
  randomize(answer, word = systemWord) {
    const options = [...Array(this.k).keys()];
    if (
      !Array.isArray(answer) ||
      new Set(answer).size !== answer.length ||
      ![...answer].every((option) => options.includes(option))
    ) {
      throw new AnswerError(`answer: must be different integers in [0, ${this.k})`);
    }
    // One word for each box, ticked or not.
    return options.map((option) => Number(answer.includes(option) === word() < this.keep)).join("");
  }
}

//@ts-check
/* Drawn boxes: the device draws some of the boxes by chance and spends the whole epsilon on these. */

import { UNIT, below, digits } from "../randomness.js";
import { alike, integer, ratioOf } from "./base.js";
import { KAry } from "./k-ary.js";
import { choose, unrank } from "./subset.js";
import { BoxMechanism } from "./tick-boxes.js";

/** @typedef {import("../randomness.js").Word} Word */

/**
 * Draw s of the k boxes, whatever the answer, and report these alone: k-ary response over their patterns.
 *
 * A report is a text of two characters for each box: 01 if it was drawn and is reported as ticked, 10 if it was drawn and
 * is not, 00 if it was not drawn. Which boxes are drawn tells nothing, so epsilon is that of the patterns.
 *
 * T. T. Nguyen et al., "Collecting and analyzing data from smart device users with local differential privacy",
 * arXiv:1606.05053 (2016): sampling instead of splitting.
 */
export class DrawnBoxes extends BoxMechanism {
  /** @override */ static published = ["drawn-boxes", "k", "s", "keep"];

  /** @param {unknown} k @param {unknown} s @param {unknown} keep weight out of 2**32 of the drawn boxes as they are */
  constructor(k, s, keep) {
    super(k);
    this.s = integer(s, 1, Math.min(this.k, 8));
    this.patterns = new KAry(2 ** this.s, keep);
    const { keep: kept, other } = this.patterns;
    /** Weight out of 2**32 of a drawn box turned over: half of all patterns have the bit wrong. */
    this.flipped = 2 ** (this.s - 1) * other;
    this.settle(ratioOf(kept, other), alike(2, 1 - this.flipped / UNIT, this.flipped / UNIT));
  }

  /** @override */
  get toldRatio() {
    return ratioOf(UNIT - this.flipped, this.flipped);
  }

  /** @override @param {any} value */
  makes(value) {
    return value.length === 2 * this.k && /^(0[01]|10)+$/.test(value) && value.split("1").length === this.s + 1;
  }

  /** @param {readonly number[]} answer @param {Word} word */
  draw(answer, word) {
    const drawn = unrank(this.k, this.s, below(choose(this.k, this.s), word));
    const pattern = drawn.map((isDrawn, box) => (isDrawn ? +answer.includes(box) : "")).join("");
    const sent = [...digits(this.patterns.draw(parseInt(pattern, 2), word), this.s, 2)];
    return drawn.map((isDrawn) => digits(isDrawn ? 2 - Number(sent.shift()) : 0, 2, 2)).join("");
  }
}

//@ts-check
/* Subset selection: report a random set of options that more likely than others holds the truth. */

import { UNIT, below } from "../randomness.js";
import { Mechanism, alike, integer, isBits, ratioOf } from "./base.js";

/** @typedef {import("../randomness.js").Word} Word */

/**
 * Report one of the w-subsets of the k options; each that holds the truth weighs `inside`, each other one 2**32.
 *
 * A report is a text of k characters in option order, 1 for the options in the subset: the only form there is, so
 * nothing about it can depend on the answer but which options are in. epsilon = ln(inside / 2**32).
 *
 * M. Ye, A. Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy", IEEE
 * Transactions on Information Theory 64 (2018), 5662-5676.
 */
export class Subset extends Mechanism {
  /** @override */ static published = ["subset", "k", "w", "inside"];
  /** @override */ static types = "choice scale";

  /** @param {unknown} k @param {unknown} w @param {unknown} inside */
  constructor(k, w, inside) {
    super();
    this.k = integer(k, 2, 256);
    this.hi = this.k - 1;
    this.w = integer(w, 1, this.hi);
    this.inside = integer(inside, UNIT + 1, 1e15 - 1);
    const holding = this.w * this.inside;
    const p = holding / (holding + (this.k - this.w) * UNIT);
    this.settle(ratioOf(this.inside, UNIT), alike(this.k, p, (this.w - p) / this.hi));
  }

  /** @override @param {any} value */
  makes(value) {
    return isBits(value, this.k) && value.split("1").length === this.w + 1;
  }

  /** @param {number} answer @param {Word} word */
  draw(answer, word) {
    const { k, w } = this;
    const inside = BigInt(this.inside);
    const outside = BigInt(UNIT);
    // One uniform integer below the weight of all subsets together decides which of them is sent.
    const holding = choose(k - 1, w - 1) * inside;
    const draw = below(holding + choose(k - 1, w) * outside, word);
    const holds = draw < holding;
    const others = unrank(k - 1, w - +holds, holds ? draw / inside : (draw - holding) / outside);
    others.splice(answer, 0, holds); // the others skipped over the truth
    return others.map(Number).join("");
  }
}

/**
 * Which of n options are in the `rank`-th subset of `size` of them, in lexicographic order.
 * @param {number} n @param {number} size @param {bigint} rank
 */
export function unrank(n, size, rank) {
  return Array.from({ length: n }, (_, option) => {
    const withIt = choose(n - option - 1, size - 1);
    const isIn = rank < withIt;
    if (isIn) size--;
    else rank -= withIt;
    return isIn;
  });
}

/** Number of subsets of `size` out of n. @param {number} n @param {number} size */
export function choose(n, size) {
  let product = BigInt(size >= 0); // none of negative size; of one larger than n the loop meets a factor 0
  for (let i = 1; i <= size; i++) product = (product * BigInt(n - i + 1)) / BigInt(i);
  return product;
}

//@ts-check
/* What a question in somebody's form asks of a memory, beside what surveys do. */

import { Memory, charge, today, valid, valueOf } from "./memory.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./memory.js").Unit} Unit */

export class FormMemory extends Memory {
  /**
   * The noisy value of one question, which is also that of its survey.
   * @param {Unit} question @param {string} collector
   * @param {() => number | string} [draw] the value to keep; without it, undefined unless the collector was told the one to send
   * @returns {Promise<number | string | undefined>}
   */
  async value(question, collector, draw, day = today()) {
    const { key, sent } = question;
    const known = (/** @type {State} */ { noisy, told }) =>
      // A wave of which nothing was drawn yet is asked, as a survey is.
      told[new URL(collector).origin]?.[key] && (sent === key || sent in noisy || undefined) && valid(question, noisy[sent]);
    if (!draw) return this.store.run(known, true);
    const value = await this.store.run(({ noisy, told }) => {
      charge(told, collector, [question], day);
      return valueOf(noisy, question, draw);
    });
    this.store.stay?.();
    return value;
  }
}

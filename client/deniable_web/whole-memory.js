//@ts-check
/* What forms and the page of one's own device ask of a memory, beside what surveys do. */

import { Memory, charge, sum, today, valid, valueOf } from "./memory.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./memory.js").Unit} Unit */
/** @typedef {{ survey: string, report: string, hasArrived: boolean }} Reply what is kept of a survey, by its address */

export class WholeMemory extends Memory {
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

  /**
   * What is kept for a collector, for whoever wants to see it: the replies to its surveys, and the epsilon that it was told
   * within 90 days. Those of other people at a shared device are not among them.
   * `isEmpty` says that nothing at all is kept, for no collector, and no mark of what was.
   * @param {string} collector @returns {Promise<{ replies: Reply[], total: number, isEmpty: boolean }>}
   */
  async told(collector, day = today()) {
    const isMarked = await this.store.isWiped?.();
    return this.store.run(
      ({ reports, told, ...more }) => ({
        replies: Object.entries(reports)
          .filter(([name, { to }]) => !name.includes(":") && collector in to)
          .map(([survey, { report, to }]) => ({ survey, report, hasArrived: to[collector] })),
        total: sum([told[new URL(collector).origin] ?? {}], day),
        isEmpty: !isMarked && ![reports, told, ...Object.values(more)].some((each) => Object.keys(each).length),
      }),
      true,
    );
  }

  /** Forget everything. A survey that is answered afterwards is drawn anew. */
  forgetAll() {
    return this.store.clear?.();
  }
}

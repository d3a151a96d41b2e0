//@ts-check
/* What the page of one's own device asks of a memory, beside what surveys do. */

import { Memory, sum, today } from "./memory.js";

/** @typedef {{ survey: string, report: string, hasArrived: boolean }} Reply what is kept of a survey, by its address */

export class ToldMemory extends Memory {
  /**
   * What is kept for a collector, for whoever wants to see it: the replies to its surveys, and the epsilon that it was told
   * within 90 days. Those of other people at a shared device are not among them.
   * `isEmpty` says that nothing at all is kept, for no collector, and no mark of what was.
   * @param {string} collector @returns {Promise<{ replies: Reply[], total: number, isEmpty: boolean }>}
   */
  async told(collector, day = today()) {
    const isWiped = await this.isWiped();
    return this.store.run(
      ({ reports, told, ...more }) => ({
        replies: Object.entries(reports)
          .filter(([name, { to }]) => !name.includes(":") && collector in to)
          .map(([survey, { report, to }]) => ({ survey, report, hasArrived: to[collector] })),
        total: sum([told[new URL(collector).origin] ?? {}], day),
        isEmpty: !isWiped && ![reports, told, ...Object.values(more)].some((each) => Object.keys(each).length),
      }),
      true,
    );
  }

  /** Forget everything. A survey that is answered afterwards is drawn anew. */
  forgetAll() {
    return this.store.clear?.();
  }
}

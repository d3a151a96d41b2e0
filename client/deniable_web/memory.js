//@ts-check
/*
 * One draw for each survey: the report is kept, never the answer, and whoever asks again gets the same bytes.
 *
 * Eleven fresh draws at epsilon 1 would give a yes-no answer away 19 times out of 20. The report is kept before it
 * is first sent, so a crash in between cannot cause a second draw. It is kept by survey alone: a second collector
 * of the same survey gets the same report, which tells two collectors together no more than one.
 */

/**
 * @typedef {object} Kept
 * @property {string} report the very text that is sent
 * @property {readonly string[]} sent collectors that have it; it is pending for every other
 */

const key = (/** @type {string} */ survey) => `deniable:${survey}`;

/** What could not be stored lives as long as the page does. @type {Map<string, string>} */
const page = new Map();

export class Memory {
  #storage;
  #page;

  /**
   * @param {() => Storage} storage a function, because merely naming localStorage throws where it is blocked
   * @param {Map<string, string>} fallback
   */
  constructor(storage = () => localStorage, fallback = page) {
    this.#storage = storage;
    this.#page = fallback;
  }

  /** The draw of a survey, if there was one. @param {string} survey @returns {Kept | null} */
  recall(survey) {
    let text = this.#page.get(key(survey)) ?? null;
    try {
      text ??= this.#storage().getItem(key(survey));
      const { report, sent } = JSON.parse(text ?? "null");
      return typeof report === "string" && Array.isArray(sent) ? { report, sent } : null;
    } catch {
      return null; // blocked, empty, or not ours
    }
  }

  /**
   * Keep the first draw of a survey; a later one is dropped in its favour.
   * @param {string} survey @param {() => string} draw @returns {string} the text to send
   */
  once(survey, draw) {
    const known = this.recall(survey); // another tab may have been faster
    if (known) return known.report;
    const report = draw();
    this.#write(survey, { report, sent: [] });
    return report;
  }

  /** @param {string} survey @param {string} collector */
  markSent(survey, collector) {
    const kept = this.recall(survey);
    if (kept && !kept.sent.includes(collector)) this.#write(survey, { ...kept, sent: [...kept.sent, collector] });
  }

  /** Whether what is kept outlives the page. */
  get lasts() {
    try {
      const probe = key("probe");
      this.#storage().setItem(probe, "");
      this.#storage().removeItem(probe);
      return true;
    } catch {
      return false;
    }
  }

  /** @param {string} survey @param {Kept} kept */
  #write(survey, kept) {
    const text = JSON.stringify(kept);
    try {
      this.#storage().setItem(key(survey), text);
      this.#page.delete(key(survey));
    } catch {
      this.#page.set(key(survey), text);
    }
  }
}

//@ts-check
/*
 * What a device remembers: one draw for each survey, and how much each collector asked of it. Never an answer.
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

const PREFIX = "deniable:";
const LEDGER = "deniable-ledger";
const LEDGER_MS = 90 * 864e5; // 90 days

/** What could not be stored lives as long as the page does. @type {Map<string, string>} */
const page = new Map();

/** The day, in UTC, as in "2026-11-20": no finer time is kept anywhere. */
export const today = () => new Date().toISOString().slice(0, 10);

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
    const { report, sent } = this.#read(PREFIX + survey);
    return typeof report === "string" && Array.isArray(sent) ? { report, sent } : null;
  }

  /**
   * Keep the first draw of a survey; a later one is dropped in its favour.
   * @param {string} survey @param {() => string} draw @returns {string} the text to send
   */
  once(survey, draw) {
    const known = this.recall(survey); // another tab may have been faster
    if (known) return known.report;
    const report = draw();
    this.#write(PREFIX + survey, { report, sent: [] });
    return report;
  }

  /** @param {string} survey @param {string} collector */
  markSent(survey, collector) {
    const kept = this.recall(survey);
    if (kept && !kept.sent.includes(collector)) {
      this.#write(PREFIX + survey, { ...kept, sent: [...kept.sent, collector] });
    }
  }

  /** Forget the draw of a survey, which is right only where another person comes next. @param {string} survey */
  forget(survey) {
    this.#page.delete(PREFIX + survey);
    this.#attempt(() => this.#storage().removeItem(PREFIX + survey));
  }

  /** What is kept below a survey: on a shared device the reports of several people. @param {string} survey */
  below(survey) {
    const keys = [...this.#page.keys(), ...(this.#attempt(() => Object.keys(this.#storage())) ?? [])];
    return keys.filter((key) => key.startsWith(`${PREFIX}${survey}:`)).map((key) => key.slice(PREFIX.length));
  }

  /** Epsilon that a collector's other surveys took within 90 days. @param {string} collector @param {string} survey */
  spent(collector, survey, day = today()) {
    const entries = Object.entries(this.#ledger(day)[collector] ?? {});
    return entries.reduce((sum, [id, [, epsilon]]) => (id === survey ? sum : sum + epsilon), 0);
  }

  /**
   * Write down what a survey takes, once however often it is sent.
   * @param {string} collector @param {import("./survey.js").Survey} survey
   */
  charge(collector, { id, epsilon }, day = today()) {
    const ledger = this.#ledger(day);
    this.#write(LEDGER, { ...ledger, [collector]: { ...ledger[collector], [id]: [day, epsilon] } });
  }

  /** Whether what is kept outlives the page. */
  get lasts() {
    const probe = `${PREFIX}probe`;
    return !!this.#attempt(() => {
      this.#storage().setItem(probe, "");
      this.#storage().removeItem(probe);
      return true;
    });
  }

  /**
   * What was taken within 90 days, by collector and survey.
   * @param {string} day @returns {Record<string, Record<string, [string, number]>>}
   */
  #ledger(day) {
    const isRecent = (/** @type {any} */ [, [since]]) => Date.parse(day) - Date.parse(since) < LEDGER_MS;
    const collectors = Object.entries(this.#read(LEDGER)).map(([collector, surveys]) => {
      return [collector, Object.fromEntries(Object.entries(surveys).filter(isRecent))];
    });
    return Object.fromEntries(collectors);
  }

  /** @param {string} key @returns {Record<string, any>} empty where nothing of ours is kept */
  #read(key) {
    return this.#attempt(() => Object(JSON.parse(this.#page.get(key) ?? this.#storage().getItem(key) ?? "{}"))) ?? {};
  }

  /** @param {string} key @param {object} value */
  #write(key, value) {
    // First where it cannot fail; then, if it can be, where it lasts.
    this.#page.set(key, JSON.stringify(value));
    this.#attempt(() => {
      this.#storage().setItem(key, JSON.stringify(value));
      this.#page.delete(key);
    });
  }

  /**
   * What an act on the storage gives, undefined where storage is blocked or full, or not ours.
   * @template T @param {() => T} act
   */
  #attempt(act) {
    try {
      return act();
    } catch {
      return undefined;
    }
  }
}

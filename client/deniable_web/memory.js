//@ts-check
/*
 * What a device remembers, so that it draws once and keeps its budget. Never an answer. The rules are in
 * docs/device.md; client/deniable_client/memory.py follows the same, and both are held to the same vectors.
 *
 * Eleven fresh draws at epsilon 1 would give a yes-no answer away 19 times out of 20. So a survey is drawn once, and so
 * is a question that is asked again under another title. Check, draw, charge and keep are one step, and only what is
 * kept is sent.
 */

import { CEILING, hold } from "./ceiling.js";
import { encodeReport } from "./device.js";
import { UnusableMemory } from "./errors.js";
import { browserStore } from "./store.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./survey.js").Survey} Survey */
/** @typedef {import("./survey.js").Question} Question */

/**
 * @typedef {object} Seen What a device knows before somebody answers.
 * @property {string | null} kept the report of the survey
 * @property {boolean} isSent whether the collector has it
 * @property {boolean} isDue whether somebody pressed Send for this collector
 * @property {boolean} isSame whether a question of it was asked before
 * @property {boolean} hasTold whether anybody was told anything within 90 days
 * @property {number[]} totals of the collector and of the device: epsilon within 90 days, this survey included
 * @property {string[]} waiting on a shared device, under what the reports of other people are kept
 */

const DAY_MS = 864e5;
const LEDGER_DAYS = 90;

/** The day, in UTC, as in "2026-11-20": no finer time is kept anywhere. */
export const today = () => new Date().toISOString().slice(0, 10);

export class Memory {
  #store;

  constructor(store = browserStore) {
    this.#store = store;
  }

  /** Whether what is kept outlives the page; known once something was asked. */
  get lasts() {
    return this.#store.lasts;
  }

  /**
   * What is known of a survey. Throws a BudgetError if this collector, or all of them, would be told too much.
   * @param {Survey} survey @param {string} collector @param {boolean} [isShared] and so nobody's budget
   * @returns {Promise<Seen>}
   */
  look(survey, collector, isShared = false, day = today()) {
    return this.#store.run((found) => {
      const { reports, noisy, told } = sound(found);
      const kept = reports[survey.id];
      const hasTold = !isShared && sum(Object.values(told), day) > 0;
      const totals = isShared ? [0, 0] : charge(told, collector, survey.questions, day);
      return [
        {
          kept: kept ? fitting(kept.report, survey) : null,
          isSent: !!kept?.to[collector],
          isDue: !!kept && collector in kept.to,
          isSame: survey.questions.some(({ key }) => key in noisy),
          hasTold,
          totals,
          waiting: Object.keys(reports).filter((key) => key.startsWith(`${survey.id}:`)),
        },
      ];
    });
  }

  /**
   * The report of a survey: what is kept, or what `draw` makes, kept before this is done and charged to its collector.
   * @param {Survey} survey @param {string} collector @param {() => import("./device.js").Report} draw
   * @param {string} [person] on a shared device, where nobody's values are another one's
   * @returns {Promise<string>} the text to send
   */
  once(survey, collector, draw, person, day = today()) {
    const name = person ? `${survey.id}:${person}` : survey.id;
    return this.#store.run((found) => {
      const state = sound(found);
      const { reports, noisy, told } = state;
      if (!person) charge(told, collector, survey.questions, day);
      if (!reports[name]) {
        const { id, cohort, answers } = draw();
        const values = survey.questions.map(({ id, key }) => [id, person ? answers[id] : (noisy[key] ??= answers[id])]);
        reports[name] = { report: encodeReport({ id, cohort, answers: Object.fromEntries(values) }), to: {} };
      }
      reports[name].to[collector] ??= false;
      return [fitting(reports[name].report, survey), state];
    });
  }

  /**
   * The noisy value of one question, which is also that of its survey.
   * @param {Question} question @param {string} collector @param {() => number | string} draw
   * @returns {Promise<number | string>}
   */
  value(question, collector, draw, day = today()) {
    return this.#store.run((found) => {
      const state = sound(found);
      charge(state.told, collector, [question], day);
      return [(state.noisy[question.key] ??= draw()), state];
    });
  }

  /** The value of a question that a collector was told, or undefined. @param {Question} question @param {string} collector */
  known({ key }, collector) {
    return this.#store.run((found) => {
      const { noisy, told } = sound(found);
      return [told[new URL(collector).origin]?.[key] && noisy[key]];
    });
  }

  /** The text that waits under a name. @param {string} name @returns {Promise<string | undefined>} */
  recall(name) {
    return this.#store.run((found) => [sound(found).reports[name]?.report]);
  }

  /** @param {string} name @param {string} collector */
  markSent(name, collector) {
    return this.#store.run((found) => {
      const state = sound(found);
      if (state.reports[name]) state.reports[name].to[collector] = true;
      return [undefined, state];
    });
  }

  /** Forget a report, which is right only where another person comes next. @param {string} name */
  forget(name) {
    return this.#store.run((found) => {
      const state = sound(found);
      delete state.reports[name];
      return [undefined, state];
    });
  }
}

/**
 * Enter what a collector is about to be told, each question once however often it is sent.
 * @param {State["told"]} told changed, also where this throws @param {string} collector
 * @param {readonly Question[]} questions @param {string} day
 * @returns {number[]} the totals of the collector and of the device
 */
function charge(told, collector, questions, day) {
  const mine = (told[new URL(collector).origin] ??= {});
  const fresh = questions.filter(({ key }) => !mine[key]);
  // A clock that goes back makes no entry older than the last one.
  const latest = Object.values(told).flatMap(Object.values).reduce((last, [since]) => (since > last ? since : last), day);
  for (const { key, mechanism } of fresh) mine[key] = [latest, Math.ceil(mechanism.epsilon * 1e6)];
  const own = sum([mine], day);
  const all = sum(Object.values(told), day);
  if (fresh.length) {
    hold(`collector: within ${LEDGER_DAYS} days`, own, CEILING.survey);
    hold(`device: within ${LEDGER_DAYS} days`, all, CEILING.device);
  }
  return [own, all];
}

/**
 * Epsilon within 90 days; what several were told counts once. In whole millionths, so that no order of adding matters.
 * @param {Record<string, [string, number]>[]} ledgers @param {string} day
 */
function sum(ledgers, day) {
  const start = new Date(Date.parse(day) - LEDGER_DAYS * DAY_MS).toISOString().slice(0, 10);
  const recent = ledgers.flatMap(Object.entries).filter(([, [since]]) => since > start);
  return Object.values(Object.fromEntries(recent)).reduce((all, [, cost]) => all + cost, 0) / 1e6;
}

/**
 * What is kept, or nothing yet. What is damaged is an error and never taken for nothing.
 * @param {any} found @returns {State}
 */
function sound(found) {
  if (found === undefined) return { reports: {}, noisy: {}, told: {} };
  const every = (/** @type {any} */ values, /** @type {(value: any) => unknown} */ test) =>
    Object(values) === values && Object.values(values).every(test);
  const isSound =
    every(found?.reports, (each) => typeof each?.report === "string" && every(each.to, (isSent) => typeof isSent === "boolean")) &&
    every(found.noisy, (each) => Number.isInteger(each) || typeof each === "string") &&
    every(found.told, (each) => every(each, (entry) => /^\d{4}-\d\d-\d\d$/.test(entry?.[0]) && Number.isInteger(entry[1]) && entry[1] >= 0));
  if (!isSound) throw new UnusableMemory();
  return found;
}

/** A kept report, if it is one of the survey. @param {string} text @param {Survey} survey */
function fitting(text, survey) {
  try {
    const { id, cohort, answers } = JSON.parse(text);
    const values = survey.questions.map(({ id }) => [id, answers[id] ?? ""]); // else JSON leaves it out
    if (/^[\da-f]{32}$/.test(id) && encodeReport({ id, cohort, answers: Object.fromEntries(values) }) === text) return text;
  } catch {
    // damaged
  }
  throw new UnusableMemory();
}

//@ts-check
/*
 * What a device remembers, so that it draws once and keeps its budget. Never an answer. The rules are in
 * docs/device.md; client/deniable_client/memory.py follows the same, and both are held to the same vectors.
 *
 * Eleven fresh draws at epsilon 1 would give a yes-no answer away 19 times out of 20. So a survey is drawn once, and so
 * is a question that is asked again under another title. Check, draw, charge and keep are one step, and only what is
 * kept is sent.
 */

import { drawQuestions, together, valuesOf } from "./group.js";
import { browserStore, fleetingStore } from "./store.js";
import { CEILING, hold } from "./ceiling.js";
import { isBits, isWhole } from "./mechanisms/base.js";
import { DeniableError, UnusableMemory } from "./errors.js";
import { encodeReport, isCohort, isCredential } from "./device.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./survey.js").Survey} Survey */
/** @typedef {import("./tokens.js").Token} Token */
/** @typedef {Pick<import("./group.js").Kept, "key" | "sent" | "mechanism">} Unit a question is one, too, if it stands alone */
/** @typedef {number | string} Value a noisy one; of a group the JSON of its questions' */

/**
 * @typedef {object} Seen What a device knows before somebody answers.
 * @property {string | undefined} kept the report of the survey
 * @property {boolean | undefined} isSent whether the collector has it; undefined if nobody pressed Send for this one
 * @property {boolean} hasArrived whether any collector has it, and it never changes
 * @property {boolean} isSame whether a question of it was asked before
 * @property {boolean} hasTold whether anybody was told anything within 90 days
 * @property {number[]} totals of the collector and of the device: epsilon within 90 days, this survey included
 * @property {boolean} isNew whether there is no database yet, or none any more
 * @property {string[]} waiting on a shared device, under what the reports of other people to this collector are kept
 */

const LEDGER_MS = 90 * 864e5; // 90 days

/** The day, in UTC, as in "2026-11-20": no finer time is kept anywhere. */
export const today = () => new Date().toISOString().slice(0, 10);

export class Memory {
  constructor(store = browserStore) {
    this.store = store;
  }

  /** A memory that knows what this one knows, and ends with the page. */
  fleeting = () => new Memory(fleetingStore(this.store));

  /** Whether what is kept outlives the page; known once something was asked. */
  get lasts() {
    return this.store.lasts;
  }

  /**
   * A copy of what is kept, and whether there is no database yet. It is the same for every survey, so it can be read while a survey is
   * still being loaded.
   * @returns {Promise<{ state: State, isNew: boolean }>}
   */
  glance() {
    return this.store.run((state, isNew = false) => ({ state: structuredClone(state), isNew }), true);
  }

  /** Whether this browser lost what it remembered, as far as that shows. */
  async isWiped() {
    const { isNew } = await this.glance();
    return isNew && this.lasts && !!(await this.store.isMarked?.());
  }

  /**
   * What is known of a survey. Throws a BudgetError if this collector, or all of them, would be told too much.
   * @param {Survey} survey @param {string} collector @param {boolean} [isShared] and so nobody's budget
   * @param {ReturnType<Memory["glance"]>} [glance] what was read already
   * @returns {Promise<Seen>}
   */
  async look(survey, collector, isShared = false, day = today(), glance = this.glance()) {
    const { state, isNew } = await glance;
    let isAhead = false;
    /** @type {readonly Pick<Unit, "key" | "mechanism">[] | undefined} */
    let keyed;
    const see = (/** @type {State} */ { reports, noisy, told }) => {
      if (!keyed && Object.keys({ ...noisy, ...told })[0]) return;
      // A memory without entries knows no key: there what is hashed stands for it.
      const units = keyed ?? survey.units.map(({ asked, mechanism }) => ({ key: JSON.stringify(asked), mechanism }));
      isAhead = dateTheFuture(told, day);
      const kept = reports[survey.id];
      const hasTold = !isShared && sum(Object.values(told), day) > 0;
      const totals = isShared ? [0, 0] : charge(told, collector, units, day);
      return {
        kept: survey.id in reports ? fitting(kept.report, survey) : undefined,
        isSent: kept?.to[collector],
        hasArrived: hasArrived(kept),
        isSame: units.some(({ key }) => key in noisy),
        hasTold,
        isNew,
        totals,
        waiting: Object.keys(reports).filter((key) => key.startsWith(`${survey.id}:`) && collector in reports[key].to),
      };
    };
    const look = () => {
      try {
        return see(structuredClone(state)); // it enters there what would be told
      } catch (error) {
        throw error instanceof DeniableError ? error : new UnusableMemory();
      }
    };
    try {
      return look() ?? ((keyed = await survey.keyed()), /** @type {Seen} */ (look()));
    } finally {
      if (isAhead) await this.store.run(({ told }) => dateTheFuture(told, day)); // also where there is no room now
    }
  }

  /**
   * The report of a survey: what is kept, or what `draw` makes, kept before this is done and charged to its collector.
   * @param {Survey} survey @param {string} collector @param {(isKept: boolean) => import("./device.js").Report} draw
   *   a report with the values to keep, or to send
   * @param {string} [person] on a shared device, where nobody's values are another one's
   * @param {string | null} [invitation] which a report takes that has not arrived there
   * @returns {Promise<string>} the text to send
   */
  async once(survey, collector, draw, person, invitation = null, day = today()) {
    const name = person ? `${survey.id}:${person}` : survey.id;
    const units = await survey.keyed();
    const text = await this.store.run(({ reports, noisy, told, tokens }) => {
      if (!person) charge(told, collector, units, day);
      if (!(name in reports)) {
        const report = draw(!person);
        const own = (/** @type {Unit} */ each, /** @type {Value} */ value) => (person ? value : valueOf(noisy, each, () => value));
        reports[name] = { report: encoded(report, { ...survey, units }, own), to: {} };
        // The token is in the report now; on a shared device nothing else says for whose invitation it was.
        for (const each in tokens) if (tokens[each].message.startsWith(report.id, 4)) delete tokens[each];
      }
      const kept = reports[name];
      kept.report = fitting(kept.report, survey);
      kept.to[collector] ??= false;
      if (!hasArrived(kept)) kept.report = carrying(kept.report, invitation);
      return kept.report;
    });
    if (!person) this.store.stay?.();
    return text;
  }

  /**
   * The questions that are asked: what was drawn of each group before, or is drawn now and kept before any is shown.
   * @param {Survey} survey @param {(survey: Survey) => Set<string>} [draw] what to ask where nothing was drawn yet
   * @returns {Promise<Set<string>>} their ids
   */
  async asked(survey, draw = drawQuestions) {
    const drawn = draw(survey);
    // Where all are asked there is nothing to keep, and who leaves then leaves nothing behind.
    if (drawn.size === survey.questions.length) return drawn;
    const units = await survey.keyed();
    return this.store.run(({ noisy }) => askedOf(noisy, units, drawn));
  }

  /**
   * A token, kept before anybody is asked to sign it, and until it is spent: no crash, reload or second tab buys two.
   * @param {string} name of the survey and the invitation
   * @param {(kept: Token | undefined) => Token | undefined} change what to keep instead
   * @param {boolean} [isShared] and so without reports that are sent again
   * @returns {Promise<Token | undefined>} nothing where the survey has a report, which is sent again
   */
  token(name, change, isShared) {
    return this.store.run((state) => {
      const tokens = (state.tokens ??= {});
      const token = !isShared && name.split(":")[0] in state.reports ? undefined : change(tokens[name]);
      if (token) tokens[name] = token;
      return token;
    });
  }

  /** The report of a survey that waits under a name. @param {string} name @param {Survey} survey @returns {Promise<string>} */
  recall(name, survey) {
    return this.store.run(({ reports }) => fitting(reports[name].report, survey), true);
  }

  /** @param {string} name @param {string} collector */
  markSent(name, collector) {
    return this.store.run(({ reports: { [name]: kept } }) => {
      if (kept?.to[collector] === false) kept.to[collector] = true;
    });
  }

  /** Forget a report, which is right only where another person comes next. @param {string} name */
  forget(name) {
    return this.store.run(({ reports }) => delete reports[name]);
  }
}

/**
 * Enter what a collector is about to be told, each question or group once however often it is sent.
 * @param {State["told"]} told changed, also where this throws @param {string} collector
 * @param {readonly Pick<Unit, "key" | "mechanism">[]} units @param {string} day
 * @returns {number[]} the totals of the collector and of the device
 */
export function charge(told, collector, units, day) {
  dateTheFuture(told, day);
  const mine = (told[new URL(collector).origin] ??= {});
  const fresh = units.filter(({ key }) => !(key in mine));
  // A clock that goes back makes no entry older than the last one: it has the later days of the others, too.
  const later = entriesOf(told).flatMap(([days]) => daysIn(days)).filter((each) => each > day);
  const days = [...new Set([day, ...later.sort()])].join(" ");
  for (const { key, mechanism } of fresh) mine[key] = [days, mechanism.cost];
  const own = sum([mine], day);
  const all = sum(Object.values(told), day);
  if (fresh.length) {
    hold("collector", own, CEILING.survey);
    hold("device", all, CEILING.device);
  }
  return [own, all];
}

/** @param {State["told"]} told @returns {[string, number][]} */
const entriesOf = (told) => Object.values(told).flatMap(Object.values);

/** The days of an entry; none where they cannot be read. @param {unknown} days */
const daysIn = (days) => (/^\d{4}-\d\d-\d\d( \d{4}-\d\d-\d\d)*$/.test(String(days)) ? String(days).split(" ") : []);

/**
 * Let entries whose days are all later than today age from today on, too: the clock was ahead when they were made, or is
 * behind now. Their days stay, and count again as soon as the clock has reached them.
 * @param {State["told"]} told changed @param {string} day @returns {boolean} whether there were some
 */
function dateTheFuture(told, day) {
  const ahead = entriesOf(told).filter(([days]) => daysIn(days)[0] > day);
  for (const entry of ahead) entry[0] = `${day} ${entry[0]}`;
  return ahead.length > 0;
}

/** Whether a collector has a report that is kept. @param {State["reports"][string] | undefined} kept */
const hasArrived = (kept) => Object.values(kept?.to ?? {}).includes(true);

/**
 * Epsilon within 90 days; what several were told counts once. In whole millionths, so that no order of adding matters.
 * @param {Record<string, [string, number]>[]} ledgers @param {string} day
 */
export function sum(ledgers, day) {
  // An entry ages from the latest of its days that is not in the future. One without counts, as one does that is damaged.
  const isRecent = (/** @type {any} */ [, [days]]) => {
    const since = daysIn(days).filter((each) => each <= day).pop();
    return !since || !(Date.parse(day) - Date.parse(since) >= LEDGER_MS);
  };
  const recent = ledgers.flatMap(Object.entries).filter(isRecent);
  return Object.values(Object.fromEntries(recent)).reduce((all, [, cost]) => all + (isWhole(cost, 0, 1e15) ? cost : NaN), 0) / 1e6;
}

/**
 * What a survey sends of a question: the value that is kept, or what was drawn from it for this survey.
 * @param {State["noisy"]} noisy @param {Unit} unit @param {() => number | string} draw
 */
export const valueOf = (noisy, unit, draw) =>
  valid(unit, known(noisy, unit.sent, () => unit.mechanism.instantaneous(valid(unit, known(noisy, unit.key, draw)))));

/** What is kept under a name, or what `make` makes, kept from now on. @param {State["noisy"]} noisy @param {string} name @param {() => Value} make */
const known = (noisy, name, make) => (name in noisy ? noisy[name] : (noisy[name] = make()));

/**
 * What was drawn of each group, kept from now on; what is known of the values of a group says it too.
 * @param {State["noisy"]} noisy @param {readonly import("./group.js").Kept[]} units @param {Set<string>} drawn
 */
function askedOf(noisy, units, drawn) {
  for (const unit of units) {
    const { key, members, draw } = unit;
    if (draw < members.length) {
      const marks =
        key in noisy
          ? JSON.parse(valid(unit, noisy[key])).map((/** @type {unknown} */ value) => +(value !== null)).join("")
          : known(noisy, `${key}draw`, () => members.map(({ id }) => +drawn.has(id)).join(""));
      if (!isBits(marks, members.length) || marks.split("1").length !== draw + 1) throw new UnusableMemory();
      members.forEach(({ id }, n) => drawn[marks[n] > 0 ? "add" : "delete"](id));
    }
  }
  return drawn;
}

/** A value that the mechanism of a question makes; another one is damaged. @param {Pick<Unit, "mechanism">} unit @param {any} value */
export function valid({ mechanism }, value) {
  if (!mechanism.makes(value)) throw new UnusableMemory();
  return value;
}

/** A kept report, if it is one of the survey. @param {any} text @param {Survey} survey @returns {string} */
function fitting(text, survey) {
  const report = JSON.parse(text);
  if (encoded(report, survey, valid) !== text || !/^[0-9a-f]{32}$/.test(report.id) || !isCohort(survey, report.cohort) || !isCredential(survey, report)) throw new UnusableMemory();
  return text;
}

/**
 * A report that carries another invitation: its id and values, which count once, stay.
 * @param {string} text @param {string | null} invitation
 */
export const carrying = (text, invitation) => (invitation ? text.replace(/"\w{32}"}$/, `"${invitation}"}`) : text);

/**
 * A report as it is sent, with what `make` makes of each of its values.
 * @template {import("./group.js").Unit} U
 * @param {import("./device.js").Report} report @param {{ questions: Survey["questions"], units: readonly U[] }} survey
 * @param {(unit: U, value: Value) => Value} make
 */
const encoded = (report, survey, make) => {
  const own = (/** @type {U} */ unit) => {
    const value = together(unit, (id) => report.values[id]);
    return make(unit, /** @type {Value} */ (unit.members[1] ? JSON.stringify(value) : value));
  };
  return encodeReport({ ...report, values: valuesOf(survey, own) });
};

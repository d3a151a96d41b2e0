//@ts-check
/* The fields of a published document, each read as strictly as it is written. */

import { demand, list } from "./mechanisms/base.js";

const MAX_LABEL = 200;

/** What shows something, unlike spaces, what Unicode calls default ignorable, and two blanks; `survey.py` has a list. */
const VISIBLE = /[^\s\p{DI}\u2800\ufff9-\ufffb]/u;

/** Whether the keys of all objects in a value stand in order. @param {any} value @returns {boolean} */
export const rises = (value) =>
  value !== Object(value) ||
  ((Array.isArray(value) || `${Object.keys(value)}` === `${Object.keys(value).sort()}`) && Object.values(value).every(rises));

/** Sorted keys, for JSON.stringify. @param {string} _key @param {any} value */
export const sorted = (_key, value) =>
  value !== Object(value) || Array.isArray(value) ? value : Object.fromEntries(Object.keys(value).sort().map((key) => [key, value[key]]));

/**
 * What `read` makes of a field that may be missing.
 * @template T @template {unknown[]} More
 * @param {unknown} value @param {(value: unknown, ...more: More) => T} read @param {More} more
 */
export const maybe = (value, read, ...more) => (value === undefined ? null : read(value, ...more));

/**
 * Reads the fields of a published object by their names, and notes them as known. A name of the document stands in quotes,
 * which keeps it apart from the names that our own objects have.
 * @param {any} published @param {Record<string, unknown>} known
 */
export const taking = (published, known) => (/** @type {string} */ key) => (known[key] = published[key]);

/** Refuse a published object with fields that are not known. @param {any} published @param {object} known */
export const nothingElse = (published, known) => demand(Object.keys(published).every((each) => Object.hasOwn(known, each)));

/** @param {any} value @param {RegExp} pattern @returns {string} */
export function matching(value, pattern) {
  demand(typeof value === "string" && pattern.test(value));
  return value;
}

/** The name of a question or of a group. @param {unknown} value */
export const identifier = (value) => matching(value, /^[a-z][a-z0-9_]{0,39}$/);

/** A setting that is left out, or says what a survey without it does not. @template T @param {T} value @param {unknown[]} known */
export function oneOf(value, ...known) {
  demand([undefined, ...known].includes(value));
  return value;
}

/**
 * Short texts that differ from each other.
 * @param {unknown} value @param {number} least @param {number} most @param {typeof text} [read]
 */
export const labels = (value, least, most, read = text) =>
  Object.freeze(distinct(list(value, least, most).map((each) => read(each, MAX_LABEL))));

/**
 * A readable, non-empty text; of one in several languages the "default", which is what answers and results hold.
 * @param {any} value @param {number} longest @returns {string}
 */
export function text(value, longest) {
  if (value?.default === undefined) return plain(value, longest);
  const { default: own, ...others } = value;
  demand(Object.keys(others).length > 0);
  for (const [language, translation] of Object.entries(others)) {
    demand(/^[a-z]{2,3}(-\w{1,8})*$/.test(language));
    plain(translation, longest);
  }
  return plain(own, longest);
}

/**
 * A text in one language: so are cohorts, which are in reports, and what an author notes for researchers.
 * @type {typeof text}
 */
export function plain(value, longest) {
  demand(
    typeof value === "string" &&
      VISIBLE.test(value) &&
      [...value].length <= longest && // in characters, as Python counts, not in UTF-16 units
      !/[^\n -~\xa0-\ud7ff\ue000-\u{10ffff}]|[\p{NChar}]/u.test(value), // no control character, no half of a pair, no noncharacter
  );
  return value;
}

/** @param {unknown} value */
export function date(value) {
  const day = matching(value, /^(?!0000)\d{4}-\d\d-\d\d$/);
  // The 31st of February may become the 3rd of March; of the 32nd nothing is made, and this throws.
  demand(new Date(day).toISOString().startsWith(day));
  return day;
}

/** @param {string[]} values */
export function distinct(values) {
  demand(new Set(values).size === values.length);
  return values;
}

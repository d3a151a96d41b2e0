//@ts-check
/*
 * The survey: the published document that clients run.
 *
 * Its address is the hash of its bytes, so a link pins wording, options and noise: a collector cannot serve one
 * person a weaker survey. Nobody canonicalises JSON to check an address; clients hash what they received.
 */

import { DeniableError, SurveyError } from "./errors.js";
import { mechanismFromPublished } from "./mechanisms/index.js";
import { dumps } from "./strict-json.js";

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {"yes-no" | "choice"} type
 * @property {string} text
 * @property {readonly string[]} options
 * @property {import("./mechanisms/base.js").Mechanism} mechanism
 */

/**
 * @typedef {object} Survey
 * @property {string} id first 128 bits of the SHA-256 of the document in lower-case base32
 * @property {string} title
 * @property {string | null} organiser
 * @property {string | null} about
 * @property {string | null} opens first day (UTC) on which reports are taken, such as "2026-11-20"
 * @property {string | null} closes last day
 * @property {readonly string[]} cohorts
 * @property {readonly Question[]} questions
 * @property {number} epsilon privacy loss of the whole survey: the questions' epsilons add up
 * @property {string} document the published text
 */

const FORMAT = 1;
const MAX_BYTES = 256 * 1024;
const MAX_QUESTIONS = 100;
const MAX_OPTIONS = 1000;
const MAX_COHORTS = 1000;
const MAX_LABEL = 200;
const MAX_TEXT = 4000;

/** Question types and the mechanisms that may answer for them. */
const QUESTION_TYPES = new Map([["yes-no", ["two-coin", "warner"]], ["choice", ["k-ary"]]]);

/**
 * The address of published bytes.
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
export async function address(bytes) {
  // Browsers hide `subtle` from pages that came over plain http. Unchecked bytes are never answered.
  if (!globalThis.crypto?.subtle) {
    fail("survey: its address can be checked only on a page that was opened over https");
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes), 0, 16);
  let text = "";
  for (let bit = 0; bit < 128; bit += 5) {
    const pair = (digest[bit >> 3] << 8) | (digest[(bit >> 3) + 1] ?? 0);
    text += "abcdefghijklmnopqrstuvwxyz234567"[(pair >> (11 - (bit & 7))) & 31];
  }
  return text;
}

/**
 * Read a published survey.
 *
 * Strict by reconstruction: every field is checked, then the document is written again in published form, and must
 * come out as it came in. So equal keys, other orders, spaces, fractions, exponents and other escapes are all
 * refused, whatever the browser's JSON parser makes of them.
 * @param {Uint8Array<ArrayBuffer>} bytes as received, untouched
 * @param {string} [expectedId] the address under which they were asked for
 * @returns {Promise<Survey>}
 */
export async function parseSurvey(bytes, expectedId) {
  const id = await address(bytes);
  if (expectedId !== undefined && id !== expectedId) {
    fail(
      `survey ${expectedId}: the collector sent other bytes than this address stands for ` +
        `(they are survey ${id}); do not answer, and tell who gave you the link`,
    );
  }
  if (bytes.length > MAX_BYTES) fail(`survey: must be at most ${MAX_BYTES} bytes, got ${bytes.length}`);
  let document, published;
  try {
    document = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    published = JSON.parse(document);
  } catch {
    fail("survey: must be JSON in UTF-8"); // a parser's own message would quote the document; "[[[[..." ends here too
  }
  const optional = ["about", "closes", "cohorts", "opens", "organiser"];
  const keys = fields(published, "survey", ["deniable", "questions", "title"], optional);
  if (keys.deniable !== FORMAT) fail(`deniable: must be ${FORMAT}, the format that this version reads`);
  const cohorts = maybe(keys.cohorts, (value) =>
    list(value, "cohorts", 1, MAX_COHORTS).map((each) => text(each, "cohorts", MAX_LABEL)),
  );
  const survey = {
    id,
    title: text(keys.title, "title", MAX_LABEL),
    organiser: maybe(keys.organiser, (value) => text(value, "organiser", MAX_LABEL)),
    about: maybe(keys.about, (value) => text(value, "about", MAX_TEXT)),
    opens: maybe(keys.opens, (value) => date(value, "opens")),
    closes: maybe(keys.closes, (value) => date(value, "closes")),
    cohorts: Object.freeze(distinct(cohorts ?? [], "cohorts")),
    questions: Object.freeze(list(keys.questions, "questions", 1, MAX_QUESTIONS).map(question)),
    epsilon: 0,
    document,
  };
  distinct(survey.questions.map((each) => each.id), "questions: ids");
  if (survey.opens && survey.closes && survey.closes < survey.opens) fail("closes: must not be before opens");
  // Only now, when its depth and its numbers are known to be small.
  if (dumps(published, sorted) !== document) {
    fail("survey: must be in published form: sorted keys, no spaces, ASCII, nothing left empty");
  }
  survey.epsilon = survey.questions.reduce((sum, each) => sum + each.mechanism.epsilon, 0);
  return Object.freeze(survey);
}

/** @param {unknown} published @param {number} number @returns {Question} */
function question(published, number) {
  let where = `questions[${number}]`;
  const keys = fields(published, where, ["id", "mechanism", "options", "text", "type"]);
  const { id, type } = keys;
  if (typeof id !== "string" || !/^[a-z][a-z0-9_]{0,39}$/.test(id)) {
    fail(`${where}: id must be 1 to 40 lower-case letters, digits or underscores, starting with a letter`);
  }
  where = `question "${id}"`;
  if (id === "id" || id === "cohort") fail(`${where}: id must not be id or cohort, which name other columns`);
  const subject = `${where}: options`;
  const options = list(keys.options, subject, 2, MAX_OPTIONS).map((each) => text(each, subject, MAX_LABEL));
  distinct(options, subject);
  if (type === "yes-no" && options.join() !== "no,yes") fail(`${subject} must be no, yes`);
  let mechanism;
  try {
    mechanism = mechanismFromPublished(keys.mechanism);
  } catch (error) {
    if (error instanceof DeniableError) fail(`${where}: ${error.message}`);
    throw error;
  }
  if (!QUESTION_TYPES.get(type)?.includes(mechanism.name)) {
    fail(`${where}: type must be yes-no or choice, and the mechanism ${mechanism.name} one for it`);
  }
  if (mechanism.k !== options.length) fail(`${where}: must have ${mechanism.k} options, got ${options.length}`);
  return Object.freeze({
    id,
    type,
    text: text(keys.text, `${where}: text`, MAX_TEXT),
    options: Object.freeze(options),
    mechanism,
  });
}

/** Sorted keys, for JSON.stringify. @param {string} _key @param {unknown} value */
const sorted = (_key, value) =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** @param {string} message @returns {never} */
function fail(message) {
  throw new SurveyError(message);
}

/** @template T @param {unknown} value @param {(value: unknown) => T} read */
const maybe = (value, read) => (value === undefined ? null : read(value));

/**
 * The fields of an object: every required one there, none that is unknown.
 * @param {unknown} value @param {string} subject @param {string[]} required @param {string[]} [optional]
 * @returns {any}
 */
function fields(value, subject, required, optional = []) {
  const keys = Object.keys(Object(value)); // of an array or a text its positions, which are no keys of ours
  const known = [...required, ...optional];
  if (!required.every((key) => keys.includes(key)) || !keys.every((key) => known.includes(key))) {
    fail(`${subject}: must be an object with the keys ${required.join(", ")}, and no unknown one`);
  }
  return value;
}

/** @param {unknown} value @param {string} subject @param {number} least @param {number} most @returns {unknown[]} */
function list(value, subject, least, most) {
  if (Array.isArray(value) && value.length >= least && value.length <= most) return value;
  return fail(`${subject}: must be a list of ${least} to ${most}`);
}

/** A readable, non-empty text. @param {unknown} value @param {string} subject @param {number} longest */
function text(value, subject, longest) {
  if (
    typeof value === "string" &&
    /[^\s]|\ufeff/.test(value) && // Python counts U+FEFF as no space
    [...value].length <= longest && // in characters, as Python counts, not in UTF-16 units
    !/(?!\n)[\p{Cc}\p{Cs}]/u.test(value)
  ) {
    return value;
  }
  return fail(`${subject}: must be a text of 1 to ${longest} characters, none of them a control character`);
}

/** @param {unknown} value @param {string} subject */
function date(value, subject) {
  if (typeof value === "string" && /^(?!0000)\d{4}-\d\d-\d\d$/.test(value)) {
    const day = new Date(value); // the 31st of February may become the 3rd of March
    if (!Number.isNaN(+day) && day.toISOString().startsWith(value)) return value;
  }
  return fail(`${subject}: must be a date like "2026-11-20"`);
}

/** @param {string[]} values @param {string} subject */
function distinct(values, subject) {
  if (new Set(values).size !== values.length) fail(`${subject}: must differ from each other`);
  return values;
}

//@ts-check
/*
 * What respondents read, in their language. The sentences stand in words/, each with when it is shown and why it is true;
 * `npm run catalogues` makes a catalogue for each language from them.
 *
 * Consequences first, odds instead of figures of privacy loss, and words that a twelve-year-old reads. What stands before
 * Start, without the author's own texts, has at most 110 words in English. No device takes a catalogue whose address is not in
 * the script: so the words are pinned as the code is.
 */

import { addresses } from "./catalogues/index.js";
import { load } from "./catalogues/load.js";
import { CollectorError } from "./errors.js";
import { utf8 } from "./sha.js";
import { address } from "./survey.js";

/** @typedef {Readonly<Record<string, string>>} Messages */

/** What can be said where no catalogue can be had. @type {Messages} */
export const speechless = {
  lang: "en",
  dir: "ltr",
  survey: "Survey",
  unreachable: "This survey cannot be loaded",
  unreachableText: "Nothing was sent.",
  again: "Try again",
};

/** Put values where a text names them in braces. @param {string} text @param {object} values */
export const fill = (text, values) => text.replace(/{(\w+)}/g, (_, key) => Reflect.get(values, key));

/**
 * The grammatical number that a language has for a whole number, by the rules of CLDR for the languages of the catalogues, as
 * far as these tell forms apart: making an `Intl.PluralRules` takes a slow phone as long as all else of a sentence.
 * @param {string} lang @param {number} n
 */
export const grammaticalNumber = (lang, n) =>
  lang === "ar" ? (["zero", "one", "two"][n] ?? (n % 100 > 10 ? "many" : n % 100 > 2 ? "few" : "other"))
  : n === 1 || (lang === "fr" && !n) ? "one"
  : "other";

/**
 * A sentence with a number, in the grammatical number that the language has for it. Its forms stand in one text, as in
 * "one=a minute|other={n} minutes".
 * @param {Messages} m @param {string} text @param {number} n @param {object} [values]
 */
export function numbered(m, text, n, values = {}) {
  const forms = Object.fromEntries(text.split("|").map((form) => form.split(/=(.*)/s, 2)));
  return fill(forms[grammaticalNumber(m.lang, n)] ?? forms["other"], { n, ...values });
}

/**
 * A moment as it is where the reader is: the day and the time, or at midnight the day alone in words, because people take 12 AM
 * for noon, or for the other end of the day.
 * @param {Messages} m @param {number} moment in milliseconds since 1970
 * @param {number} midnight hours and minutes together, where the sum tells that it is
 * @param {string} text for that, with the place {day}
 */
function spelt(m, moment, midnight, text) {
  const at = new Date(moment);
  const isMidnight = at.getHours() + at.getMinutes() === midnight;
  const day = at.toLocaleString(m.lang, { dateStyle: "long", timeStyle: isMidnight ? undefined : "short" });
  return fill(isMidnight ? text : "{day}", { day: day.replaceAll(" ", "\u00a0") }); // a date stays in one line
}

/** When a day of UTC begins. @param {Messages} m @param {string} day as in "2026-11-20" */
export const begin = (m, day) => spelt(m, Date.parse(day), 0, "{day}");

/** When it ends, by its last minute, 23:59 in UTC. @param {Messages} m @param {string} day */
export const end = (m, day) => spelt(m, Date.parse(day) + 864e5 - 6e4, 23 + 59, m.dayEnd);

/**
 * The catalogue of the first language that there is, out of those that somebody reads; English is the last.
 *
 * One that the page has ready is checked against its address in this script.
 * @param {readonly string[]} languages
 * @param {string | null} ready a catalogue, in whatever language
 * @returns {Promise<Messages>}
 */
export async function messagesIn(languages, ready) {
  // Where the browser cannot hash, over plain http, none is taken from the page.
  const given = ready && crypto.subtle && (await address(utf8(ready)));
  for (const language of [...languages, "en"]) {
    if (!Object.hasOwn(addresses, language)) continue;
    if (ready && given === addresses[language]) return JSON.parse(ready);
    try {
      return await load(language);
    } catch {
      // the next one, then
    }
  }
  throw new CollectorError("catalogues: cannot be reached");
}

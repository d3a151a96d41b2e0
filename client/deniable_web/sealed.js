//@ts-check
/*
 * The collector's keys to which reports of a survey are sealed, as it publishes them: one a week.
 * shared/deniable/survey/sealed.py has the same rules.
 */

import { date, distinct, matching, taking, nothingElse } from "./fields.js";
import { demand, isWhole, list } from "./mechanisms/base.js";
import { bytesOf } from "./randomness.js";

/**
 * @typedef {object} Sealed
 * @property {string} first the first day (UTC) of the week of the first key
 * @property {readonly string[]} keys a public key a week, in hexadecimal
 * @property {number} size to how many bytes every report is padded, so that all ciphertexts have one length
 */

const WEEK = 7 * 864e5;

/** @param {any} published @returns {Sealed} */
export function sealedOf(published) {
  const known = {};
  const take = taking(published, known);
  const keys = distinct(/** @type {string[]} */ (list(take("keys"), 1, 104)));
  for (const key of keys) matching(key, keys[0].length > 64 ? /^04[0-9a-f]{128}$/ : /^[0-9a-f]{64}$/);
  const [first, size] = [date(take("first")), take("size")];
  demand(isWhole(size, 64, 16384) && size % 64 === 0 && first < "9001");
  nothingElse(published, known);
  return Object.freeze({ first, keys: Object.freeze(keys), size });
}

/**
 * The number of the key of a week, and the key.
 * @param {Sealed} sealed @param {number} now in milliseconds since 1970 @returns {[number, Uint8Array<ArrayBuffer>]}
 */
export function keyOf({ first, keys }, now) {
  const week = Math.min(Math.max(Math.floor((now - Date.parse(first)) / WEEK), 0), keys.length - 1);
  return [week, bytesOf(keys[week])];
}

//@ts-check
/* Where the bundle's catalogues come from: beside the script, and taken only if they are as they were reviewed. */

import { plain } from "../requests.js";
import { utf8 } from "../sha.js";
import { address } from "../survey.js";
import { addresses } from "./index.js";

/**
 * A catalogue out of its JSON. The bundle calls a sentence by its place: build.mjs writes `m.a7` for the eighth, and the
 * address of the catalogue pins its order.
 * @param {string} text @returns {import("../messages.js").Messages}
 */
export function read(text) {
  const named = JSON.parse(text);
  Object.values(named).forEach((text, n) => (named[(n + 360).toString(36)] = text));
  return named;
}

/** The catalogue of a language. @param {string} language @returns {Promise<import("../messages.js").Messages>} */
export async function load(language) {
  const text = await (await fetch(new URL(`catalogues/${language}.json`, import.meta.url), plain())).text();
  // Where the browser cannot hash, over plain http, no survey is opened either: its words say no more than that.
  if (crypto.subtle && (await address(utf8(text))) !== addresses[language]) throw TypeError();
  return read(text);
}

//@ts-check
/* Where the bundle's catalogues come from: beside the script, and taken only if they are as they were reviewed. */

import { plain } from "../requests.js";
import { utf8 } from "../sha.js";
import { address } from "../survey.js";
import { addresses } from "./index.js";

/** The catalogue of a language. @param {string} language @returns {Promise<import("../messages.js").Messages>} */
export async function load(language) {
  const text = await (await fetch(new URL(`catalogues/${language}.json`, import.meta.url), plain())).text();
  // Where the browser cannot hash, over plain http, no survey is opened either: its words say no more than that.
  if (crypto.subtle && (await address(utf8(text))) !== addresses[language]) throw TypeError();
  return JSON.parse(text);
}

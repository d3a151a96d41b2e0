//@ts-check
/* Where the bundle's catalogues come from: beside the script, and taken only if they are as they were reviewed. */

import { plain } from "../requests.js";
import { integrity } from "./index.js";

/** The catalogue of a language. @param {string} language @returns {Promise<import("../messages.js").Messages>} */
export async function load(language) {
  const place = new URL(`catalogues/${language}.json`, import.meta.url);
  return (await fetch(place, plain({ integrity: integrity[language] }))).json();
}

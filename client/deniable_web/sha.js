//@ts-check
/* Hashes: those by which surveys and catalogues are known, and those within blind signatures. */

import { SurveyError } from "./errors.js";
import { hexadecimal } from "./randomness.js";

/** @param {string} text */
export const utf8 = (text) => new TextEncoder().encode(text);

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<string>} SHA-256, or another one of its family, in hexadecimal */
export async function sha(bytes, bits = 256) {
  // Browsers hide `subtle` from pages that came over plain http. Unchecked bytes are never answered.
  if (!crypto.subtle) throw new SurveyError("survey: must come over https");
  return hexadecimal(new Uint8Array(await crypto.subtle.digest(`SHA-${bits}`, bytes)));
}

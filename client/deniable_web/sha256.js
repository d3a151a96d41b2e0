//@ts-check
/* The hash by which surveys and catalogues are known. */

import { SurveyError } from "./errors.js";

/** @param {string} text */
export const utf8 = (text) => new TextEncoder().encode(text);

/** @param {Uint8Array<ArrayBuffer>} bytes */
export async function sha256(bytes) {
  // Browsers hide `subtle` from pages that came over plain http. Unchecked bytes are never answered.
  if (!crypto.subtle) throw new SurveyError("survey: can be checked only over https");
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

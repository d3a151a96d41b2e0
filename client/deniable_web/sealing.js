//@ts-check
/* Sealing: what only the holder of a survey's key of the week can read. client/deniable_client/sealing.py does the same. */

import { joined, seal } from "./hpke.js";
import { keyOf } from "./sealed.js";
import { utf8 } from "./sha.js";

/**
 * A report as it is sent: the number of the key of this week, the encapsulated key, the ciphertext. Another text at each try,
 * of one length whatever was answered.
 * @param {{ id: string, sealed: import("./sealed.js").Sealed }} survey @param {string} text
 */
export async function sealReport({ id, sealed }, text, now = Date.now()) {
  const [week, key] = keyOf(sealed, now);
  const padded = new Uint8Array(sealed.size);
  padded.set(utf8(text)); // which throws where it is too long
  return joined(Uint8Array.of(week), await seal(key, utf8(`deniable/1|${id}`), padded));
}

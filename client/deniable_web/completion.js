//@ts-check
/*
 * The way back to a panel after Send. It is the same for everybody, or holds a code that this device draws apart from everything
 * that it sends: so nobody can find a reply by it.
 */

import { below, systemWord } from "./randomness.js";

const LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"; // none that people mistake for another one

/**
 * What somebody is shown after Send.
 * @param {import("./survey.js").Completion} completion in the reader's language @param {import("./randomness.js").Word} [word]
 */
export function completionOf({ text, link, code, code_length: length = 0 }, word = systemWord) {
  const drawn = Array.from({ length }, () => LETTERS[Number(below(BigInt(LETTERS.length), word))]).join("");
  const shown = code ?? drawn;
  return { text, link: link?.replace("{code}", () => shown), code: shown, isDrawn: !code };
}

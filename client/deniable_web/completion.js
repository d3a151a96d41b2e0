//@ts-check
/* The completion of a survey: the way back to the panel that sent a respondent. */

import { matching, maybe, nothingElse, taking, text } from "./fields.js";
import { isHost } from "./hosts.js";
import { demand, integer } from "./mechanisms/base.js";
import { below, systemWord } from "./randomness.js";

const PLACEHOLDER = "{code}";
const MAX_TEXT = 1000;
const MAX_LINK = 500;
/** Without 0, O, 1, I and L, which people confuse. */
const CHARACTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";

/**
 * @typedef {object} Completion
 * @property {string | null} text what to do with the link or the code
 * @property {string | null} link an address that starts with https:// and may hold {code} once
 * @property {string | null} code the same for everybody
 * @property {number | null} codeLength of a code that each device draws
 */

/** @param {any} published @returns {Readonly<Completion>} */
export function readCompletion(published) {
  const known = {};
  const take = taking(published, known);
  const completion = {
    text: maybe(take("text"), text, MAX_TEXT),
    link: maybe(take("link"), linkOf),
    code: maybe(take("code"), matching, /^[A-Za-z0-9_-]{1,64}$/),
    codeLength: maybe(take("code_length"), integer, 6, 20),
  };
  nothingElse(published, known);
  const { link, code, codeLength } = completion;
  demand(link || code || codeLength);
  demand(!code || !codeLength);
  demand(!link?.includes(PLACEHOLDER) || code || codeLength);
  return Object.freeze(completion);
}

/** An address that browsers can follow; `completion.py` has the same rules. @param {unknown} value */
function linkOf(value) {
  const parts =
    /^https:\/\/([a-z0-9.-]{1,253}|\[[0-9a-f:]+\])(?::([1-9]\d{0,4}))?([/?#]([A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}|\{code\})*)?$/;
  const link = matching(value, parts);
  const [, host, port = "0"] = /** @type {string[]} */ (parts.exec(link));
  demand(link.length <= MAX_LINK && isHost(host) && +port < 65536);
  demand(link.split(PLACEHOLDER).length < 3);
  return link;
}

/**
 * What a respondent takes back to the panel: to be asked for once for each receipt that is shown, because each call draws another
 * code. A code is drawn by itself, so it tells nothing of what was sent; nobody keeps it.
 * @param {{ completion: Readonly<Completion> | null }} view @param {import("./randomness.js").Word} [word]
 */
export function completionOf({ completion }, word = systemWord) {
  if (!completion) return null;
  const { text, codeLength } = completion;
  const code = completion.code ?? (codeLength ? drawnCode(codeLength, word) : null);
  return { text, link: completion.link?.replace(PLACEHOLDER, code ?? "") ?? null, code };
}

/** Every character is as likely as every other: words beyond the last of them are drawn again. @param {number} length @param {import("./randomness.js").Word} word */
const drawnCode = (length, word) =>
  Array.from({ length }, () => CHARACTERS[Number(below(BigInt(CHARACTERS.length), word))]).join("");

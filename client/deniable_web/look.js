//@ts-check
/* The look of a survey: a colour and a logo, which change nothing that is asked or sent. */

import { matching, maybe, nothingElse, taking, text } from "./fields.js";
import { demand, isWhole } from "./mechanisms/base.js";

const MAX_LOGO_BYTES = 20_000;
const MAX_LOGO_SIDE = 1000;
const MAX_LABEL = 200;
const COLOUR = /^#[0-9a-f]{6}$/;

/**
 * @typedef {object} Logo
 * @property {"image/png" | "image/webp"} type
 * @property {string} data the file, in base64
 * @property {string} text what is read out for it
 */

/**
 * @typedef {object} Look
 * @property {string | null} accent the colour of buttons and marks on a light card, such as "#0b5d82"
 * @property {string | null} accentDark on a dark one; both or none of them. The publisher has seen to their contrast
 * @property {Logo | null} logo
 */

/** @param {any} published @returns {Readonly<Look>} */
export function lookOf(published) {
  const known = {};
  const take = taking(published, known);
  const accent = maybe(take("accent"), matching, COLOUR);
  const accentDark = maybe(take("accent_dark"), matching, COLOUR);
  const spoken = maybe(take("logo_text"), text, MAX_LABEL);
  const logo = maybe(take("logo"), logoOf, spoken);
  nothingElse(published, known);
  demand(!accent === !accentDark && !logo === !spoken && (accent || logo));
  return Object.freeze({ accent, accentDark, logo });
}

/** @param {any} published @param {string | null} spoken @returns {Readonly<Logo>} */
function logoOf(published, spoken) {
  const known = {};
  const take = taking(published, known);
  const [type, data] = [take("type"), take("data")];
  nothingElse(published, known);
  const sizeOf = SIZES.get(type);
  const raw = atob(data);
  // One way to write each image: no spaces, all padding, and 0 in its bits.
  demand(sizeOf && btoa(raw) === data && raw.length <= MAX_LOGO_BYTES);
  demand(sizeOf(raw).every((side) => isWhole(side, 1, MAX_LOGO_SIDE)));
  return Object.freeze({ type, data, text: /** @type {string} */ (spoken) });
}

/** The whole number in these bytes, the highest one first; NaN where one of them is missing. @param {string} raw @param {number[]} places */
const number = (raw, ...places) => places.reduce((above, place) => above * 256 + raw.charCodeAt(place), 0);

/** Width and height by the header chunk of PNG. @param {string} raw its bytes */
function pngSize(raw) {
  demand(raw.startsWith("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"));
  return [number(raw, 16, 17, 18, 19), number(raw, 20, 21, 22, 23)];
}

/** Width and height by the first chunk of WebP, of which there are three kinds. @param {string} raw its bytes */
function webpSize(raw) {
  const [, chunk] = /** @type {string[]} */ (/^RIFF[^]{4}WEBPVP8([ LX])/.exec(raw)); // or it is none, which throws
  demand(raw.length >= 30);
  if (chunk === "X") return [number(raw, 26, 25, 24) + 1, number(raw, 29, 28, 27) + 1];
  if (chunk === "L") {
    demand(raw[20] === "/");
    const bits = number(raw, 24, 23, 22, 21);
    return [(bits % 2 ** 14) + 1, (Math.floor(bits / 2 ** 14) % 2 ** 14) + 1];
  }
  demand(raw.slice(23, 26) === "\x9d\x01\x2a");
  return [number(raw, 27, 26) % 2 ** 14, number(raw, 29, 28) % 2 ** 14]; // below two bits of scale
}

const SIZES = new Map([["image/png", pngSize], ["image/webp", webpSize]]);

//@ts-check
/*
 * Where chance comes from: uniform 32-bit words.
 *
 * Every `randomize` takes its words as an argument, so that tests feed it chosen words, both languages are held
 * to the same vectors, and output distributions are proved by enumeration. The default is the browser's
 * cryptographic source; there is no seed to lose, save or guess. Math.random is used nowhere.
 */

/** Integer weights of mechanisms are out of this number. */
export const UNIT = Math.pow(2, 32); // not 2 ** 32, which minifiers write out as ten digits everywhere

/** @typedef {() => number} Word A source of uniform integers in [0, 2**32). */

/** Draw one uniform 32-bit word from the system. @type {Word} */
export const systemWord = () => crypto.getRandomValues(new Uint32Array(1))[0];

/**
 * A uniform integer below a bound: as many words as the bound has, the low one first, all drawn again while
 * they are too large. How often depends on chance and on the bound alone.
 * @param {bigint} bound @param {Word} word
 */
export function below(bound, word) {
  const bits = (2n * bound - 1n).toString(2).length - 1; // none below 1
  for (;;) {
    let draw = 0n;
    for (let low = 0; low < bits; low += 32) draw |= BigInt(word()) << BigInt(low);
    draw = BigInt.asUintN(bits, draw);
    if (draw < bound) return draw;
  }
}

/** A number in digits of a base, with zeros before it. @param {number | bigint} number @param {number} width */
export const digits = (number, width, base = 16) => number.toString(base).padStart(width, "0");

/** Random bytes in hexadecimal. @param {number} size */
export const random = (size) => hexadecimal(crypto.getRandomValues(new Uint8Array(size)));

/** A fresh report id: 128 random bits, so no two devices ever meet. */
export const newReportId = () => random(16);

/** @param {Uint8Array} bytes */
export const hexadecimal = (bytes) => Array.from(bytes, (byte) => digits(byte, 2)).join("");

/** The bytes that digits stand for. @param {string} hex */
export const bytesOf = (hex) => Uint8Array.from(/** @type {string[]} */ (hex.match(/../g)), (pair) => parseInt(pair, 16));

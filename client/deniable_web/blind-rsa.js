//@ts-check
/*
 * Blind RSA signatures, RFC 9474: what whoever holds a public key can do. shared/deniable/access/blind_rsa.py is the
 * same, and both are held to the same vectors.
 *
 * The variant is RSABSSA-SHA384-PSS-Deterministic with the exponent 65537. Bytes are in hexadecimal: BigInt reads and
 * writes that. Nothing here takes constant time, which matters where a private key is, and here is none.
 */

import { SurveyError } from "./errors.js";
import { below, bytesOf, digits, random, systemWord } from "./randomness.js";
import { sha } from "./sha.js";

/**
 * @typedef {object} Blinded
 * @property {string} message
 * @property {string} salt
 * @property {string} inverse what takes the blinding off again
 * @property {string} blinded all that whoever signs is shown
 */

/** @param {string} hex */
const number = (hex) => BigInt(`0x0${hex}`); // of nothing, too

/** @param {string} hex */
const sha384 = (hex) => sha(bytesOf(hex), 384);

/** To the power of 65537. @param {bigint} base @param {bigint} n */
function power(base, n) {
  let all = base;
  for (let times = 16; times--; ) all = (all * all) % n;
  return (all * base) % n;
}

/**
 * EMSA-PSS-ENCODE of RFC 8017, section 9.1.1, to one bit less than a modulus has.
 * @param {string} message @param {string} salt @param {number} width of the modulus, in digits
 */
async function encode(message, salt, width) {
  const digest = await sha384("0".repeat(16) + (await sha384(message)) + salt);
  const rest = width - 98;
  let mask = ""; // MGF1 of its appendix B.2.1
  for (let counter = 0; mask.length < rest; ) mask += await sha384(digest + digits(counter++, 8));
  const masked = BigInt.asUintN(4 * rest - 1, number(1 + salt) ^ number(mask.slice(0, rest)));
  return number(digits(masked, rest) + digest + "bc");
}

/**
 * Hide a message from whoever is to sign it (RFC 9474, section 4.2).
 * @param {string} modulus @param {string} message @param {string} [salt] 48 random bytes
 * @param {typeof below} [draw] a uniform number below another @returns {Promise<Blinded>}
 */
export async function blind(modulus, message, salt = random(48), draw = below) {
  const n = number(modulus);
  const width = modulus.length;
  const encoded = await encode(message, salt, width);
  const factor = draw(n, systemWord);
  let [a, b, x, y] = [n, (encoded * factor) % n, 0n, 1n]; // the extended Euclidean algorithm
  while (b) {
    const quotient = a / b;
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  // A small prime of the key that divides what is encoded would divide what is blinded, and so give it away.
  if (a !== 1n) throw new SurveyError("key: must be a product of large primes");
  return { message, salt, inverse: digits(((x + n) * encoded) % n, width), blinded: digits((encoded * power(factor, n)) % n, width) };
}

/**
 * Take the blinding off a signature (RFC 9474, section 4.4), and put the signature behind its message. It throws if the
 * message is not signed by it. That is not to be used or sent: whoever may sign anything could know devices again by it.
 *
 * The salt is known here, so RSASSA-PSS-VERIFY of RFC 8017 is to encode once more and compare.
 * @param {string} modulus @param {Blinded} blinded @param {string} signature
 */
export async function finalize(modulus, { message, salt, inverse }, signature) {
  const n = number(modulus);
  const width = modulus.length;
  const signed = (number(signature) * number(inverse)) % n;
  if (power(signed, n) !== (await encode(message, salt, width))) throw new SurveyError("token: must be signed by its issuer");
  return message + digits(signed, width);
}

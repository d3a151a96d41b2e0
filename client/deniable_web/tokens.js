//@ts-check
/*
 * The blind tokens of a survey: RFC 9577 and RFC 9578, token type 0x0002. shared/deniable/access/issuer.py is the same.
 *
 * All in hexadecimal. Whoever signs a token never sees it, and whoever sees it cannot tell for whom it was signed.
 */

import { blind, finalize } from "./blind-rsa.js";
import { bytesOf, digits, hexadecimal, random } from "./randomness.js";
import { sha, utf8 } from "./sha.js";

/** @typedef {import("./blind-rsa.js").Blinded & { signature?: string }} Token what it is made of; the signature is of `blinded` */
/** @typedef {import("./survey.js").Survey & { issuer: import("./survey.js").Issuer }} Survey */

const TYPE = "0002";

/**
 * A token that nobody has signed yet: type, nonce, challenge and key (RFC 9578, section 6.1), and what hides them.
 * @param {Survey} survey @returns {Promise<Token>}
 */
export async function newToken(survey) {
  const { key, url, modulus } = survey.issuer;
  const name = url?.split("/")[2] ?? "collector";
  const challenge = `${TYPE}${digits(name.length, 4)}${hexadecimal(utf8(name))}20${await sha(utf8(survey.document))}0000`;
  return blind(modulus, TYPE + random(32) + (await sha(bytesOf(challenge))) + (await sha(bytesOf(key))));
}

/**
 * A token as a report carries it. It throws unless the issuer signed it.
 * @param {Survey} survey @param {Token} token @returns {Promise<string>}
 */
export const signedToken = ({ issuer }, token) => finalize(issuer.modulus, token, /** @type {string} */ (token.signature));

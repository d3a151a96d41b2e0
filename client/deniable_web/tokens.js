//@ts-check
/*
 * The blind tokens of a survey: RFC 9577 and RFC 9578, token type 0x0002. shared/deniable/access/issuer.py is the same.
 *
 * All in hexadecimal. Whoever signs a token never sees it, and whoever sees it cannot tell for whom it was signed.
 */

import { blind, bytesOf, finalize } from "./blind-rsa.js";
import { sign } from "./collector.js";
import { digits, hexadecimal, random } from "./randomness.js";
import { sha, utf8 } from "./sha.js";
import { ways } from "./ways.js";

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
 * @param {Survey} survey @param {Token} token
 */
export const signedToken = ({ issuer }, token) => finalize(issuer.modulus, token, /** @type {string} */ (token.signature));

/**
 * The token of whoever is invited, bought before anybody answers; undefined where the device has a report to send again.
 *
 * The same one is asked for until it is there, whatever breaks off in between.
 * @param {import("./memory.js").Memory} memory @param {Survey} survey
 * @param {{ collector: string, invitation: string | null, isVia?: boolean }} link where a place passes it on, the way by that
 * @param {boolean} [isShared] whether the device forgets each person, and so has nothing to send again
 */
export async function buyToken(memory, survey, { collector, invitation, isVia }, isShared) {
  const name = `${survey.id}:${invitation}`; // that of another one may be another person's
  const fresh = await newToken(survey);
  const token = await memory.token(name, (kept = fresh) => kept, isShared);
  if (!token) return undefined;
  const { issuer, sealed } = survey;
  const signer = (!isVia && issuer.url) || collector;
  // A collector that signs itself has a gateway: then the place passes on what it cannot read, and sees no invitation.
  const ask = isVia && !issuer.url && sealed ? /** @type {any} */ (ways).byGateway({ ...survey, sealed }, collector) : undefined;
  token.signature ??= await sign(survey, signer, /** @type {string} */ (invitation), token.blinded, ask);
  const signed = await signedToken(survey, token);
  await memory.token(name, (kept) => kept && token, isShared);
  return signed;
}

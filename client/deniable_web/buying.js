//@ts-check
/* How a device comes to a blind token: asked for once, kept until it is spent. */

import { byGateway } from "./oblivious.js";
import { sign } from "./sending.js";
import { newToken, signedToken } from "./tokens.js";

/**
 * The token of whoever is invited, bought before anybody answers; undefined where the device has a report to send again.
 *
 * The same one is asked for until it is there, whatever breaks off in between.
 * @param {import("./memory.js").Memory} memory @param {import("./tokens.js").Survey} survey
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
  const ask = isVia && !issuer.url && sealed ? byGateway({ ...survey, sealed }, collector) : undefined;
  token.signature ??= await sign(survey, signer, /** @type {string} */ (invitation), token.blinded, ask);
  const signed = await signedToken(survey, token);
  await memory.token(name, (kept) => kept && token, isShared);
  return signed;
}

//@ts-check
/* What goes over the network from Start on: a token, and one report. Requests are the same whatever the answers are. */

import { CLIENT, addressOf } from "./collector.js";
import { CollectorError, NotInvited, ReportConflict, ReportError, SurveyClosed } from "./errors.js";
import { UNIT, bytesOf, systemWord } from "./randomness.js";
import { plain, posted } from "./requests.js";
import { sealReport } from "./sealing.js";
import { sha } from "./sha.js";
import { dumps } from "./strict-json.js";

/**
 * @typedef {object} Receipt What a respondent can keep. It holds nothing that could be looked up later.
 * @property {string} survey
 * @property {string} collector
 * @property {string} client what randomised, with its version
 * @property {true} stored
 * @property {boolean} again whether the collector knew the report already; it counts once
 */

/** @type {Record<number, typeof ReportError | undefined>} */
const REFUSALS = { 403: NotInvited, 404: ReportError, 409: ReportConflict, 410: SurveyClosed, 413: ReportError, 422: ReportError };
const TRIES = 4;
/** Seconds that a call waits at once; with a collector that asks for more it ends, and its caller comes back then. */
const LONGEST_WAIT = 20;

/**
 * Send a report. Every try, now and later, sends the same text, and the collector counts it once.
 * @param {Pick<import("./survey.js").Survey, "id" | "sealed">} survey
 * @param {string} collector
 * @param {string} text what `encodeReport` gave
 * @param {Options} [options]
 * @returns {Promise<Receipt>}
 */
export async function submit(survey, collector, text, options) {
  const [, status] = await deliver(survey, collector, text, options);
  return Object.freeze({ survey: survey.id, collector, client: CLIENT, stored: true, again: status === 200 });
}

/**
 * @typedef {object} Options
 * @property {typeof globalThis.fetch} [fetch]
 * @property {(seconds: number) => Promise<unknown>} [wait]
 * @property {RequestCredentials} [credentials]
 */

/**
 * Send a report without making a receipt. A status of 200 says that the collector knew the report already. What is sealed
 * says nothing in its head: whoever passes it on must not see what it bears.
 * @param {Pick<import("./survey.js").Survey, "id" | "sealed">} survey @param {string} collector or a way to it
 * @param {string} text @param {Options} [options]
 */
export const deliver = async ({ id, sealed }, collector, text, options) =>
  sealed
    ? post(`${addressOf(collector, id)}/sealed`, await sealReport({ id, sealed }, text), undefined, options)
    : post(`${addressOf(collector, id)}/reports`, text, JSON.parse(text).credential, options);

/**
 * Have a token signed. The same message again is signed again, another one is not.
 * @param {{ id: string }} survey @param {string} signer
 * @param {string} invitation @param {string} blinded @param {typeof globalThis.fetch} [ask] what asks in the place of `fetch`
 * @returns {Promise<string>} what signs it, in hexadecimal; nobody has checked it
 */
export async function sign({ id }, signer, invitation, blinded, ask) {
  // With credentials, of which there are none: browsers keep such connections apart from those without, so that the
  // report does not come over the one that the token was bought on. Only requests to a page's own origin can have some.
  const [answer] = await post(`${addressOf(signer, id)}/tokens`, dumps({ invitation, blinded }), invitation, { fetch: ask, credentials: "same-origin" });
  return String(answer["signature"]).slice(0, 512); // a longer one takes long to compute with
}

/**
 * What a request says in its head of the right that its body bears: a collector that reads few bodies of one network
 * at a time reads that of somebody who bears a right.
 * @param {string} [credential] an invitation, of which the hash is said, or a token, as RFC 9577 (section 2.2) has it
 * @returns {Promise<HeadersInit>}
 */
export async function rightOf(credential) {
  if (!credential) return {};
  const bytes = bytesOf(credential);
  const token = () => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_");
  return { Authorization: bytes.length > 16 ? `PrivateToken token="${token()}"` : `Invitation ${await sha(bytes)}` };
}

/**
 * Send something as often as it takes.
 * @param {string} url @param {string | Uint8Array<ArrayBuffer>} text @param {string} [credential] what the text bears
 * @param {Options} [options] @returns {Promise<[any, number]>} JSON, and the status
 */
async function post(url, text, credential, { fetch: ask = fetch, wait = sleep, credentials = "omit" } = {}) {
  const right = await rightOf(credential);
  let said = right;
  for (let tried = 1; ; tried++) {
    let seconds = 2 ** tried / 4 + systemWord() / UNIT / 4; // a little chance, so that a crowd does not return at once
    let reason = "cannot be reached";
    let asked = 0;
    const response = await ask(url, plain({ ...posted(text, said), credentials })).catch(() => {});
    said = response || said !== right ? right : {}; // a collector that is older lets no other site say it
    if (response) {
      const { status, headers } = response;
      const Refusal = REFUSALS[status];
      reason = `answered with status ${status}`;
      if (status !== 429 && status < 502) tried = TRIES; // of those, none is over in a moment
      asked = secondsOf(headers.get("retry-after"));
      seconds = Math.max(seconds, asked);
      // A portal between here and the collector may answer anything to everything, but not in these words.
      const answer = await response.json().catch(() => {});
      if (Refusal && answer?.detail) throw new Refusal(String(answer.detail).slice(0, 512));
      if (status < 202 && (answer?.signature ?? /^(stored|known)$/.test(answer?.status))) return [answer, status];
    }
    if (tried >= TRIES || seconds > LONGEST_WAIT) {
      throw Object.assign(new CollectorError(`${new URL(url).origin}: ${reason}`), { seconds: asked });
    }
    await wait(seconds);
  }
}

/** How long a collector wants to be left alone: in seconds, or until a date. @param {string | null} header */
const secondsOf = (header) =>
  Math.min(1e9, Math.max(0, Number(header) || (Date.parse(header ?? "") - Date.now()) / 1000 || 0)); // a date has an end

/** @param {number} seconds */
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

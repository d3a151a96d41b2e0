//@ts-check
/* What goes over the network: one survey in, one report out. Requests are the same whatever the answers are. */

import { CollectorError, NotInvited, ReportConflict, ReportError, SurveyClosed, SurveyError } from "./errors.js";
import { UNIT, bytesOf, systemWord } from "./randomness.js";
import { plain } from "./requests.js";
import { sha } from "./sha.js";
import { dumps } from "./strict-json.js";
import { parseSurvey } from "./survey.js";
import { ways } from "./ways.js";

export const CLIENT = "deniable-web 0.1.0";

/**
 * @typedef {object} Link
 * @property {string} collector such as "https://collector.example"
 * @property {string} survey the survey's address
 * @property {string | null} cohort
 * @property {string | null} invitation 32 hexadecimal digits
 */

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
/** Milliseconds for what is asked so that nobody answers for nothing; people are asked all the same without an answer. */
const QUICK = 5000;

/**
 * Read a link to a survey: https://collector/s/<id>#cohort=web&invitation=<32 digits>, or the address of its document.
 *
 * Cohort and invitation stand in the fragment, which browsers do not send, and never in the query, which servers log.
 * @param {string} link @param {string} [base] where a relative link starts
 * @returns {Link}
 */
export function parseLink(link, base) {
  try {
    const { origin, pathname, protocol, hostname, hash } = new URL(link, base);
    const [, path, survey] = /** @type {RegExpExecArray} */ (
      /^(.*?)\/+(?:s|embed|api\/v1\/surveys)\/([a-z2-7]{26})\/?$/.exec(pathname)
    );
    // A final dot makes another origin of the same host, with a memory of its own.
    if (/^https?:$/.test(protocol) && !hostname.endsWith(".")) {
      return Object.freeze({ collector: origin + path, survey, ...fromFragment(new URLSearchParams(hash.slice(1))) });
    }
  } catch {
    // no URL at all, or one without an address at its end
  }
  throw new SurveyError("survey: must end in /s/ and its address");
}

/** What the fragment of a link says of whoever opens it. @param {URLSearchParams} fragment */
export const fromFragment = (fragment) => ({
  cohort: fragment.get("cohort"),
  invitation: /^[0-9a-f]{32}$/.exec(fragment.get("invitation") ?? "")?.[0] ?? null,
});

/**
 * Fetch a survey, and check that the bytes are those of its address.
 * @param {string | Link} link @param {{ fetch?: typeof globalThis.fetch }} [options]
 */
export async function fetchSurvey(link, { fetch: ask = fetch } = {}) {
  const { collector, survey } = typeof link === "string" ? parseLink(link) : link;
  let status, body;
  try {
    const response = await ask(place(collector, survey), plain());
    status = response.status;
    body = new Uint8Array(await response.arrayBuffer());
  } catch {
    throw new CollectorError(`${collector}: cannot be reached`);
  }
  if (status === 404) throw new SurveyError(`survey ${survey}: is not at ${collector}`);
  if (status !== 200) throw new CollectorError(`${collector}: answered with status ${status}`);
  return parseSurvey(body, survey);
}

/** @type {(Hindrance | "open")[]} */
const STANDINGS = ["open", "closed", "early", "used", "unknown"];

/** @typedef {"closed" | "early" | "used" | "unknown"} Hindrance why nobody can answer: of a survey, or of an invitation */

/** Whether a collector says if an invitation was used: beside live results it would say whose report came when. */
export const tellsUse = (/** @type {{ access: string, isLive: boolean }} */ { access, isLive }) => access === "invited" && !isLive;

/**
 * What the collector says of a survey, or of the invitation to one that is open. It is told the survey and, where it tells of
 * use, the hash of the invitation. Nothing where it does not answer, or is too old to.
 * @param {{ id: string, access: string, isLive: boolean }} survey @param {Pick<Link, "collector" | "invitation"> & { isVia?: boolean }} link
 *   a place, via which it is asked, passes no question on: it says of itself whether the survey is open
 * @param {{ fetch?: typeof globalThis.fetch }} [options]
 * @returns {Promise<Hindrance | "open" | undefined>}
 */
export async function standingOf(survey, { collector, invitation, isVia }, { fetch: ask = fetch } = {}) {
  const signal = AbortSignal.timeout(QUICK);
  const state = async (/** @type {string} */ path, /** @type {RequestInit} */ more = {}) => {
    const response = await ask(place(collector, survey.id) + path, plain({ signal, ...more })).catch(() => {});
    return response?.ok && (await response.json().catch(() => {}))?.state;
  };
  let found = await state("/state");
  if (found === "open" && tellsUse(survey) && invitation && !isVia) {
    found = await state("/invitations/state", posted(dumps({ hash: await sha(bytesOf(invitation)) })));
  }
  return STANDINGS.find((each) => each === found);
}

/**
 * Why a report would not count, as far as the collector says it before there is one.
 * @param {Parameters<typeof standingOf>} asked @returns {Promise<Hindrance | undefined>}
 */
export async function hindrance(...asked) {
  const found = await standingOf(...asked);
  return found === "open" ? undefined : found;
}

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
    ? post(`${place(collector, id)}/sealed`, await /** @type {any} */ (ways).seal({ id, sealed }, text), undefined, options)
    : post(`${place(collector, id)}/reports`, text, JSON.parse(text).credential, options);

/**
 * Have a token signed. The same message again is signed again, another one is not.
 * @param {{ id: string }} survey @param {string} signer
 * @param {string} invitation @param {string} blinded @param {typeof globalThis.fetch} [ask] what asks in the place of `fetch`
 * @returns {Promise<string>} what signs it, in hexadecimal; nobody has checked it
 */
export async function sign({ id }, signer, invitation, blinded, ask) {
  // With credentials, of which there are none: browsers keep such connections apart from those without, so that the
  // report does not come over the one that the token was bought on. Only requests to a page's own origin can have some.
  const [answer] = await post(`${place(signer, id)}/tokens`, dumps({ invitation, blinded }), invitation, { fetch: ask, credentials: "same-origin" });
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

/** @param {string | Uint8Array<ArrayBuffer>} body @param {HeadersInit} [more] @returns {RequestInit} */
const posted = (body, more) => {
  const type = typeof body === "string" ? "application/json" : "application/octet-stream";
  return { method: "POST", headers: { "Content-Type": type, ...more }, body };
};

/** How long a collector wants to be left alone: in seconds, or until a date. @param {string | null} header */
const secondsOf = (header) =>
  Math.min(1e9, Math.max(0, Number(header) || (Date.parse(header ?? "") - Date.now()) / 1000 || 0)); // a date has an end

/**
 * The way to a collector by a place, which passes on what is asked at it and keeps what is sealed until there is enough.
 * @param {string} place its origin @param {string} collector
 */
export const wayBy = (place, collector) => `${place}/via/${collector.replace(/^https?:\/\//, "")}`;

/** @param {string} collector @param {string} survey */
const place = (collector, survey) => `${collector}/api/v1/surveys/${survey}`;

/** @param {number} seconds */
const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

//@ts-check
/* What is asked of a collector before there is a report: a survey, and whether a report would count. `sending.js` sends it. */

import { CollectorError, SurveyError } from "./errors.js";
import { bytesOf } from "./randomness.js";
import { plain, posted } from "./requests.js";
import { sha } from "./sha.js";
import { dumps } from "./strict-json.js";
import { parseSurvey } from "./survey.js";

export const CLIENT = "deniable-web 0.1.0";

/**
 * @typedef {object} Link
 * @property {string} collector such as "https://collector.example"
 * @property {string} survey the survey's address
 * @property {string | null} cohort
 * @property {string | null} invitation 32 hexadecimal digits
 */

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
    const response = await ask(addressOf(collector, survey), plain());
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
 * What a collector says of a survey, or at another path of an invitation; nothing where it does not answer, or is too old to.
 * @param {string} collector or a way to it @param {string} survey @param {typeof globalThis.fetch} [ask] @param {string} [path]
 * @param {RequestInit} [more] @returns {Promise<unknown>}
 */
export async function stateAt(collector, survey, ask = fetch, path = "/state", more = {}) {
  await 0; // as in base-element.js: what is on the stack would be parsed again
  const response = await ask(addressOf(collector, survey) + path, plain({ signal: AbortSignal.timeout(QUICK), ...more })).catch(() => {});
  return response?.ok && (await response.json().catch(() => {}))?.state;
}

/**
 * What the collector says of a survey, or of the invitation to one that is open. It is told the survey and, where it tells of
 * use, the hash of the invitation. Nothing where it does not answer, or is too old to.
 * @param {{ id: string, access: string, isLive: boolean }} survey @param {Pick<Link, "collector" | "invitation"> & { isVia?: boolean }} link
 *   a place, via which it is asked, passes no question on: it says of itself whether the survey is open
 * @param {{ fetch?: typeof globalThis.fetch, state?: Promise<unknown> }} [options] `state` is what `stateAt` was asked already
 * @returns {Promise<Hindrance | "open" | undefined>}
 */
export async function standingOf(survey, { collector, invitation, isVia }, { fetch: ask, state = stateAt(collector, survey.id, ask) } = {}) {
  let found = await state;
  if (found === "open" && tellsUse(survey) && invitation && !isVia) {
    found = await stateAt(collector, survey.id, ask, "/invitations/state", posted(dumps({ hash: await sha(bytesOf(invitation)) })));
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
 * The way to a collector by a place, which passes on what is asked at it and keeps what is sealed until there is enough.
 * @param {string} place its origin @param {string} collector
 */
export const wayBy = (place, collector) => `${place}/via/${collector.replace(/^https?:\/\//, "")}`;

/** What a collector is asked of a survey begins so. @param {string} collector or a way to it @param {string} survey */
export const addressOf = (collector, survey) => `${collector}/api/v1/surveys/${survey}`;

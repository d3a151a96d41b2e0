//@ts-check
/*
 * The survey: the published document that clients run.
 *
 * Its address is the hash of its bytes, so a link pins wording, options and noise: a collector cannot serve one
 * person a weaker survey. Nobody canonicalises JSON to check an address; clients hash what they received.
 */

import { mechanismFromPublished } from "./mechanisms/index.js";
import { lookOf } from "./look.js";
import { SurveyError } from "./errors.js";
import { readCompletion } from "./completion.js";
import { arrangementOf, orderOf } from "./arrangement.js";
import { digits } from "./randomness.js";
import { demand, isWhole, list, sum } from "./mechanisms/base.js";
import { QUESTION_TYPES, answeredLike } from "./question-types.js";
import { conditionOf } from "./condition.js";
import { GroupMechanism, patternsOf } from "./group.js";
import { dumps } from "./strict-json.js";
import { isHost, isIpv4 } from "./hosts.js";
import { date, distinct, identifier, labels, matching, maybe, nothingElse, oneOf, plain, rises, sorted, taking, text } from "./fields.js";
import { sealedOf } from "./sealed.js";
import { sha, utf8 } from "./sha.js";

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {string} type one of QUESTION_TYPES
 * @property {import("./question-types.js").QuestionType} kind what holds for its type
 * @property {string} text
 * @property {string | null} help what helps to answer it
 * @property {string | null} unit of a number
 * @property {readonly string[]} options of a scale its whole numbers; of a number none, the range is the mechanism's
 * @property {readonly string[]} choices the options that people choose from: all but that a question with a filter does not apply
 * @property {string | null} before what stands before it
 * @property {import("./arrangement.js").Order | null} order the random order in which its options are shown
 * @property {readonly number[]} exclusive boxes beside which nothing else can be ticked
 * @property {import("./condition.js").Condition | null} askIf the filter: on which earlier answers somebody is asked
 * @property {unknown} notApplicable the answer of whoever is not asked, as its mechanism takes it; undefined without a filter
 * @property {number} highest the highest answer, as its mechanism takes it, of whoever is asked
 * @property {import("./mechanisms/base.js").Mechanism} mechanism works on option numbers; of a number on itself
 * @property {"shares" | "mean" | null} goal what the author of a scale wants to know
 * @property {string | null} why why the author chose this mechanism
 * @property {string | null} group the name of the group that shares one epsilon, if it is of one
 * @property {number} epsilon privacy loss of its answer, also to whoever knows the others' true answers
 * @property {object} asked what makes it the same question, under whatever title, id or reason: as it is published
 */

/**
 * @typedef {object} Group Questions that share one epsilon.
 * @property {import("./mechanisms/base.js").Mechanism | null} joint what answers for all of them that are asked, if they do not each for itself
 * @property {any} published
 */

/** @typedef {ReturnType<typeof translate>} View a survey in somebody's language */
/** @typedef {View["questions"][number]} Asked */

/**
 * @typedef {object} Issuer Who signs the tokens of a survey.
 * @property {string} key the public key, a SubjectPublicKeyInfo in hexadecimal
 * @property {string} [url] such as "https://issuer.example"; without one the collector signs
 * @property {string} modulus of the key
 */

/**
 * @typedef {object} Survey
 * @property {string} id first 128 bits of the SHA-256 of the document in lower-case base32
 * @property {string} title
 * @property {string | null} organiser
 * @property {string | null} about
 * @property {string | null} contact whom respondents can ask
 * @property {string | null} sample who was asked, which results show and devices do not
 * @property {string | null} license of the results, which they show and devices do not
 * @property {"steps" | "page"} layout questions one after the other, or all at once
 * @property {string | null} thanks what the author says once a report has been sent
 * @property {Readonly<import("./completion.js").Completion> | null} completion what respondents take back to a panel
 * @property {Readonly<import("./look.js").Look> | null} look the colour and the logo
 * @property {string | null} opens first day (UTC) on which reports are taken, such as "2026-11-20"
 * @property {string | null} closes last day
 * @property {number | null} closesAt with how many reports it closes
 * @property {boolean} isLive whether results change with every report
 * @property {boolean} isListed whether what each device sent is kept, and listed with the results
 * @property {boolean} isPublic whether anyone can read the results
 * @property {number} release how many more replies of a cohort results wait for; 0 where they do not come in lots
 * @property {readonly string[]} cohorts
 * @property {true} [cohortRequired] whether a link without one of them is incomplete
 * @property {readonly Question[]} questions
 * @property {readonly import("./group.js").Unit[]} units what devices draw, keep and pay for: questions that stand alone, and groups
 * @property {() => Promise<readonly import("./group.js").Kept[]>} keyed the units with the keys under which devices remember them:
 *   hashes, which are made when they are wanted, because the first question of a long survey need not wait for them
 * @property {number} epsilon privacy loss of the whole survey: the units' epsilons add up
 * @property {"open" | "invited" | "unlinkable"} access who may be counted: all, or once each whoever has an invitation, which
 *   may be linked to the report while it arrives or never
 * @property {Issuer | null} issuer only where access is unlinkable
 * @property {import("./sealed.js").Sealed | null} sealed the keys to which reports are sealed
 * @property {readonly string[]} places where alone people answer, and what passes reports on: origins of somebody else than the collector
 * @property {import("./arrangement.js").Block | null} arrangement sections, grids and random orders, as published
 * @property {string} document the published text
 */

const FORMAT = 2;
const MAX_BYTES = 256 * 1024;
const MAX_QUESTIONS = 100;
const MAX_COHORTS = 1000;
const MAX_ROWS = 21000;
const MAX_LABEL = 200;
const MAX_TEXT = 4000;
const MAX_UNIT = 40;
const RELEASE = 200;

/**
 * The address of published bytes.
 * @param {Uint8Array<ArrayBuffer>} bytes
 */
export async function address(bytes) {
  const bits = BigInt(`0x${(await sha(bytes)).slice(0, 32)}`) << 2n; // 130 of them, which are 26 digits
  // Base32 has letters first: 0 is "a", as 10 is among digits to base 36; after "z" comes 2.
  return digits(bits, 26, 32).replace(/./g, (each) => {
    const digit = parseInt(each, 32);
    return digits(digit < 26 ? digit + 10 : digit - 24, 1, 36);
  });
}

/**
 * Read a published survey.
 *
 * Strict by reconstruction: every field is checked, then the document is written again in published form, and must
 * come out as it came in. So equal keys, other orders, spaces, fractions, exponents and other escapes are all
 * refused, whatever the browser's JSON parser makes of them.
 *
 * Another format is refused as such. Whatever else goes wrong on the way is one refusal: authors get the reason from
 * `deniable survey check`.
 * @param {Uint8Array<ArrayBuffer>} bytes as received, untouched
 * @param {string} [expectedId] the address under which they were asked for
 * @returns {Promise<Survey>}
 */
export async function parseSurvey(bytes, expectedId) {
  const id = await address(bytes);
  if (expectedId && id !== expectedId) {
    throw new SurveyError(`survey ${expectedId}: got survey ${id}`);
  }
  try {
    return await read(bytes, id);
  } catch (error) {
    // A parser's own message would quote the document.
    throw error instanceof SurveyError ? error : new SurveyError("survey: must be as published");
  }
}

/** @param {Uint8Array<ArrayBuffer>} bytes @param {string} id @returns {Promise<Survey>} */
async function read(bytes, id) {
  demand(bytes.length <= MAX_BYTES);
  const document = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  /** @type {Record<string, unknown>} */
  const known = {};
  const published = JSON.parse(document);
  const take = taking(published, known);
  if (take("deniable") !== FORMAT) throw new SurveyError("survey: must be of format 2: publish it again");
  const fresh = oneOf(take("fresh"), "each wave");
  // Known by its form alone: a survey can name any other one, so a device does nothing with it.
  demand(!maybe(take("revises"), matching, /^[a-z2-7]{26}$/) || !fresh);
  const cohorts = maybe(take("cohorts"), labels, 1, MAX_COHORTS, plain) ?? Object.freeze([]);
  const release = take("release");
  const readers = oneOf(take("readers"), "token");
  const retention = oneOf(take("retention"), "tallies");
  demand(release === undefined || (release !== 200 && isWhole(release, 50, 1e5)));
  const groups = new Map(maybe(take("groups"), groupsOf));
  /** @type {Question[]} */
  const questions = []; // one after the other: filters are about earlier ones
  const mechanisms = {};
  for (const each of list(take("questions"), 1, MAX_QUESTIONS)) questions.push(question(each, mechanisms, groups, questions));
  const units = questions
    .map((first) => (first.group ? questions.filter(({ group }) => group === first.group) : [first]))
    .filter((members, n) => members[0] === questions[n])
    .map((members) => unit(members, groups));
  const issuer = await maybe(take("issuer"), issuerOf);
  const results = oneOf(take("results"), "live", "closed");
  const survey = {
    id,
    title: text(take("title"), MAX_LABEL),
    organiser: maybe(take("organiser"), text, MAX_LABEL),
    about: maybe(take("about"), text, MAX_TEXT),
    contact: maybe(take("contact"), text, MAX_LABEL),
    sample: maybe(take("sample"), text, MAX_LABEL),
    license: maybe(take("license"), text, MAX_LABEL),
    layout: oneOf(take("layout"), "page") ?? "steps",
    thanks: maybe(take("thanks"), text, MAX_TEXT),
    completion: maybe(take("completion"), readCompletion),
    look: maybe(take("look"), lookOf),
    opens: maybe(take("opens"), date),
    closes: maybe(take("closes"), date),
    closesAt: maybe(take("closes_at"), reports),
    cohortRequired: oneOf(take("cohort_required"), cohorts[0] && true),
    isLive: results === "live",
    isListed: !retention,
    isPublic: !readers,
    release: results ? 0 : (release ?? RELEASE),
    cohorts,
    questions: Object.freeze(questions),
    units: Object.freeze(units),
    keyed: () => keysOf(units, questions, id, fresh),
    access: oneOf(take("access"), "invited", "unlinkable") ?? "open",
    issuer,
    sealed: maybe(take("sealed"), sealedOf),
    places: maybe(take("place"), labels, 1, 10, exactOrigin) ?? Object.freeze([]),
    document,
    arrangement: maybe(take("arrangement"), arrangementOf, questions, known["questions"]),
  };
  distinct(questions.map((each) => each.id));
  demand(units.filter(({ members }) => members[1]).length === groups.size);
  demand(sum(questions.map(rowsOf)) * (cohorts.length + 1) <= MAX_ROWS);
  demand((survey.access === "unlinkable") === !!issuer);
  demand(!survey.opens || !survey.closes || survey.closes >= survey.opens);
  demand(survey.sealed ? isCovered(survey) : !survey.places[0]);
  nothingElse(published, known);
  // Only now, when its depth and its numbers are known to be small.
  demand(rises(published) && dumps(published) === document);
  return Object.freeze({
    ...survey,
    epsilon: sum(units.map(({ mechanism }) => mechanism.epsilon)) * (1 + 2 ** -45), // upwards, as in `settle`
  });
}

/** A number of reports. @param {unknown} value @returns {number} */
function reports(value) {
  demand(isWhole(value, 1, 1e7));
  return /** @type {number} */ (value);
}

/**
 * Rows of estimates for one group of people: one for each share, and one for a mean; with a filter also those among the people
 * to whom it applies.
 * @param {Question} question
 */
function rowsOf({ kind, options, choices, mechanism, askIf }) {
  const shares = options.length + (askIf ? choices.length : 0);
  return (mechanism.hasShares ? shares : 0) + (kind.hasLevels || !kind.most ? 1 : 0);
}

/**
 * A public key is a SubjectPublicKeyInfo of RSASSA-PSS with SHA-384, of 2048 bits and the exponent 65537, as RFC 9578 has
 * it. What stands before its modulus is always the same, and known here by its hash.
 * @param {any} published @returns {Promise<Issuer>}
 */
async function issuerOf({ ["key"]: key, ["url"]: url, ...more }) {
  nothingElse(more, {});
  matching(key, /^[0-9a-f]{162}[89a-f][0-9a-f]{510}[13579bdf]0203010001$/);
  maybe(url, origin);
  demand((await address(utf8(key.slice(0, 162)))) === "nk32b3tqjhnaswuhv4zkrt4jba");
  return Object.freeze({ key, url, modulus: key.slice(162, -10) });
}

/** Where devices send invitations, and where people answer: by https, or on this machine, to a host and port that there can be. @param {any} url */
function origin(url) {
  const parts = /^(https?):\/\/([a-z0-9.-]{1,253}|\[[0-9a-f:]+])(?::([1-9]\d{0,4}))?$/;
  const [, scheme, host, port = "0"] = /** @type {string[]} */ (parts.exec(matching(url, parts)));
  demand(+port < 65536 && isHost(host));
  demand(scheme === "https" || ["localhost", "[::1]"].includes(host) || (isIpv4(host) && host.startsWith("127.")));
  return url;
}

/** The same as browsers write it, to be compared with that of a page: an address in its short form, and no usual port. @param {any} url */
function exactOrigin(url) {
  // A name is taken as it is: browsers differ in which Punycode they know.
  demand(!/^http(:.*:80|s:.*:443)$/.test(origin(url)) && (!url.includes("[") || new URL(url).origin === url));
  return url;
}

/** Whether there is a key for each day on which somebody may answer. @param {any} survey */
const isCovered = ({ opens, closes, sealed: { first, keys } }) =>
  (opens ?? first) >= first && closes && Date.parse(closes) < Date.parse(first) + keys.length * 7 * 864e5;

/** Groups by their names. @param {any} named */
function groupsOf(named) {
  /** @type {Map<string | null, Group>} */
  const groups = new Map();
  for (const name of /** @type {string[]} */ (list(Object.keys(named), 1, MAX_QUESTIONS))) {
    const known = {};
    const published = named[name];
    const take = taking(published, known);
    take("draw");
    maybe(take("why"), plain, MAX_TEXT);
    const joint = maybe(take("joint"), mechanismFromPublished);
    nothingElse(published, known);
    groups.set(name, { published, joint });
  }
  return groups;
}

/**
 * A question that stands alone, or a group of them.
 * @param {readonly Question[]} members @param {ReadonlyMap<string | null, Group>} groups @returns {import("./group.js").Unit}
 */
function unit(members, groups) {
  const [first] = members;
  if (!first.group) return Object.freeze({ ...first, members, draw: 1 });
  const { published, joint } = /** @type {Group} */ (groups.get(first.group)); // or it is not there, which throws
  const patterns = joint ? patternsOf(members, joint, published["draw"]) : [];
  const mechanism = new GroupMechanism(members.map((each) => each.mechanism), published["draw"], joint, patterns);
  return Object.freeze({ mechanism, members, draw: mechanism.s, asked: { ...published, why: undefined, questions: members.map(({ asked }) => asked) } });
}

/**
 * @param {any} published @param {Record<string, import("./mechanisms/base.js").Mechanism>} mechanisms those of earlier questions, as
 *   published: of a long survey many are alike, and one value stands for all of them
 * @param {ReadonlyMap<string | null, Group>} groups @param {readonly Question[]} earlier @returns {Question}
 */
function question(published, mechanisms, groups, earlier) {
  const known = {};
  const take = taking(published, known);
  const type = take("type");
  const kind = QUESTION_TYPES.get(type);
  demand(!!kind);
  const { isYesNo, hasLevels } = kind;
  const about = (/** @type {unknown} */ id) => earlier.find((each) => each.id === id);
  const filter = published["ask_if"];
  const askIf = maybe(filter, conditionOf, about);
  const more = askIf ? 1 : 0; // the last option is that it does not apply
  const last = maybe(published["last"], lastOf, kind) ?? [];
  const most = kind.most + (isYesNo ? last.length : 0);
  const named = most ? more : 0; // numbers have no options
  const options = labels(take("options"), (isYesNo ? most : Math.min(most, Math.max(2, last.length + 1))) + named, most + named);
  const choices = Object.freeze(options.slice(0, options.length - named));
  demand(!isYesNo || String(published["options"].slice(0, 2)) === "no,yes"); // as they stand there, which nobody translates
  demand(!hasLevels || areLevels(choices));
  const mechanism = (mechanisms[JSON.stringify(take("mechanism"))] ??= mechanismFromPublished(published["mechanism"]));
  // Where a mean is wanted of whoever is asked, the mechanism has a report for all others.
  demand(!!mechanism.aside === (!!askIf && (!most || published["goal"] === "mean")));
  const like = answeredLike(type, kind, !!(askIf || last[0]) && !mechanism.aside);
  demand(/** @type {typeof import("./mechanisms/base.js").Mechanism} */ (mechanism.constructor).types.split(" ").includes(like));
  demand(!most || (mechanism.lo === 0 && mechanism.hi === options.length - 1));
  const words = text(take("text"), MAX_TEXT);
  const unit = maybe(take("unit"), text, MAX_UNIT);
  demand(!unit || !most);
  // The same question under another title, id or reason is the same question, unless each survey asks anew.
  const asked = { ...known, ["ask_if"]: filter };
  const [id, goal] = [identifier(take("id")), take("goal")];
  const group = maybe(take("group"), identifier);
  demand(!["id", "cohort"].includes(id));
  demand(hasLevels ? ["shares", "mean"].includes(goal) : goal === undefined);
  known["ask_if"] = filter;
  const help = maybe(take("help"), text, MAX_TEXT);
  const before = maybe(take("before"), text, MAX_TEXT);
  const why = maybe(take("why"), plain, MAX_TEXT);
  const order = orderOf(take, choices.length);
  // Without a list of its author's own there is nothing to shuffle, and what stands apart stays behind.
  demand(!order || (!isYesNo && !!most && !hasLevels && order[1] >= last.length));
  take("last");
  nothingElse(published, known);
  return Object.freeze({
    id,
    type,
    kind,
    text: words,
    help,
    unit,
    before,
    options,
    choices,
    order,
    exclusive: last.flatMap((each, n) => (kind.takesSeveral && each !== "other" ? [choices.length - last.length + n] : [])),
    askIf,
    notApplicable: askIf ? (kind.takesSeveral ? [mechanism.hi] : mechanism.hi) : undefined,
    highest: mechanism.hi - more,
    mechanism,
    goal: goal ?? null,
    why,
    group,
    epsilon: (groups.get(group)?.joint ?? mechanism).epsilon,
    asked,
  });
}

/**
 * A survey as people read it: its own texts in the first of their languages that it has.
 *
 * `labels` are what people choose from, `options` what answers are. They differ where a survey is translated, and where
 * a level has a label beside its number: that stands under "und", a language for whoever reads none of the others.
 * @param {Survey} survey @param {readonly string[]} languages
 * @param {import("./messages.js").Messages} m
 */
export function translate(survey, languages, m) {
  const pick = (/** @type {any} */ value) =>
    value?.default === undefined ? value : value[[...languages, "und"].find((each) => Object.hasOwn(value, each)) ?? "default"];
  /** Texts of a published object. @param {any} from @param {string[]} keys @returns {{}} */
  const textsOf = (from, ...keys) => Object.fromEntries(keys.map((key) => [key, pick(from[key]) ?? null]));
  const own = JSON.parse(survey.document);
  const { arrangement, completion, look } = survey;
  return {
    ...survey,
    ...textsOf(own, "title", "organiser", "about", "contact", "thanks"),
    completion: completion && { ...completion, text: completion.text && pick(own["completion"]["text"]) },
    arrangement: arrangement && JSON.parse(JSON.stringify(arrangement), (_, value) => pick(value)),
    look: look && { ...look, logo: look.logo && { ...look.logo, text: pick(own["look"]["logo_text"]) } },
    questions: survey.questions.map((question, n) => {
      const published = own["questions"][n];
      const options = published["options"].map(pick);
      const chosen = options.splice(0, question.choices.length);
      return { ...question, ...textsOf(published, "text", "help", "before", "unit"), labels: [...(question.kind.labels?.(chosen, m) ?? chosen), ...options] };
    }),
  };
}

/** What the last options stand for. @param {any} last @param {import("./question-types.js").QuestionType} kind @returns {string[]} */
function lastOf(last, { last: possible = "" }) {
  demand(last.length > 0 && possible.split(",").filter((each) => last.includes(each)).join() === last.join());
  return last;
}

/** Whole numbers in rising order, each in the only way to write it. @param {any} options */
function areLevels(options) {
  const first = Number(options[0]);
  return isWhole(first, 1 - 1e9, 1e9 - 1) && options.every((/** @type {unknown} */ each, /** @type {number} */ n) => each === String(first + n));
}

/** @param {any} asked what a device remembers */
const keyOf = (asked) => address(utf8(dumps(asked, sorted)));

/**
 * Units with the keys under which devices remember them.
 * @param {readonly import("./group.js").Unit[]} units @param {readonly Question[]} questions all of the survey
 * @param {string} survey its address @param {unknown} fresh whether each survey asks anew
 * @returns {Promise<readonly import("./group.js").Kept[]>}
 */
function keysOf(units, questions, survey, fresh) {
  /**
   * What makes a question the same: with what its filter is about, by its key, because under an id there may stand another one
   * elsewhere. @param {Question} question @returns {Promise<object>}
   */
  const sameness = async ({ asked, askIf }) => {
    const about = questions.filter(({ id }) => askIf?.named.includes(id));
    const keys = about.map(async (each) => [each.id, await keyOf(await sameness(each))]);
    return { ...asked, ["about"]: about[0] && Object.fromEntries(await Promise.all(keys)) };
  };
  return Promise.all(
    units.map(async (unit) => {
      const asked = await Promise.all(unit.members.map(sameness));
      const key = await keyOf({ ...(asked[1] ? { ...unit.asked, questions: asked } : asked[0]), survey: fresh && survey });
      return { ...unit, key, sent: key + (unit.mechanism.second ? survey : "") };
    }),
  );
}

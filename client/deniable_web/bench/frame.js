//@ts-check
/*
 * What the preview does before the respondents' own script runs in its frame: this device has answered nothing yet, or, for
 * the states after Send, has a reply of the first answers. Then the very script of a collector is loaded.
 *
 * Nothing of this runs on a page that people answer.
 */

import { randomize } from "../device.js";
import { ToldMemory } from "../told-memory.js";
import { random } from "../randomness.js";
import { utf8 } from "../sha.js";
import { parseSurvey } from "../survey.js";

/** States in which a reply is on its way when the page opens. */
const AFTER_SEND = ["receipt", "waiting", "late", "refused"];

/** The state and the survey in the address of this page: /as/<state>/s/<survey>. */
const [, , state, , survey] = location.pathname.split("/");

// The page that people open stands in no frame. `parent` is replaceable, as the HTML standard says, and so the page finds itself
// alone, with the ways out that it has there. A page that asks for it sees the frame as an embedding site would make it.
const picked = new URLSearchParams(location.hash.slice(1));
if (!picked.has("framed")) Object.assign(globalThis, { parent: globalThis });

// Light and dark follow the page's own scheme, which follows the system's unless it is set.
document.documentElement.style.colorScheme = picked.get("scheme") ?? "";

/**
 * The first answer that a question allows.
 * @param {import("../survey.js").Question} question
 */
function first({ kind, options, mechanism }) {
  if (kind.takesSeveral) return [];
  if (options.length) return options[0];
  for (let number = 0; ; number = number < 0 ? -number : -number - 1) if (mechanism.takes(number)) return number;
}

/** What lets a reply to a survey count. @param {import("../survey.js").Survey} published @param {string} id */
const credentialOf = ({ access }, id) =>
  access === "open" ? undefined : access === "invited" ? (picked.get("invitation") ?? random(16)) : `0002${id}${"0".repeat(672)}`;

async function prepare() {
  const memory = new ToldMemory();
  await memory.forgetAll()?.catch(() => {}); // each look is one of somebody new
  if (!AFTER_SEND.includes(state)) return;
  const published = await parseSurvey(utf8(document.querySelector("deniable-survey")?.getAttribute("document") ?? ""), survey);
  const answers = Object.fromEntries(published.questions.map((each) => [each.id, first(each)]));
  const cohort = published.cohortRequired ? published.cohorts[0] : null;
  const id = random(16);
  const credential = credentialOf(published, id);
  const collector = `${location.origin}/as/${state}`;
  await memory.once(published, collector, (isKept) => randomize(published, answers, { cohort, credential, id, isKept }));
}

await prepare().catch(() => {}); // such as a survey that devices refuse: its page says so itself
await import(/** @type {any} */ (new URL("/client/deniable.js", location.href).href));

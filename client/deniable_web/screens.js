//@ts-check
/* What people see before and after the questions: each screen a function from what is known to a node. */

import { said } from "./ceiling.js";
import { CLIENT, tellsUse } from "./collector.js";
import { isCohort } from "./device.js";
import { box, button, card, fold, h, heading, oddsBox, own, p, quiet } from "./dom.js";
import { fill } from "./messages.js";
import { oddsOf, plainest, wholeOdds } from "./odds.js";
import { simulator } from "./simulator.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").View} View
 */

/** Terms, and what is to say of each, if anything. @param {[string, string | Node][]} pairs */
const pairs = (pairs) =>
  h("dl", {}, ...pairs.map(([term, text]) => text && h("div", {}, h("dt", {}, term), h("dd", {}, text))));
const code = (/** @type {string} */ text) => h("code", { dir: "ltr" }, text);

/** @param {View} view */
const hasYes = ({ questions }) => questions.some(({ kind }) => kind.isYesNo);

/** What all that is sent can tell. @param {Messages} m @param {View} view */
const whole = (m, view) => wholeOdds(view, m).map((sentence) => quiet(sentence));

/** Something that ends by itself; where it takes long, it says that it goes on. @param {Messages} m */
export function wait(m, text = m.sending) {
  const said = h("p", { role: "status", tabindex: "-1" }, text);
  setTimeout(() => said.append(" ", m.still), 8000);
  return card(said);
}

/** What people read first: how well chance protects them. @param {Messages} m @param {number} weak as in ceiling.js */
export const strength = (m, weak) => p(said(weak, { unsure: m.unsure, hint: m.hint, weak: m.weak }), weak > 1 ? "box bad" : "lead");

/**
 * @param {Messages} m @param {View} view
 * @param {{ cohort: string | null, isSeen: boolean, weak: number, n: number, notes: (string | false)[], start: (event: Event) => void }} how
 *   `isSeen` by the site around it; `n` is how many questions are asked; `weak` as in ceiling.js
 */
export function consent(m, view, { cohort, isSeen, weak, n, notes, start }) {
  const least = plainest(view.questions);
  return card(
    heading(own(view.title)),
    view.organiser && quiet(m.askedBy, " ", own(view.organiser)),
    view.about && p(own(view.about)),
    strength(m, weak),
    p(`${m.process} ${cohort ? fill(m.cohort, { cohort }) : ""} ${view.isLive ? m.live : ""}`),
    quiet(`${m.why} ${hasYes(view) ? said(weak, { noAdmission: m.noAdmission }) : ""}`),
    button(m.start, start),
    quiet(m[view.access]),
    ...notes.map((note) => note && p(note, "box")),
    quiet(`${fill(m.facts, { n })} ${view.issuer ? m.startSends : tellsUse(view) ? m.hashSent : m.nothingYet}`),
    fold(m.who, () =>
      pairs([
        [said(weak, { cannot: m.cannot, guess: m.guess }), m.cannotText],
        [m.can, isSeen ? m.canSite : m.canText],
        [m.invitation, m[`${view.access}Text`]],
      ]),
    ),
    fold(m.odds, () =>
      h("div", {}, view.questions.length > 1 && quiet(m.oddsLeast), oddsBox(m, least.mechanism), ...whole(m, view)),
    ),
    fold(m.tryIt, () => simulator(m, least, said(weak, { quiz: m.quiz }))),
  );
}

/**
 * @param {Messages} m @param {View} view @param {string} report
 * @param {{ title: string, weak: number, link: string, isMine: boolean, next: false | (() => void) }} how
 *   `weak` as the consent said; `isMine` where the report bears the invitation of the link, if there is one
 */
export function receipt(m, view, report, { title, weak, link, isMine, next }) {
  const each = new Set(view.questions.flatMap((question) => oddsOf(question, m)));
  return card(
    heading(title),
    p(m.notKept, "lead"),
    p(said(weak, { weak: m.weak, chance: hasYes(view) ? m.chance : "" })),
    isMine && quiet(m[`${view.access}Used`]),
    ...whole(m, view),
    fold(m.odds, () => box(...[...each].map((sentence) => quiet(sentence)))),
    pairs([
      [m.survey, code(view.id)],
      [m.client, code(`${CLIENT} ${checkedHash()}`)],
    ]),
    fold(m.json, () => h("pre", { class: "box" }, code(report))),
    fold(m.verify, () => h("pre", { class: "box" }, code(`deniable answer --try ${link}`))),
    h("a", { href: `${link}/results` }, m.results),
    next && button(m.next, next),
  );
}

/** The hash that the browser held this script to before it ran it, if the page asked for that. */
const checkedHash = () =>
  [...document.scripts].find(({ src, integrity }) => integrity && src === import.meta.url)?.integrity ?? "";

/**
 * Everything that ends or interrupts: a heading, a sentence, perhaps a way on.
 * @param {Messages} m @param {string} title @param {string | Node} text
 * @param {{ detail?: string, again?: false | (() => void), next?: false | (() => void), way?: string }} [more] `way` is
 *   what the button of `next` says
 */
export const notice = (m, title, text, { detail, again, next, way = m.next } = {}) =>
  card(
    heading(title || m.unreachable), // before there is a catalogue, nothing more can be said
    p(text),
    detail && quiet(detail),
    again && button(m.again, again),
    next && button(way, next),
  );

/**
 * That a report would not count, as the collector says before anybody answers.
 * @param {Messages} m @param {View} view @param {import("./collector.js").Hindrance} why
 */
export const hindered = (m, view, why) =>
  why === "used" ? notice(m, m.usedBefore, m.notAsked)
  : why === "unknown" ? notice(m, m.unknown, m.notAsked)
  : why === "closed" ? notice(m, m.closed, m.closedNow)
  : notice(m, m.early, fill(m.closedText, daysOf(m, view)));

/** The days between which a survey takes answers. @param {Messages} m @param {View} view */
function daysOf(m, view) {
  const [opens, closes] = [view.opens, view.closes].map((day) =>
    day ? new Date(day).toLocaleDateString(m.lang, { dateStyle: "long", timeZone: "UTC" }) : "…",
  );
  return { opens, closes };
}

/**
 * Why nobody can answer here and now, or null.
 * @param {Messages} m @param {View} view @param {string} today as in "2026-11-20"
 * @param {{ cohort: string | null, invitation: string | null }} link @param {() => void} again
 */
export function notOpen(m, view, today, { cohort, invitation }, again) {
  const isEarly = (view.opens ?? "") > today;
  if (isEarly || today > (view.closes ?? today)) {
    return notice(m, isEarly ? m.early : m.closed, fill(m.closedText, daysOf(m, view)));
  }
  const isComplete = isCohort(view, cohort) && (invitation || view.access === "open");
  return isComplete ? null : notice(m, m.unreachable, m.incomplete, { again });
}

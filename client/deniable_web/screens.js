//@ts-check
/* What people see before the questions, and what ends or interrupts: each screen a function from what is known to a node. */

import { said } from "./ceiling.js";
import { isCohort } from "./device.js";
import { logo } from "./dress.js";
import { afterwards, box, button, card, fold, folds, h, heading, item, minor, own, p, pairs, quiet, stack } from "./dom.js";
import { ways } from "./ways.js";
import { chance, clearest, picture } from "./chance.js";
import { tellsUse } from "./collector.js";
import { begin, fill, numbered } from "./messages.js";
import { faq, lasts, listed, sure } from "./faq.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").View} View
 */

/** Questions that people answer in a minute, for the time that a survey takes. */
const PACE = 4;

export const code = (/** @type {string} */ text) => h("code", { dir: "ltr" }, text);

/** Something that ends by itself; where it takes long, it says that it goes on. @param {Messages} m */
export function wait(m, text = m.sending) {
  const said = h("p", { role: "status" }, m.stay);
  setTimeout(() => said.replaceChildren(m.still), 8000);
  return card(picture("sending"), heading(text), said);
}

/** What people read first: how well chance protects them. @param {Messages} m @param {number} weak as in ceiling.js */
export const strength = (m, weak) => p(said(weak, m, "unsure", "hint", "weak"), weak > 1 ? "lead care" : "lead");

/**
 * Whom to ask: a link where the contact is an address of mail or of the web, and nothing where a survey names nobody.
 * @param {Messages} m @param {View} view
 * @param {string} [care] what to mind, which depends on whether somebody has answered
 * @returns {Node | ""}
 */
export function contact(m, { contact }, care = m.contactShows) {
  if (!contact) return "";
  const [before, after] = m.contact.split("{contact}");
  const href = /^[^\s@:/]+@[^\s@:/]+$/.test(contact) ? `mailto:${contact}` : /^https:\/\/\S+$/.test(contact) ? contact : "";
  const who = own(contact, "no");
  return quiet(before, href ? h("a", { href, rel: "noopener noreferrer" }, who) : who, after, ` ${care}`);
}

/**
 * Who asks, who runs the computer, and how to learn more about the second.
 * @param {Messages} m @param {View} view @param {string | null | false} operator the contact that a collector gives on its own pages
 */
const roles = (m, { organiser }, operator) =>
  `${organiser ? fill(m.named, { organiser }) : ""} ${m.roles} ${operator ? fill(m.operatorKnown, { contact: operator }) : m.operatorUnknown}`;

/**
 * @typedef {object} Tracing Where a device can leave no trace.
 * @property {boolean} isOn
 * @property {(isOn: boolean) => void} choose
 */

/**
 * @param {Messages} m @param {View} view
 * @param {{ cohort: string | null, operator: string | null | false, isVia: boolean, isSeen: boolean, weak: number, n: number, picked: string | false, details: Node | "" | false, notes: (string | Node | false)[], start: (event: Event) => void, decline: () => void, kept: () => string, stop: () => string, trace: Tracing | false, canExit: boolean, history: string | false }} how
 *   `operator` is how to reach whoever runs the collector, where its page says so; `isVia` a place, which passes no question on before Start; `isSeen` by the site around it; `n` is how many questions are asked; `picked` says that chance picks them, with the places {n}, {all} and {minutes}, and `details` what follows from that; `weak` as in ceiling.js; `kept` says what stays on the
 *   device, `stop` what becomes of a visit that ends before Send; `history` is the address of the page on what this device has told
 */
export function consent(m, view, { cohort, operator, isVia, isSeen, weak, n, picked, details, notes, start, decline, kept, stop, trace, canExit, history }) {
  const shown = clearest(m, view.questions);
  const minutes = Math.ceil(n / PACE);
  const title = heading(own(view.title));
  const why = said(weak, m, "why", "whyWeak"); // above Start only where it asks to think twice
  if (view.title.length > 50) title.className = "smaller";
  const [stays, stops] = [h("span", {}, kept()), h("span", {}, stop())];
  const choose = (/** @type {boolean} */ isOn) => {
    if (trace) trace.choose(isOn);
    stays.replaceChildren(kept());
    stops.replaceChildren(stop());
  };
  let isStarted = false;
  const go = button(m.start, (event) => ((isStarted = true), start(event)));
  if (weak > 1) go.className = "minor"; // as easy to press as what declines, and no easier
  const on = `${m.noTraceOn} ${view.issuer ? m.answerStopSpent : ""}`;
  const asks = view.issuer ? m.startSends : tellsUse(view) && !isVia ? m.hashSent : "";
  const first = h(
    "div",
    { class: "stack", part: "first" },
    h(
      "header",
      {},
      view.look && logo(view.look),
      view.organiser && h("p", { class: "welcome" }, m.askedBy, "\n", own(view.organiser)),
      title,
      p(numbered(m, picked || m.questionsHere, n, { all: view.questions.length, minutes: numbered(m, m.minutes, minutes) })),
    ),
    view.about && p(own(view.about)),
    h(
      "div",
      { class: weak > 1 ? "box" : "box promise" },
      strength(m, weak),
      p(`${said(weak, m, "process", "processWeak")} ${cohort ? fill(m.cohort, { cohort }) : ""}`),
      weak > 1 && p(why),
    ),
    box(view.isLive && p(m.live), ...notes.map((note) => note && p(note, "note"))), // without a note it is not seen
    h("div", { class: "row begin", part: "begin" }, h("div", { class: "start" }, go), weak > 1 && minor(m.decline, decline)),
    p(m.leave),
  );
  const below = () =>
    isStarted ||
    intro.append(
      h(
        "div",
        { class: "stack", part: "beside" },
        h("ul", { class: "list" }, item(m.nothingYet), weak < 2 && item(why), item(m[view.access]), details),
      ),
      h("div", { part: "contact" }, contact(m, view)),
      chance(m, shown, {
        lesson: weak > 1 ? m.pictureWeak : shown.kind.isYesNo ? said(weak, m, "noAdmission") : "",
        meaning: sure(m, weak),
      }),
      folds(
        fold(m.who, () =>
          pairs([
            [said(weak, m, "cannot", "guess"), `${m.cannotText} ${listed(m, view, weak)}`],
            [m.can, isSeen ? m.canSite : m.canText],
            [m.askRoles, roles(m, view, operator)],
            [m.invitation, view.access === "open" ? "" : `${m[`${view.access}Text`]} ${asks}`],
          ]),
        ),
        (trace || canExit) && fold(m.shared, () => sharing(m, trace && { ...trace, choose, on }, canExit, history)),
        h("h2", {}, m.faq),
        ...faq(m, view, weak, stays, stops, asks),
      ),
    );
  const intro = h("div", { class: "stack", part: "intro" }, first);
  // What stands below Start waits for that. On other sites' pages it does not wait, because their frames take the height of all.
  if (canExit) afterwards(below);
  else below();
  const screen = card(intro);
  if (canExit) screen.part.add("spread"); // on a page of its own it may take the room of two columns
  return screen;
}

/**
 * For people who share a device with somebody whom they fear.
 * @param {Messages} m @param {(Tracing & { on: string }) | false} trace `on` says what holds once that is chosen
 * @param {boolean} canExit @param {string | false} history as for `consent`
 */
function sharing(m, trace, canExit, history) {
  const status = h("p", { role: "status" }, trace && trace.isOn ? trace.on : "");
  const change = (/** @type {Event} */ { target }) => {
    const { checked } = /** @type {HTMLInputElement} */ (target);
    if (!trace) return;
    trace.choose(checked);
    status.replaceChildren(checked ? trace.on : "");
  };
  const tick = h("input", { type: "checkbox", change });
  if (trace) tick.checked = trace.isOn;
  return stack(
    pairs([
      [m.exit, canExit ? m.exitText : ""],
      [m.askKept, trace ? stack(p(m.traceText, "text"), h("label", { part: "option" }, tick, m.noTrace), status) : ""],
    ]),
    toHistory(m, history),
  );
}

/** The way to what this device has told. @param {Messages} m @param {string | false} href */
export const toHistory = (m, href) => href && h("a", { href }, m.historyLink);

/** The way to the page of results. @param {Messages} m @param {string} link of the survey */
export const toResults = (m, link, style = "go") => h("a", { href: `${link}/results`, class: style }, m.results);

/** The hash that the browser held this script to before it ran it, if the page asked for that. */
export const checkedHash = () =>
  [...document.scripts].find(({ src, integrity }) => integrity && src === import.meta.url)?.integrity ?? "";

/**
 * Everything that ends or interrupts: a picture, a heading, a line or a few, perhaps a way on.
 * @param {Messages} m @param {string} title @param {string} text
 * @param {{ name?: string, detail?: string, again?: false | (() => void), next?: false | (() => void), way?: string, more?: Node | "" | false, ask?: Node | "" | false }} [how]
 *   `name` is that of the picture; `detail` is what a program said, for experts; `way` is what the button of `next` says; `ask`
 *   says whom to ask, below what can be pressed, and `more` stands above that
 */
export const notice = (m, title, text, { name = "again", detail, again, next, way = m.next, more, ask } = {}) =>
  card(
    picture(name),
    heading(title || m.unreachable), // before there is a catalogue, nothing more can be said
    ...text.split("\n").map((each, n) => p(each, !n && name === "waiting" ? "lead" : "")),
    more,
    again && button(m.again, again),
    next && button(way, next),
    ask,
    detail && m.experts && fold(m.experts, () => box(quiet(m.machine, ": ", h("span", { dir: "auto", translate: "no" }, detail)))),
  );

/**
 * That a reply would not count, as the collector says before anybody answers, or the days of the survey.
 * @param {Messages} m @param {View} view @param {import("./collector.js").Hindrance} why
 * @param {string | false} link of the survey, where its page of results may be offered
 * @param {boolean} [isByDay] whether its last day is over: then that is said of a survey that is closed
 */
export function hindered(m, view, why, link, isByDay = false) {
  const { opens, closesAt } = view;
  const isClosed = why === "closed";
  const full = closesAt ? fill(m.closedFull, { n: closesAt }) : m.closedNow;
  // What to do comes before what did not happen.
  const opening = () => stack(opens && p(fill(m.opensOn, { opens: begin(m, opens) }), "lead"), p(`${opens ? m.openThen : ""} ${lasts(m, view)}`), p(m.nothingAsked));
  const more = isClosed ? link && view.isPublic && toResults(m, link) : why === "early" && opening();
  const isFull = closesAt && !isByDay;
  const how = { name: isClosed && isFull ? "full" : why, more, ask: contact(m, view) };
  return why === "used" ? notice(m, m.usedBefore, m.usedText, how)
  : why === "unknown" ? notice(m, m.unknown, m.notAsked, how)
  : !isClosed ? notice(m, m.early, m.wanted, how)
  : notice(m, isFull ? m.full : m.closed, `${m.wanted}\n${(isByDay && lasts(m, view, m.ended)) || full} ${m.nothingAsked}`, how);
}

/** What its days say of a survey. @param {View} view @param {string} today as in "2026-11-20" */
export const byDay = ({ opens, closes }, today) => ((opens ?? "") > today ? "early" : today > (closes ?? today) ? "closed" : null);

/** Whether a link has all that its survey asks of it. @param {View} view @param {{ cohort: string | null, invitation: string | null }} place */
export const isWhole = (view, { cohort, invitation }) => isCohort(view, cohort) && !!(invitation || view.access === "open");

/**
 * Why nobody can answer here and now, or null.
 * @param {Messages} m @param {View} view @param {ReturnType<typeof byDay>} standing
 * @param {{ cohort: string | null, invitation: string | null }} place @param {() => void} again @param {string | false} link as for `hindered`
 * @param {boolean} isHome whether the page is the survey's own
 */
export function notOpen(m, view, standing, place, again, link, isHome) {
  if (standing) return hindered(m, view, standing, link, true);
  return isWhole(view, place) ? null : notice(m, m.cut, m.incomplete, { name: "unknown", more: isHome && ways.paste?.(m), again: !isHome && again, ask: contact(m, view) });
}

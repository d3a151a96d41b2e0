//@ts-check
/* What people see once their report has arrived: that it did, what it says, and the way back to a panel. */

import { said } from "./ceiling.js";
import { picture } from "./chance.js";
import { CLIENT } from "./collector.js";
import { completionOf } from "./completion.js";
import { box, button, card, drawing, figures, fold, folds, h, heading, item, linked, minor, own, p, pairs, quiet, stack } from "./dom.js";
import { lasts, results, resultsPage, sure, yesNo } from "./faq.js";
import { fill } from "./messages.js";
import { wholeOdds } from "./odds.js";
import { oddsTable } from "./odds-table.js";
import { checkedHash, code, contact, toHistory, toResults } from "./screens.js";
import { inWords } from "./wording.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").View} View
 */

/**
 * What a reply says of each question, as a list, and below it what to make of that.
 * @param {Messages} m @param {View} view @param {string} report @param {string} note beside what was sent of each
 */
export function sentInWords(m, { questions }, report, note) {
  const { values } = JSON.parse(report);
  let hasSets = false;
  const list = questions.map((each) => {
    const value = values[each.id];
    const lines = inWords(m, each, value);
    hasSets ||= typeof value === "string" && !each.kind.takesSeveral && lines.length > 1;
    const version = h("div", {}, h("ul", { class: "row" }, ...lines.map((line) => item(own(line)))), quiet(note));
    return /** @type {[Node, string | Node]} */ ([own(each.text), value === null ? lines[0] : version]);
  });
  return h("div", { class: "stack said" }, p(m.sentVersion), pairs(list), p(m.inWordsText), hasSets && p(m.sentSeveral));
}

/**
 * How often chance makes what of an answer, for each question, whatever was sent.
 * @param {Messages} m @param {View} view @param {string} [meaning] what that comes to, where it is known how much was told before
 */
export const sentOdds = (m, view, meaning = "") =>
  fold(m.odds, () => {
    const [even, ...more] = wholeOdds(view, m);
    const exactly = (/** @type {number} */ probability) => probability.toLocaleString(m.lang, { maximumFractionDigits: 6, numberingSystem: "latn" });
    const exact = () => stack(oddsTable(m, view.questions, exactly), figures(more));
    return stack(p(meaning), oddsTable(m, view.questions), quiet(`${even} ${m.guessRead}`), fold(m.exact, exact));
  });

/** An envelope that has arrived, for pages without a picture of their own, as on a shared device. */
const arrived = () =>
  drawing(
    "svg",
    { viewBox: "30 0 112 104", width: 152, display: "block", overflow: "visible", "stroke-width": 2.5, "stroke-linejoin": "round", "stroke-linecap": "round", class: "outline", "aria-hidden": true },
    drawing("circle", { fill: "var(--soft)", stroke: "none", cx: 80, cy: 52, r: 50 }),
    drawing("rect", { x: 42, y: 32, width: 76, height: 50, rx: 6, fill: "var(--card)" }),
    drawing("path", { d: "m43 36 37 27 37-27" }),
    drawing("path", { class: "outline other", d: "M34 22v8m-4-4h8M128 20v8m-4-4h8M50 94v6m-3-3h6M140 48v6m-3-3h6" }),
    drawing("circle", { class: "filled", cx: 116, cy: 78, r: 15 }),
    drawing("path", { stroke: "var(--card)", d: "m109 78 5 6 10-12" }),
  );

/**
 * @param {Messages} m @param {View} view @param {string} report
 * @param {{ title: string, weak: number, link: string, isPlace: boolean, place: string | false, isMine: boolean, isNew: boolean, isKept: boolean, isHome: boolean, history: string | false, next: false | (() => void) }} how
 *   `weak` as the consent said; `isHome` where the page is the survey's own, and not part of another; `isMine` where the report bears the invitation of the link, if there is one; `isNew` where it
 *   was sent now; `isKept` where the device still remembers it when the page is closed
 */
export function receipt(m, view, report, { title, weak, link, isPlace, place, isMine, isNew, isKept, isHome, history, next }) {
  const ofChance = yesNo(view)[0] ? said(weak, m, "chance") : "";
  return card(
    isNew ? picture("done", arrived()) : picture("again"),
    heading(title),
    p(isNew ? m.sent : m.sentBeforeText, "lead"),
    // No way out of a shared device: the next person comes first.
    next && p(m.kioskHand),
    next && button(m.next, next),
    view.thanks && h("div", { class: "box promise" }, p(linked(view.thanks))),
    h(
      "ul",
      { class: "checks" },
      ...[next ? m.sentCleared : isKept ? m.sentKept : m.sentForgotten, `${m.mixedIn} ${ofChance}`, isMine && m[`${view.access}Used`]].map((each) => each && item(each)),
    ),
    p(said(weak, m, "weakSent"), "care"),
    place && p(fill(m.passedOn, { place })),
    isNew && view.completion && way(m, view, !next),
    box(p(`${lasts(m, view)} ${results(m, view, "", m.whenBatches, m.whenClosed)}`), isNew && isHome && !view.completion && !next && p(m.mayClose)), // with a code, or a way back, there is one more thing to do
    // No way by a slip from a place to the collector, which would see who comes.
    // Nor an address on a shared device, where nobody can take it along.
    isPlace && !next && quiet(m.resultsElsewhere, " ", code(`${link}/results`)),
    h("div", { class: "row" }, !next && !isPlace && toResults(m, link, "go minor"), isHome && minor(m.print, () => print())),
    contact(m, view, m.contactCare),
    folds(
      fold(m.inWords, () => sentInWords(m, view, report, said(weak, m, "mayBe"))),
      sentOdds(m, view, sure(m, weak)),
      fold(m.askResults, () => p(resultsPage(m, view), "text")),
      fold(m.experts, () =>
        pairs([
          [m.json, stack(block(report), quiet(m.fields, " ", view.access === "open" ? "" : m[`${view.access}Field`]))],
          [m.verify, block(`deniable answer --try ${link}`)],
          [m.survey, block(view.id)],
          [m.client, block(`${CLIENT} ${checkedHash()}`)],
        ]),
      ),
    ),
    toHistory(m, history),
  );
}

/** What is for experts, as it stands. @param {string} text */
const block = (text) => h("pre", { class: "box" }, code(text));

/**
 * The way back to a panel: a code, a link, or both, each opened only by a press, and none made of anything that was sent.
 * @param {Messages} m @param {View} view @param {boolean} mayLeave whether a link may lead there, which from a shared device it may not
 */
function way(m, view, mayLeave) {
  const { text, link, code: given } = /** @type {NonNullable<ReturnType<typeof completionOf>>} */ (completionOf(view));
  if (!given && !mayLeave) return false;
  const isDrawn = !view.completion?.code;
  const shown = h("div", { role: "status", class: "stack" });
  const show = () => shown.replaceChildren(p(fill(m.codeIs, { code: given }), "lead"), quiet(isDrawn ? m.codeDrawn : m.codeSame));
  const go = () => open(/** @type {string} */ (link), "_top"); // panels refuse to stand in a frame
  return box(heading(m.way, "h2"), text && p(own(text)), given && minor(m.wayCode, show), shown, link && mayLeave && button(m.wayLink, go));
}

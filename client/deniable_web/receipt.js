//@ts-check
/* What people see once their report has arrived: that it did, what it says, and the way back to a panel. */

import { said } from "./ceiling.js";
import { picture } from "./chance.js";
import { CLIENT } from "./collector.js";
import { completionOf } from "./completion.js";
import { box, button, card, drawing, figures, fold, folds, h, heading, item, link as textLink, linked, minor, own, p, pairs, quiet, stack } from "./dom.js";
import { leastOdds, results, resultsPage, sure, yesNo } from "./faq.js";
import { fill } from "./messages.js";
import { stillWrong, wholeOdds } from "./odds.js";
import { oddsTable } from "./odds-table.js";
import { checkedHash, code, contact, toHistory, toResults } from "./screens.js";
import { inWords } from "./wording.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").View} View
 */

/**
 * What a reply says of each question, as a list, and above it what to make of that.
 * @param {Messages} m @param {View} view @param {string} report @param {string} note what holds of all that was sent
 */
export function sentInWords(m, { questions }, report, note) {
  const { values } = JSON.parse(report);
  let hasSets = false;
  const list = questions.map((each) => {
    const value = values[each.id];
    const lines = inWords(m, each, value);
    hasSets ||= typeof value === "string" && !each.kind.takesSeveral && lines.length > 1;
    const version = h("ul", { class: "row" }, ...lines.map((line) => item(own(line))));
    return /** @type {[Node, string | Node]} */ ([own(each.text), value === null ? lines[0] : version]);
  });
  return h("div", { class: "stack said" }, p(`${note} ${m.inWordsText}`), p(m.sentVersion), pairs(list), hasSets && p(m.sentSeveral));
}

/**
 * What chance makes of an answer, whatever was sent, at the question where it does the least.
 * @param {Messages} m @param {View} view @param {number} weak as in ceiling.js @param {string} [meaning] what that comes to, where it is known how much was told before
 */
export const sentOdds = (m, view, weak, meaning = "") =>
  fold(m.odds, () => stack(p(meaning), weak < 2 && p(stillWrong(view, m)), leastOdds(m, view.questions)));

/** The exact figures of every question and of all together, for experts. @param {Messages} m @param {View} view */
export function exactOdds(m, view) {
  const [even, ...more] = wholeOdds(view, m);
  return stack(oddsTable(m, view.questions), figures([`${even} ${m.guessRead}`, ...more]));
}

/** An envelope that has arrived, for pages without a picture of their own, as on a shared device. */
const arrived = () =>
  drawing(
    "svg",
    { viewBox: "30 0 112 104", width: 152, display: "block", "stroke-width": 2.5, "stroke-linejoin": "round", "stroke-linecap": "round", overflow: "visible", class: "outline", "aria-hidden": true },
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
  const kept = next ? m.sentCleared : isKept ? m.sentKept : m.sentForgotten;
  // Also for whoever closed the page too early and comes back; another person's invitation has a way of its own.
  const back = (isNew || isMine) && view.completion && way(m, view, !next);
  const ask = contact(m, view, m.contactCare);
  // Made at once, because there is no way out of a shared device, and `show` looks for links.
  const more = stack(
    quiet(isMine && m[`${view.access}Used`]),
    // No way by a slip from a place to the collector, which would see who comes.
    // Nor an address on a shared device, where nobody can take it along.
    isPlace && !next && quiet(m.resultsElsewhere, " ", code(`${link}/results`)),
    folds(
      fold(m.inWords, () => sentInWords(m, view, report, said(weak, m, "mayBe"))),
      sentOdds(m, view, weak, sure(m, weak)),
      fold(m.askResults, () => p(resultsPage(m, view, weak), "text")),
      fold(m.experts, () =>
        stack(quiet(m.expertsWhy), pairs([
          [m.json, stack(block(report), quiet(m.fields, " ", m[`${view.access}Field`]))],
          [m.exact, exactOdds(m, view)],
          [m.verify, block(`deniable answer --try ${link}`)],
          [m.survey, block(view.id)],
          [m.client, block(`${CLIENT} ${checkedHash()}`)],
        ])),
      ),
    ),
    view.thanks && ask,
    toHistory(m, history),
    isHome && textLink(m.print, () => print()), // last: what is printed may be found
  );
  return card(
    isNew ? picture("done", arrived()) : picture("again"),
    heading(title),
    // With a code, or a way back, there is one more thing to do.
    h("p", { class: "lead" }, isNew ? m.sent : back ? m.stepLeft : m.sentBeforeText, " ", isNew && isHome && !view.completion && m.mayClose),
    // No way out of a shared device: the next person comes first.
    next && p(m.kioskHand),
    next && button(m.next, next),
    back,
    p(said(weak, m, "weakSent"), "care"),
    view.thanks && h("div", { class: "box promise" }, p(linked(view.thanks))),
    p(`${kept} ${ofChance || m.mixedIn}`),
    place && p(fill(m.passedOn, { place })),
    p(results(m, view, "", m.whenBatches, m.whenClosed)),
    !next && !isPlace && view.isPublic && h("div", { class: "row ways" }, toResults(m, link, "go minor")),
    !view.thanks && ask,
    folds(h("details", {}, h("summary", {}, m.reply), more)),
  );
}

/** What is for experts, as it stands, in lines that end behind commas where they may. @param {string} text */
const block = (text) => h("pre", { class: "quiet box" }, h("code", { dir: "ltr" }, ...text.split(/(?<=,)/).flatMap((each) => [each, h("wbr", {})])));

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
  // In the place of all, because panels refuse to stand in a frame; and they need not hear which page it was.
  const go = () => open(/** @type {string} */ (link), "_top", "noreferrer");
  return box(heading(m.way, "h2"), text && p(own(text)), given && minor(m.wayCode, show), shown, link && mayLeave && button(m.wayLink, go));
}

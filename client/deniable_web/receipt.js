//@ts-check
/* What people see once their report has arrived: that it did, what it says, and the way back to a panel. */

import { said } from "./ceiling.js";
import { picture } from "./chance.js";
import { CLIENT } from "./collector.js";
import { completionOf } from "./completion.js";
import { box, button, card, figures, fold, h, heading, minor, own, p, pairs, quiet, stack } from "./dom.js";
import { lasts, results, yesNo } from "./faq.js";
import { fill } from "./messages.js";
import { oddsOf, wholeOdds } from "./odds.js";
import { checkedHash, code, contact, toHistory, toResults } from "./screens.js";
import { inWords } from "./wording.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").View} View
 */

/**
 * What a reply says of each question, as a list.
 * @param {Messages} m @param {View} view @param {string} report
 */
export function sentInWords(m, { questions }, report) {
  const { values } = JSON.parse(report);
  const list = pairs(questions.map((each) => [own(each.text), own(inWords(m, each, values[each.id]).join("\n"))]));
  return h("div", { class: "stack said" }, p(m.inWordsText), list);
}

/** How often chance makes what of an answer, for each question, whatever was sent. @param {Messages} m @param {View} view */
export const sentOdds = (m, view) =>
  fold(m.odds, () => stack(pairs(view.questions.map((each) => [own(each.text), oddsOf(each, m).join(" ")])), figures(wholeOdds(view, m))));

/**
 * @param {Messages} m @param {View} view @param {string} report
 * @param {{ title: string, weak: number, link: string, isPlace: boolean, place: string | false, isMine: boolean, isNew: boolean, isHome: boolean, history: string | false, next: false | (() => void) }} how
 *   `weak` as the consent said; `isHome` where the page is the survey's own, and not part of another; `isMine` where the report bears the invitation of the link, if there is one; `isNew` where it
 *   was sent now
 */
export function receipt(m, view, report, { title, weak, link, isPlace, place, isMine, isNew, isHome, history, next }) {
  const ofChance = yesNo(view)[0] ? said(weak, m, "chance") : "";
  const when = results(m, view, "", m.whenBatches, m.whenClosed);
  return card(
    picture(isNew ? "done" : "again"),
    heading(title),
    view.thanks && p(own(view.thanks)),
    h(
      "ul",
      { class: "checks" },
      ...[isNew && m.sent, m.notKept, `${m.mixedIn} ${ofChance}`, isMine && m[`${view.access}Used`]].map((each) => each && h("li", {}, each)),
    ),
    p(said(weak, m, "weakSent"), "care"),
    place && p(fill(m.passedOn, { place })),
    isNew && view.completion && way(m, view, !next),
    box(p(`${lasts(m, view)} ${when} ${isNew && isHome && !view.completion && !next ? m.mayClose : ""}`)), // with a code, or a way back, there is one more thing to do
    (next || isPlace) && quiet(isPlace ? m.resultsElsewhere : m.resultsAt, " ", code(`${link}/results`)),
    // No way out of a shared device, and none by a slip from a place to the collector, which would see who comes.
    next && p(m.kioskHand),
    h("div", { class: "row" }, !next && !isPlace && toResults(m, link, "go minor"), next && button(m.next, next), isHome && minor(m.print, () => print())),
    contact(m, view, "", m.contactCare),
    h(
      "div",
      { class: "folds" },
      fold(m.inWords, () => sentInWords(m, view, report)),
      sentOdds(m, view),
      fold(m.askResults, () => p(results(m, view))),
      fold(m.experts, () =>
        pairs([
          [m.json, stack(h("pre", { class: "box" }, code(report)), quiet(m.fields, " ", view.access === "open" ? "" : m[`${view.access}Field`]))],
          [m.verify, h("pre", { class: "box" }, code(`deniable answer --try ${link}`))],
          [m.survey, code(view.id)],
          [m.client, code(`${CLIENT} ${checkedHash()}`)],
        ]),
      ),
    ),
    toHistory(m, history),
  );
}

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

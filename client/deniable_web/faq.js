//@ts-check
/* Questions that people ask before they start, each in their words and with a direct answer, which opens with one press. */

import { said } from "./ceiling.js";
import { box, fold, h, minor, own, p, pairs, quiet, stack } from "./dom.js";
import { end, fill } from "./messages.js";
import { oddsOf, of100, plainest, stillWrong, wholeOdds } from "./odds.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").View} View
 */

/** The yes-no questions. @param {View} view */
export const yesNo = ({ questions }) => questions.filter(({ kind }) => kind.isYesNo);

/** What a reply comes to for whoever sends it, before any figure. @param {Messages} m @param {number} weak as in ceiling.js */
export const sure = (m, weak) => said(weak, m, "answerSure", "answerSureHint", "answerSureWeak");

/**
 * When results change, in one of three sentences.
 * @param {Messages} m @param {View} view
 */
export const results = (m, view, live = m.resultsLive, batches = m.resultsBatches, closed = m.resultsClosed) =>
  view.isLive ? live : view.release ? fill(batches, { n: view.release, group: view.cohorts[0] ? m.ofGroup : "" }) : closed;

/** What the page of results lists, where it has more than totals. @param {Messages} m @param {View} view @param {number} weak as in ceiling.js */
export const listed = (m, { isListed }, weak) => (isListed ? said(weak, m, "resultsList", "resultsListWeak") : "");

/** When results come, and then what their page shows to whom. @param {Messages} m @param {View} view @param {number} weak as in ceiling.js */
export const resultsPage = (m, view, weak) =>
  `${results(m, view)} ${lasts(m, view)}\n\n${listed(m, view, weak) || m.resultsTotals} ${view.isPublic ? m.resultsPublic : m.resultsToken}`;

/** Until when a survey takes replies, if it says so. @param {Messages} m @param {View} view */
export const lasts = (m, { closes }, text = m.lasts) => (closes ? fill(text, { closes: end(m, closes) }) : "");

/** The odds of the question where chance does the least. @param {Messages} m @param {View["questions"]} questions */
export function leastOdds(m, questions) {
  const least = plainest(questions);
  return stack(questions[1] && quiet(m.oddsLeast), pairs([[own(least.text), oddsOf(least, m).join(" ")]]));
}

/**
 * Each question as something to open, of which one is open at a time.
 * @param {Messages} m @param {View} view
 * @param {number} weak as in ceiling.js @param {Node} kept what stays on the device @param {Node} stop what becomes of a visit that ends before Send
 * @param {string} asks what the server hears before Send, where an invitation is checked
 */
export function faq(m, view, weak, kept, stop, asks) {
  const { questions, access } = view;
  const least = plainest(questions);
  const coins = yesNo(view);
  const [coin] = coins.length ? [plainest(coins)] : [];
  const q = of100(coin?.mechanism.support?.[1].ifOther ?? 0);
  const [even, ten, all] = wholeOdds(view, m);
  const figures = () =>
    stack(quiet(`${even} ${m.guessRead}`), leastOdds(m, questions), quiet(all));
  const where = said(weak, m, "answerResults", "answerResultsWeak");
  const sent = said(weak, m, "answerSent", "answerSentWeak");
  /** @type {[string, string | Node][]} */
  const asked = [
    [m.askEmployer, said(weak, m, "answerEmployer", "answerEmployerWeak")],
    [m.askSent, `${sent} ${oddsOf(least, m).join(" ")}`],
    [m.askYes, coin ? stack(p(fill(said(weak, m, "answerYes", "answerYesWeak"), { q })), least.kind.isYesNo && said(weak, m, "quiz") && quiz(m)) : ""],
    [m.askSure, stack(p(`${sure(m, weak)} ${weak < 2 ? stillWrong(view, m) : ""}`), p(ten), fold(m.exact, figures))],
    [m.askHonest, said(weak, m, "answerHonest", "answerHonestWeak")],
    [m.askInvitation, access === "open" ? "" : `${m[`${access}Text`]} ${asks}`],
    [m.askAddress, m.answerAddress],
    [m.askStop, stop],
    [m.askBack, m.answerBack],
    [m.askKept, kept],
    [m.askResults, `${resultsPage(m, view, weak)} ${where}`],
  ];
  return asked.map(([question, answer]) => answer && fold(question, () => h("div", { class: "text" }, answer), "faq"));
}

/** Whether somebody took in what a reply means. It stays here: it is asked for the reader's sake. @param {Messages} m */
function quiz(m) {
  const said = h("p", { "aria-live": "polite", class: "quiet" });
  const choices = [[m.quizSure, m.quizWrong], [m.quizMaybe, m.quizRight]].map(([label, reply]) =>
    minor(label, () => said.replaceChildren(reply)),
  );
  return box(p(m.quiz), h("div", { class: "row" }, ...choices), said);
}

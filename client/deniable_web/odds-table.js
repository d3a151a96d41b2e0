//@ts-check
/* For experts, how often chance leaves an answer as it is: a row for each question, in two figures, or in a sentence where two do not say it. */

import { h, own } from "./dom.js";
import { oddsOf } from "./odds.js";

/** @typedef {import("./messages.js").Messages} Messages */
/** @typedef {import("./survey.js").Asked} Asked */

/**
 * The probabilities that a true answer is sent, and any other one: where they are the same whatever the answer, and a person
 * gives one answer, of which every wave sends what this one does.
 * @param {Asked} question
 */
function pairOf({ kind, mechanism: { hasShares, support: [first, ...more] = [], second } }) {
  const isAlike = hasShares && !kind.takesSeveral && !second && more.every(({ ifTrue }) => ifTrue === first.ifTrue);
  return isAlike && first ? [first.ifTrue, first.ifOther] : undefined;
}

/** @param {Messages} m @param {readonly Asked[]} questions */
export function oddsTable(m, questions) {
  const say = (/** @type {number} */ probability) => probability.toLocaleString(m.lang, { maximumFractionDigits: 6, numberingSystem: "latn" });
  const rows = questions.map((question) => {
    const said = pairOf(question)?.map((each) => h("td", {}, say(each)));
    return h("tr", {}, h("th", { scope: "row" }, own(question.text)), ...(said ?? [h("td", { colspan: 2 }, oddsOf(question, m).join(" "))]));
  });
  const heads = [m.oddsTrue, m.oddsOther].map((text) => h("th", { scope: "col" }, text));
  return h("table", {}, questions.some(pairOf) && h("tr", { class: "quiet" }, h("td", {}, m.oftenOf), ...heads), ...rows);
}

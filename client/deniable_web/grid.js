//@ts-check
/*
 * What comes up together, a stop: one question, or the rows of a grid.
 *
 * A grid is a table for the eye alone. Each row is a group of radio buttons with labels of its own, so that screen readers, keys
 * and narrow screens have the same as elsewhere; where there is room, the style sheet puts the buttons into columns.
 */

import { ask } from "./ask.js";
import { h, own, p } from "./dom.js";

/** @typedef {import("./arrangement.js").Shown} Shown */
/** @typedef {ReturnType<typeof together>} Stop */
/** @typedef {Omit<import("./survey.js").View, "questions"> & { questions: Shown[], stops: Shown[][] }} Drawn a survey in the order of a visit */

/** Questions by stops: more than seven columns are too narrow. @param {readonly Shown[]} questions */
export function stopsOf(questions) {
  /** @type {Shown[][]} */
  const stops = [];
  questions.forEach((each, n) => {
    const { grid, choices } = each;
    if (grid && grid === questions[n - 1]?.grid && choices.length < 8) stops[stops.length - 1].push(each);
    else stops.push([each]);
  });
  return stops;
}

/**
 * Ask the questions of a stop.
 * @param {import("./messages.js").Messages} m @param {readonly Shown[]} questions @param {Parameters<typeof ask>[2]} how
 */
export function together(m, questions, how) {
  const [first] = questions;
  const isGrid = questions.length > 1;
  const { section, text, grid } = first;
  const id = isGrid ? `grid-${first.id}` : first.id; // what stands above the rows is not that of the first one
  /** What stands before a section, where it begins. */
  const { heading, text: words } = section ?? {};
  const intro = heading || words ? h("div", { class: "stack", id: `said-${id}` }, heading && h("h2", {}, own(heading)), words && p(own(words))) : undefined;
  const end = text.lastIndexOf("\n");
  // A row that stands alone is the question: what the grid says stands above it, smaller.
  const stem = grid && !isGrid ? text.slice(0, end) : "";
  const card = ask(m, isGrid ? { ...first, id, text: text.slice(0, end) } : first, { ...how, stem });
  /** Answers by the ids of questions. @type {() => [string, unknown][]} */
  const given = () => [[id, card.answer()]];
  if (!isGrid) return { ...card, section, intro, given };
  const rows = questions.map((each, n) => {
    // That one can stop is said once.
    const asked = ask(n ? { ...m, gap: "" } : m, { ...each, kind: { ...each.kind, isRow: undefined, hasStars: undefined }, text: each.text.slice(end + 1), help: null, before: null }, { isStep: how?.isStep, hasOdds: false }); // the grid says them for all rows
    asked.set.className = asked.set.part = "";
    return asked;
  });
  // The card of one question, with rows in the place of its options.
  card.set.classList.add("grid");
  const columns = h("div", { class: "columns quiet", "aria-hidden": true }, ...first.choices.map((_, n) => own(first.labels[n])));
  card.set.querySelector(".choices")?.replaceWith(columns, ...rows.map(({ set }) => set));
  const lacking = () => rows.find(({ answer }) => answer() === undefined);
  return {
    ...card,
    section,
    intro,
    /** @type {typeof given} */
    given: () => rows.map((each, n) => [questions[n].id, each.answer()]),
    answer: () => !lacking() || undefined,
    words: () => [rows.map(({ title, words }) => `${title} ${words()[0]}`).join("\n"), rows.map(({ words }) => words()[1]).find(Boolean)],
    check: () => rows.map(({ check }) => check()).includes(true),
    focus: () => (lacking() ?? rows[0]).focus(),
    press: () => {}, // a digit does not say for which row
  };
}

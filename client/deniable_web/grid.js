//@ts-check
/*
 * What comes up together: one question, or the rows of a grid; and what stands before a section.
 *
 * A grid is a table for the eye alone. Each row is a group of radio buttons with labels of its own, so that screen readers, keys
 * and narrow screens have the same as elsewhere; where there is room, style sheets put the buttons into columns.
 */

import { ask } from "./ask.js";
import { h, own, p } from "./dom.js";

/** @typedef {import("./arrangement.js").Shown} Shown */
/** @typedef {ReturnType<typeof together>} Stop */
/** @typedef {import("./ask.js").Asked} Asked */

/** More columns than this are too narrow to be read. */
const COLUMNS = 7;

/**
 * The places of the questions that come up together. @param {readonly Shown[]} questions
 * @param {boolean} isWide whether rows stand below each other; else each question comes up by itself
 */
export function stopsOf(questions, isWide) {
  /** @type {number[][]} */
  const stops = [];
  questions.forEach(({ grid, choices }, n) => {
    if (isWide && grid && grid === questions[n - 1]?.grid && choices.length <= COLUMNS) stops[stops.length - 1].push(n);
    else stops.push([n]);
  });
  return stops;
}

/**
 * A question as a row: with its item for a text, and without what the grid says for all rows.
 * @param {import("./messages.js").Messages} m @param {Shown} question @param {boolean} [isStep]
 */
function rowOf(m, question, isStep) {
  const kind = { ...question.kind, isRow: undefined, hasStars: undefined };
  const asked = ask(m, { ...question, kind, text: question.text.replace(/^[^]*\n/, ""), help: null }, { isStep });
  asked.set.className = "";
  asked.set.lastChild?.remove();
  return { ...asked, title: question.text };
}

/**
 * Ask questions that come up together.
 * @param {import("./messages.js").Messages} m @param {readonly Shown[]} questions @param {{ number?: string, position?: string, isStep?: boolean }} how
 */
export function together(m, questions, how) {
  const [first] = questions;
  const { id, section, text, labels, choices } = first;
  /** @type {readonly Asked[]} */
  let asked = [ask(m, first, how)];
  let [{ set, at }] = asked;
  if (questions[1]) {
    asked = questions.map((each) => rowOf(m, each, how.isStep));
    // The card of one question, with rows in the place of its options.
    set.classList.add("grid");
    set.querySelector("legend .text")?.replaceChildren((how.number ?? "") + text.replace(/\n[^\n]*$/, ""));
    const columns = h("div", { class: "columns quiet", "aria-hidden": true }, ...labels.slice(0, choices.length).map((each) => own(each)));
    set.querySelector(".choices, .rated")?.replaceWith(columns, ...asked.map((each) => each.set));
  }
  return {
    asked,
    set,
    section,
    at,
    /** What stands before a section, where it begins. */
    intro: section && h("div", { class: "stack", id: `said-${id}` }, section.heading && h("h2", {}, own(section.heading)), section.text && p(own(section.text))),

    /** To the whole: screen readers say its position and its text, once. */
    begin: () => set.focus(),

    /** The first of them that has no answer; each says so itself. */
    lacking: () => asked.filter((each) => each.check())[0],

    /** Choose by a digit, in a grid in the row that has the focus. @param {string} key */
    press: (key) => (asked[1] ? asked.find((each) => each.set.matches(":focus-within")) : asked[0])?.press(key),
  };
}

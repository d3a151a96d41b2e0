//@ts-check
/*
 * What comes up together: one question, or the rows of a grid; and what stands before a section.
 *
 * A grid is a table for the eye alone. Each row is a group of radio buttons with labels of its own, so that screen readers, keys
 * and narrow screens have the same as elsewhere; where there is room, style sheets put the buttons into columns.
 */

import { ask, odds } from "./ask.js";
import { h, own, p, quiet } from "./dom.js";

/** @typedef {import("./arrangement.js").Shown} Shown */
/** @typedef {ReturnType<typeof together>} Stop */

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
 * Ask questions that come up together.
 * @param {import("./messages.js").Messages} m @param {readonly Shown[]} questions @param {Parameters<typeof ask>[2]} how
 */
export function together(m, questions, how) {
  const [{ id, section, text, help, labels, choices, mechanism }] = questions;
  const isGrid = questions.length > 1;
  const asked = questions.map((each) => ask(m, each, isGrid ? { isRow: true } : how));
  const { position, number = "", isStep } = how ?? {};
  const place = h("span", { class: "quiet position" });
  const stem = text.slice(0, text.lastIndexOf("\n"));
  const set = !isGrid
    ? asked[0].set
    : h(
        "fieldset",
        { class: "card grid", part: "card question", "aria-describedby": `said-${id} help-${id}`, ...(isStep && { tabindex: "-1" }) },
        h("legend", { part: "question-text" }, place, own(number + stem)),
        h("div", { id: `help-${id}` }, help && quiet(own(help))),
        h("div", { class: "columns quiet", "aria-hidden": true }, ...labels.slice(0, choices.length).map((each) => own(each))),
        ...asked.map((each) => each.set),
        odds(m, mechanism),
      );
  const at = isGrid ? (/** @type {string} */ said) => place.replaceChildren(said) : asked[0].at;
  at(position ?? "");
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
    press: (key) => asked.find((each) => !isGrid || each.set.matches(":focus-within"))?.press(key),
  };
}

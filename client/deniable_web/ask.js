//@ts-check
/* One question: native inputs, what is wrong with an answer, and a way to find one of many options. */

import { drawing, figures, fold, h, own, p, quiet } from "./dom.js";
import { oddsOf } from "./odds.js";
import { fill, numbered } from "./messages.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").Asked} Question
 * @typedef {ReturnType<typeof ask>} Asked
 */

/** More options than this get a field to look for one. */
const LONG = 12;
/** A glass to look through, in a square of 20 units. */
const GLASS = "M13 13l5 5M8 2a6 6 0 1 0 0 12a6 6 0 0 0 0-12";
/** A star of five points in a square of 24 units. */
const STAR = "M12 2.6L14.8 8.7L21.5 9.5L16.6 14.1L17.9 20.7L12 17.4L6.1 20.7L7.4 14.1L2.5 9.5L9.2 8.7z";

/** A text as people look for it: without accents, marks of vowels, and capitals. */
const plain = (/** @type {any} */ text) =>
  text.normalize("NFKD").replace(/[\p{M}]/gu, "").trim().replace(/\s+/g, " ").toUpperCase(); // ß is SS there

/** A level, and what its author says of it: they stand in one label. @param {string} label */
function partsOf(label) {
  const [level, ...more] = label.split(" – ");
  return { level, end: more.join(" – ") };
}

/**
 * How much room the levels of a scale need side by side, by their number and digits: "short" fits every phone, "wide" most of
 * them, "wider" a desktop. Where there is less room they stand upright, so that the middle is always in the middle.
 * @param {readonly string[]} levels
 */
function widthOf(levels) {
  const room = levels.length * (2 + Math.max(...levels.map(({ length }) => length)));
  return room <= 21 ? "short" : room <= 44 ? "wide" : "wider";
}

/**
 * One question. Options carry numbers, so markup alone can send nothing.
 * @param {Messages} m @param {Question} question
 * @param {{ number?: string, position?: string, isStep?: boolean, stem?: string, hasOdds?: boolean }} [how] `number` is said before its text; `isStep` where it is
 *   alone on the screen: then what is wrong is said beside it alone, and `position` says where it stands among others; `stem` is what
 *   its text begins with where that is the text of a grid, of which it is one row; `hasOdds` unless they stand elsewhere
 */
export function ask(
  m,
  { id, kind, text, help, before, unit, options: written, choices: options, labels: all, exclusive, mechanism, highest: hi },
  { number = "", position = "", isStep = false, stem = "", hasOdds = true } = {},
) {
  const { lo } = mechanism;
  const labels = all.slice(0, options.length); // without that it does not apply, which nobody chooses
  const { takesSeveral, isRow, hasStars, hasLevels } = kind;
  const isNumber = !kind.most;
  const isLong = options.length > LONG && !isRow; // where the ends of a scale are is plain
  const isCells = isRow && options.length > LONG;
  const isLine = hasStars || (isRow && !isCells);
  const title = number + text;
  const note = h("p", { class: "missing", ...(isStep && { role: "alert" }) });
  // What does not stand on the screen is not said.
  const described = { "aria-describedby": `said-${id} before-${id} about-${id} unit-${id}` };
  const inputs = isNumber
    ? [
        h("input", {
          type: "number",
          name: id,
          inputmode: lo < 0 ? "text" : "numeric", // some keypads for numbers have no minus
          min: lo,
          max: hi,
          "aria-label": title,
          part: "number",
          wheel: ({ target }) => target.blur(), // browsers would change a number that has the focus, where somebody scrolls
          ...described,
        }),
      ]
    : options.map((_, n) => h("input", { type: takesSeveral ? "checkbox" : "radio", name: id, value: written.indexOf(options[n]) }));
  for (const input of inputs) input.required = !takesSeveral; // none is an answer too
  const row = (/** @type {HTMLInputElement} */ input, /** @type {number} */ n) => {
    if (!isLine) return h("label", { part: "option" }, input, own(labels[n]));
    // Side by side boxes are equal, so that none looks larger: what is said of the ends stands below them, and is read out with
    // the level that it belongs to.
    const { level, end } = partsOf(labels[n]);
    input.setAttribute("aria-label", labels[n]);
    const face = hasStars ? drawing("svg", { viewBox: "0 0 24 24", class: "star" }, drawing("path", { d: STAR })) : h("span", { class: "level" }, own(level));
    return h("label", { part: "option" }, input, face, end && h("span", { class: "end" }, own(end)));
  };
  const rows = isNumber ? inputs : inputs.map(row);
  const shown = unit ? [h("div", { class: "row" }, ...rows, h("span", { id: `unit-${id}` }, own(unit)))] : rows;
  const chosen = () => inputs.flatMap((input, n) => (input.checked ? [n] : []));

  // Where every level says what it means, they stand upright.
  const shape = hasStars ? "line stars" : isLine ? `line ${labels[2] && partsOf(labels[1]).end ? "" : widthOf(options)}` : isCells ? "cells" : isLong ? "long" : "";
  const list = h("div", { class: `options ${shape}`, part: shape }, ...shown);
  const [first, last] = [0, labels.length - 1].map((n) => (isLine && partsOf(labels[n]).end) || (hasStars ? labels[n] : ""));
  const ends = (first || last) && h("p", { class: "ends quiet", "aria-hidden": true }, own(first), own(last));
  /** What a level between the ends of a scale is read by: without them it says nothing. @param {number[]} chosen */
  const endsFor = ([n]) => first && !hasStars && !partsOf(labels[n]).end && `${labels[0]} … ${labels.at(-1)}`;
  const place = h("span", { class: "quiet position" }, position, " ");
  const above = number + stem;
  const legend = h("legend", { part: "question-text" }, position && place, stem && h("span", { class: "quiet stem" }, own(above), " "), own(title.slice(stem ? above.length + 1 : 0)));
  /** Beside some boxes nothing else is ticked. @param {Event} event */
  const input = ({ target }) => {
    const isAlone = (/** @type {any} */ each) => exclusive.includes(+each.value);
    if (takesSeveral) inputs.forEach((each) => each !== target && (isAlone(each) || isAlone(target)) && (each.checked = false));
    if (note.textContent) asked.check();
  };
  const set = h(
    "fieldset",
    {
      class: "card",
      part: isStep ? "card question step" : "card question",
      input,
      ...(!isNumber && described),
      ...(isStep && { tabindex: "-1" }),
    },
    before && h("div", { id: `before-${id}` }, p(own(before))),
    legend,
    h("div", { id: `about-${id}` }, help && quiet(own(help)), quiet(fill(takesSeveral ? (exclusive[0] ? m.ticksOrNone : m.ticks) : isNumber ? m.range : "", { lo, hi })), note),
    isLong && finder(m, list, rows, inputs),
    h("div", { class: "choices" }, list, ends),
    hasOdds && fold(m.odds, () => figures(oddsOf({ mechanism }, m))),
  );

  /** What is said to be wrong. */
  let said = "";
  /** What somebody has to mend, or nothing. */
  const problem = () => {
    if (asked.answer() !== undefined) return "";
    const n = inputs[0].valueAsNumber;
    const sentence = !isNumber ? m.missing : Number.isNaN(n) ? m.missingNumber : n > hi ? m.tooLarge : n < lo ? m.tooSmall : m.notWhole;
    const of = (/** @type {number} */ bound) => [bound, unit].join(" ").trim();
    return fill(isStep ? `${sentence}\n${m.gap}` : sentence, { lo: of(lo), hi: of(hi) }); // a page says once, above, that one can stop
  };

  const asked = {
    title,
    number,
    set,

    /** Say where it stands, which may depend on answers before. @param {string} position */
    at: (position) => place.replaceChildren(position, " "),

    /** To the first option that is shown, or to the field that hides them all. */
    focus: () => (inputs.find((_, n) => !rows[n].hidden) ?? set.querySelector("input"))?.focus(),

    /** To the question as a whole: screen readers say its position and its text, once. */
    begin: () => set.focus(),

    /** What somebody gave as an answer, undefined where that is not an answer yet. */
    answer() {
      const number = inputs[0].valueAsNumber; // an empty field is NaN, not 0
      if (isNumber) return mechanism.takes(number) && number <= hi ? number : undefined;
      const given = chosen().map((n) => options[n]);
      return takesSeveral ? given : given[0];
    },

    /** The same in the words that somebody chose from, and the ends of a scale if they do not say them. */
    words: () => (isNumber ? [[inputs[0].valueAsNumber, unit].join(" ").trim()] : [chosen().map((n) => labels[n]).join(" · ") || m.none, endsFor(chosen())]),

    /** Whether it has no answer, which its own place says until it has one. */
    check() {
      const text = problem();
      const [wrong] = text.split("\n");
      if (said !== text) note.replaceChildren(text && h("b", {}, wrong), text.slice(wrong.length).replaceAll("\n", " "));
      said = text;
      if (isNumber) inputs[0].setAttribute("aria-invalid", /** @type {any} */ (!!text));
      return !!text;
    },

    /** Choose by a digit: a level of that name, or else the option in that place. @param {string} key */
    press(key) {
      const n = hasLevels ? options.indexOf(key) : Number(key) - 1;
      const input = isNumber ? undefined : inputs[n];
      if (!input || rows[n].hidden) return;
      input.focus();
      input.click();
    },
  };
  return asked;
}

/**
 * Of many options, show those that hold what somebody looks for, and what is chosen.
 * @param {Messages} m @param {HTMLElement} list what scrolls @param {HTMLElement[]} rows @param {HTMLInputElement[]} inputs
 */
function finder(m, list, rows, inputs) {
  const found = h("p", { role: "status", class: "quiet" });
  const narrow = () => {
    const words = plain(search.value);
    const shown = rows.filter((row, n) => !(row.hidden = !inputs[n].checked && !plain(row.textContent).includes(words)));
    const [n, all] = [shown.length, rows.length];
    found.textContent = numbered(m, n < all ? m.found : m.foundAll, n, { all });
    list.scrollTop = 0;
  };
  const search = h("input", {
    type: "search",
    "aria-label": m.find,
    spellcheck: "false",
    input: narrow,
    keydown: (event) => event.key === "Enter" && event.preventDefault(), // it sends no form
  });
  narrow();
  return h("div", { class: "options" }, quiet(m.find), h("div", { class: "find" }, drawing("svg", { viewBox: "0 0 20 20", "aria-hidden": true }, drawing("path", { d: GLASS })), search), found);
}

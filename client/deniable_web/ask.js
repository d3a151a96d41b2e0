//@ts-check
/* One question: native inputs, what is wrong with an answer, and a way to find one of many options. */

import { fold, h, oddsBox, own, quiet } from "./dom.js";
import { fill } from "./messages.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").Asked} Question
 * @typedef {ReturnType<typeof ask>} Asked
 */

/** More options than this get a field to look for one. */
const LONG = 12;

/** A text as people look for it: without accents, marks of vowels, and capitals. */
const plain = (/** @type {any} */ text) =>
  text.normalize("NFKD").replace(/[\p{M}]/gu, "").trim().replace(/\s+/g, " ").toUpperCase(); // ß is SS there

/**
 * One question. Options carry numbers, so markup alone can send nothing.
 * @param {Messages} m @param {Question} question @param {string} [number] where it stands among others
 * @param {boolean} [isAlone] whether it is alone on the screen, so that what is wrong is said beside it alone
 */
export function ask(m, { id, kind, text, options, labels, mechanism }, number = "", isAlone = false) {
  const { lo, hi } = mechanism;
  const { takesSeveral, isRow, hasStars, hasLevels } = kind;
  const isNumber = !kind.most;
  const isLong = options.length > LONG && !isRow; // where the ends of a scale are is plain
  const title = number + text;
  const note = h("p", { class: "missing", ...(isAlone && { role: "alert" }) });
  const described = { "aria-describedby": `about-${id}` };
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
          ...described,
        }),
      ]
    : options.map((_, n) => h("input", { type: takesSeveral ? "checkbox" : "radio", name: id, value: n }));
  for (const input of inputs) input.required = !takesSeveral; // none is an answer too
  const star = () => h("span", { class: "star", "aria-hidden": true }, "★");
  const rows = inputs.map((input, n) =>
    isNumber ? input : h("label", { part: "option" }, input, hasStars && star(), h("span", { class: hasStars ? "spoken" : "" }, own(labels[n]))),
  );
  const chosen = () => inputs.flatMap((input, n) => (input.checked ? [n] : []));

  const shape = hasStars ? "stars" : !isRow ? (isLong ? "long" : "") : options.length > LONG ? "cells" : "line";
  const list = h("div", { class: `options ${shape}` }, ...rows);
  const legend = h("legend", { part: "question-text", tabindex: "-1" }, own(title));
  const set = h(
    "fieldset",
    { class: "card", part: "card question", input: () => note.textContent && asked.check(), ...(!isNumber && described) },
    legend,
    h("div", { id: `about-${id}` }, quiet(fill(takesSeveral ? m.ticks : isNumber ? m.range : "", { lo, hi })), note),
    isLong && finder(m, list, rows, inputs),
    list,
    hasStars && labels[0] !== `${options[0]} ★` && h("p", { class: "ends quiet", "aria-hidden": true }, own(labels[0]), own(labels[labels.length - 1])),
    fold(m.odds, () => oddsBox(m, mechanism)),
  );

  /** What somebody has to mend, or nothing. */
  const problem = () => {
    if (asked.answer() !== undefined) return "";
    if (!isNumber) return m.missing;
    const number = inputs[0].valueAsNumber;
    const sentence = Number.isNaN(number) ? m.missingNumber : number > hi ? m.tooLarge : number < lo ? m.tooSmall : m.notWhole;
    return fill(sentence, { lo, hi });
  };

  const asked = {
    title,
    number,
    set,

    /** To the first option that is shown, or to the field that hides them all. */
    focus: () => (inputs.find((_, n) => !rows[n].hidden) ?? set.querySelector("input"))?.focus(),

    /** To the text of the question, so that screen readers begin there. */
    begin: () => legend.focus(),

    /** What somebody gave as an answer, undefined where that is not an answer yet. */
    answer() {
      const number = inputs[0].valueAsNumber; // an empty field is NaN, not 0
      if (isNumber) return mechanism.takes(number) ? number : undefined;
      const given = chosen().map((n) => options[n]);
      return takesSeveral ? given : given[0];
    },

    /** The same in the words that somebody chose from. */
    words: () => (isNumber ? inputs[0].value : chosen().map((n) => labels[n]).join(" · ") || m.none),

    /** Whether it has no answer, which its own place says until it has one. */
    check() {
      const text = problem();
      if (note.textContent !== text) note.textContent = text;
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
  const found = h("p", { role: "status", class: "quiet", translate: "no" });
  const narrow = () => {
    const words = plain(search.value);
    const shown = rows.filter((row, n) => !(row.hidden = !inputs[n].checked && !plain(row.textContent).includes(words)));
    found.textContent = `${shown.length} / ${rows.length}`;
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
  return h("div", { class: "options" }, quiet(m.find), search, found);
}

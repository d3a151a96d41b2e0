//@ts-check
/* The questions: native inputs, an error summary, and a review before anything is sent. */

import { tellsUse } from "./collector.js";
import { bar, box, card, button, fold, heading, h, link, minor, oddsBox, own, p, quiet } from "./dom.js";
import { fill } from "./messages.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").View} View
 * @typedef {import("./survey.js").Asked} Asked
 */

/** More options than this get a field to look for one. */
const LONG = 12;

/** A text as people look for it: without accents, marks of vowels, and capitals. */
const plain = (/** @type {any} */ text) =>
  text.normalize("NFKD").replace(/[\p{M}]/gu, "").trim().replace(/\s+/g, " ").toUpperCase(); // ß is SS there

/**
 * One question. Options carry numbers, so markup alone can send nothing.
 * @param {Messages} m @param {Asked} question @param {string} [number] where it stands among others
 */
export function ask(m, { id, kind, text, options, labels, mechanism }, number = "") {
  const { lo, hi } = mechanism;
  const { takesSeveral, isRow } = kind;
  const isNumber = !kind.most;
  const isLong = options.length > LONG && !isRow; // where the ends of a scale are is plain
  const title = number + text;
  const note = h("p", { class: "missing" });
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
  const rows = inputs.map((input, n) => (isNumber ? input : h("label", { part: "option" }, input, own(labels[n]))));
  const chosen = () => inputs.flatMap((input, n) => (input.checked ? [n] : []));

  const shape = !isRow ? (isLong ? "long" : "") : options.length > LONG ? "cells" : "line";
  const list = h("div", { class: `options ${shape}` }, ...rows);
  const set = h(
    "fieldset",
    { class: "card", part: "card question", input: () => note.textContent && asked.check(), ...(!isNumber && described) },
    h("legend", { part: "question-text" }, own(title)),
    h("div", { id: `about-${id}` }, quiet(fill(takesSeveral ? m.ticks : isNumber ? m.range : "", { lo, hi })), note),
    isLong && finder(m, list, rows, inputs),
    list,
    fold(m.odds, () => oddsBox(m, mechanism)),
  );

  const asked = {
    title,
    number,
    set,

    /** To the first option that is shown, or to the field that hides them all. */
    focus: () => (inputs.find((_, n) => !rows[n].hidden) ?? set.querySelector("input"))?.focus(),

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
      const isMissing = asked.answer() === undefined;
      note.textContent = isMissing ? fill(isNumber ? m.range : m.missing, { lo, hi }) : "";
      if (isNumber) inputs[0].setAttribute("aria-invalid", /** @type {any} */ (isMissing));
      return isMissing;
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

/**
 * All questions on one page, then the answers once more, then Send. The form has no action: without this script it
 * sends nothing.
 * @param {Messages} m @param {View} view @param {(answers: Record<string, unknown>) => void} send
 */
export function questions(m, view, send) {
  const all = view.questions.length;
  /** @type {ReturnType<typeof ask>[]} */
  const asked = [];
  const next = () => {
    const n = asked.length;
    asked.push(ask(m, view.questions[n], all > 1 ? `${n + 1}. ` : ""));
    return asked[n].set;
  };
  const summary = h("div", { role: "alert", class: "bad" });
  /** What the summary lists: questions without an answer, each with its line. @type {[ReturnType<typeof ask>, Element][]} */
  let missing = [];
  /** What has been mended is no longer listed. */
  const mend = () => {
    missing = missing.filter(([each, line]) => each.answer() === undefined || line.remove());
    if (!missing.length) summary.replaceChildren();
  };
  const done = quiet();
  /**
   * How many are still to answer: unseen, before somebody touched one. It takes its place from the start, because the page
   * around hears of heights, and who ticks nothing touches nothing.
   */
  const count = (isTouched = true) => {
    const n = asked.filter((each) => each.answer() === undefined).length; // ticks need no answer: none is one too
    done.replaceChildren(bar(1 - n / all), fill(m.progress, { n }));
    done.classList.toggle("unseen", !isTouched);
  };
  const review = h("div", { class: "review" });
  const edit = () => {
    review.replaceChildren();
    form.hidden = false;
    count();
  };
  /** Nothing, or what is missing, in place of the answers. @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    if (asked.length < all) return; // Enter, in the moment before they all stand there
    missing = asked.filter((each) => each.check()).map((each) => [each, h("li", {}, link(own(each.title), each.focus))]);
    count();
    if (missing.length) {
      summary.replaceChildren(card(heading(m.missingSome, "h2"), p(m.missingWhy), h("ul", {}, ...missing.map(([, line]) => line))));
      return focusOn(summary);
    }
    summary.replaceChildren();
    form.hidden = true;
    review.replaceChildren(
      card(
        heading(m.yours),
        ...asked.map(({ title, number, words, focus }) => {
          const change = () => {
            edit();
            focus();
          };
          return box(quiet(own(title)), p(own(words(), "no")), minor(`${m.change} ${number}`, change));
        }),
        p(m.final),
        button(m.send, () => {
          const answers = Object.fromEntries(view.questions.map(({ id }, n) => [id, asked[n].answer()]));
          form.reset();
          send(answers);
        }),
      ),
    );
    focusOn(review);
  };
  const reset = () => {
    edit(); // a page that goes away shows no answers when it comes back
    setTimeout(() => count(false)); // once the inputs are empty, nobody has touched one
  };
  const input = () => {
    mend();
    count();
  };
  const form = h(
    "form",
    { novalidate: "", autocomplete: "off", part: "form", input, submit, reset },
    card(heading(own(view.title)), p(m.truthfully), !view.issuer && !tellsUse(view) && quiet(m.nothingYet)),
    summary,
    next(),
  );
  // The first question stands on the screen before a slow phone lays out the others.
  setTimeout(() => {
    while (asked.length < all) form.append(next());
    count(false);
    form.append(card(done, h("button", { part: "button" }, m.review)));
  }, 20);
  return h("div", {}, form, review);
}

/** Put the focus on the heading of what came up. @param {ParentNode} place */
export const focusOn = (place) => /** @type {HTMLElement | null} */ (place.querySelector("[tabindex]"))?.focus();

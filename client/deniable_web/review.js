//@ts-check
/* The answers once more, each with a way back to its question, then Send. */

import { button, card, h, heading, minor, own, p, quiet } from "./dom.js";
import { fill } from "./messages.js";

/**
 * @param {import("./messages.js").Messages} m @param {readonly import("./ask.js").Asked[]} asked
 * @param {{ change: (n: number) => void, send: () => void, back?: false | (() => void) }} ways
 */
export const reviewOf = (m, asked, { change, send, back }) =>
  card(
    heading(m.yours),
    p(m.yoursText),
    h(
      "div",
      { class: "stack" },
      ...asked.map(({ title, words }, n) => {
        const way = minor(m.change, () => change(n));
        way.setAttribute("aria-label", fill(m.changeNumber, { n: n + 1 }));
        return h("div", { class: "box given" }, h("div", {}, quiet(own(title)), p(own(words(), "no"))), way);
      }),
    ),
    p(m.final),
    h("div", { class: "row" }, button(m.send, send), back && minor(m.back, back)),
  );

/**
 * Here the answers leave the form: what was chosen is taken out of the inputs, and nothing leads back to them.
 * @param {import("./survey.js").View} view @param {readonly import("./ask.js").Asked[]} asked
 * @param {import("./walk.js").Walk} walk @param {HTMLFormElement} form
 */
export function taken({ questions }, asked, walk, form) {
  const answers = Object.fromEntries(questions.map(({ id }, n) => [id, asked[n].answer()]));
  walk.end();
  form.reset();
  return answers;
}

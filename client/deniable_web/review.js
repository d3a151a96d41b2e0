//@ts-check
/* The answers once more, each with a way back to its question, then Send. */

import { choiceOf } from "./device.js";
import { button, card, h, heading, link, minor, own, p, quiet } from "./dom.js";
import { fill } from "./messages.js";
import { routeOf } from "./route.js";

/**
 * Which stops apply, by what is chosen in the form.
 * @param {import("./grid.js").Drawn} view @param {readonly import("./grid.js").Stop[]} asked those that stand in it already
 */
export function appliesIn({ questions, stops }, asked) {
  const given = new Map(asked.flatMap((each) => each.given()));
  const { applies } = routeOf(questions, (question) => {
    const answer = given.get(question.id);
    return answer === undefined ? undefined : choiceOf(question, answer);
  });
  return stops.map(([first]) => applies[questions.indexOf(first)]);
}

/**
 * @param {import("./messages.js").Messages} m @param {readonly import("./grid.js").Stop[]} asked
 * @param {{ change: (n: number) => void, send: () => void, back?: false | (() => void) }} ways
 */
export const reviewOf = (m, asked, { change, send, back }) =>
  card(
    p(m.almost, "quiet position"),
    heading(m.yours),
    p(m.yoursText),
    h(
      "div",
      { class: "box" },
      ...asked.map(({ title, words }, n) => {
        const way = link(m.change, () => change(n));
        way.setAttribute("aria-label", fill(m.changeNumber, { n: n + 1 }));
        const [given, ends] = words();
        return h("div", { class: "given" }, h("div", {}, quiet(own(title)), p(own(`${given}`, "no")), ends && quiet(own(ends, "no"))), way);
      }),
    ),
    p(m.final),
    h("div", { class: "row steps" }, button(m.send, send), back && minor(m.back, back)),
  );

/**
 * Here the answers leave the form: what was chosen is taken out of the inputs, and nothing leads back to them.
 * @param {readonly import("./grid.js").Stop[]} asked
 * @param {readonly boolean[]} applies whether each applies: what was chosen before an answer changed goes nowhere
 * @param {import("./walk.js").Walk} walk @param {HTMLFormElement} form
 */
export function taken(asked, applies, walk, form) {
  const answers = Object.fromEntries(asked.flatMap((each, n) => (applies[n] ? each.given() : [])));
  walk.end();
  form.reset();
  return answers;
}

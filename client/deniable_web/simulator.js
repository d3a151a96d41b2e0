//@ts-check
/* Try it: pretend an answer, let chance work as often as you like, and see what would have been sent. */

import { bar, box, button, h, minor, p, quiet } from "./dom.js";
import { randomizeAnswer } from "./device.js";
import { fill } from "./messages.js";

/**
 * The very mechanism of a question, on answers that nobody gave.
 * @param {import("./messages.js").Messages} m @param {import("./survey.js").Asked} question
 * @param {string} ask about a report, or nothing where the answer would be hardly a doubt
 */
export function simulator(m, question, ask) {
  const { kind, options, labels, mechanism: { hasShares, lo, hi } } = question;
  const answers = options.length ? options : [lo, hi];
  const drawn = h("div", { role: "status" });
  const choice = h(
    "select",
    { "aria-label": m.pretend, change: () => drawn.replaceChildren() },
    ...answers.map((answer, n) => h("option", { value: n }, labels[n] ?? `${answer}`)),
  );
  const press = (/** @type {number} */ times) => {
    const answer = answers[choice.selectedIndex];
    /** How often each option was supported, each number sent. @type {Map<string | number, number>} */
    const counts = new Map();
    for (let n = times; n--; ) {
      const report = randomizeAnswer(question, kind.takesSeveral ? [answer] : answer);
      // A text has a mark for each option, or two for each that may be drawn, the second one for a tick.
      const marks = /** @type {any} */ (report).length / options.length;
      const said = marks ? [...options.keys()].filter((n) => /** @type {any} */ (report)[marks * (n + 1) - 1] > 0) : [report];
      for (const each of said) {
        const what = (hasShares && labels[each]) || each; // a report that tells the mean only is no option
        counts.set(what, (counts.get(what) ?? 0) + 1);
      }
    }
    const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 9);
    drawn.replaceChildren(...most.flatMap(([what, n]) => [bar(n / times), quiet(`${what}: ${n} / ${times}`)]));
  };
  const buttons = [1, 100].map((n) => button(fill(m.press, { n }), () => press(n)));
  return box(quiet(m.pretend), choice, h("div", { class: "row" }, ...buttons), drawn, ...(ask ? quiz(m, ask) : []));
}

/** Whether somebody took in what a report means. It stays here: it is asked for the reader's sake. @param {import("./messages.js").Messages} m @param {string} ask */
function quiz(m, ask) {
  const said = h("p", { "aria-live": "polite", class: "quiet" });
  const choices = [[m.quizSure, m.quizWrong], [m.quizMaybe, m.quizRight]].map(([label, reply]) =>
    minor(label, () => said.replaceChildren(reply)),
  );
  return [p(ask), h("div", { class: "row" }, ...choices), said];
}

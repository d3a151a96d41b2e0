//@ts-check
/*
 * Chance that can be seen: a hundred small people who give one answer, and how many of them send it. Pressed, the very
 * mechanism of the question draws in their place. Nothing is sent, and nothing is kept.
 */

import { randomizeAnswer } from "./device.js";
import { drawing, fold, h, item, minor, own, p, quiet, stack } from "./dom.js";
import { fill } from "./messages.js";
import { UNIT } from "./randomness.js";
import { inWords, stepsOf } from "./wording.js";
import { of100 } from "./odds.js";

/** @typedef {import("./mechanisms/base.js").Mechanism} Mechanism */
/** @typedef {import("./messages.js").Messages} Messages */
/** @typedef {import("./survey.js").Asked} Asked */

const PEOPLE = 100;
const COLUMNS = 20;
/**
 * A head and shoulders, 10 units wide and 14 high, whose left upper corner is there.
 * @param {number} x @param {number} y
 */
const outlineAt = (x, y) => `M${x + 5} ${y + 0.8}a2.6 2.6 0 1 1 0 5.2a2.6 2.6 0 0 1 0-5.2m-4.1 12.4v-2a4.1 4.1 0 0 1 8.2 0v2z`;

/**
 * @typedef {object} Fate What chance does to one answer.
 * @property {string} caption the sentence for it, with the places {p} and {rest}
 * @property {number} share the probability that the device sends what the figure counts as kept
 * @property {(report: any) => boolean} isKept whether a report counts so
 * @property {number} [d] how far a number may be away
 * @property {number} [kept] for how many of 100 people all waves together show the answer
 */

/**
 * What the mechanism's integers make of an answer, by what the mechanism says of itself.
 * @param {Messages} m @param {Asked} question @param {number} answer an option, or a number @returns {Fate}
 */
export function fateOf(m, { kind, mechanism }, answer) {
  const { support, lo, hi, excess, isYesNo } = mechanism;
  const { w, s, least, slope } = /** @type {Mechanism & Record<"w" | "s" | "least" | "slope", number>} */ (mechanism);
  if (!mechanism.hasShares) {
    const steps = stepsOf(mechanism);
    const isHigh = (/** @type {any} */ report) => 2 * report >= steps && report < steps;
    const share = support ? (least + (answer - lo) * slope) / UNIT : shareOf(mechanism, answer, isHigh);
    return { caption: m.pictureHigh, share, isKept: isHigh };
  }
  if (support) {
    if (isYesNo) { // filled are those who send Yes, whatever the answer
      const { ifTrue, ifOther } = support[1];
      return { caption: answer ? m.oddsYes : m.oddsNo, share: answer ? ifTrue : ifOther, isKept: (report) => report === 1 };
    }
    const { ifTrue } = support[answer] ?? support[0];
    const bits = kind.takesSeveral && s ? 2 : 1;
    const isMarked = (/** @type {any} */ report) =>
      typeof report === "string" ? report[bits * (answer + 1) - 1] === "1" : report === answer;
    const caption =
      kind.takesSeveral ? (s ? m.pictureDrawn : m.pictureBox)
      : w ? m.pictureSet
      : m.pictureSame;
    const again = /** @type {import("./mechanisms/k-ary.js").KAry | undefined} */ (mechanism.second);
    // A wave sends a draw from the permanent value: the answer, where neither step changed it, or the second one led back.
    if (again) return { caption: m.pictureWave, share: (ifTrue * again.keep + (1 - ifTrue) * again.other) / UNIT, isKept: isMarked, kept: of100(ifTrue) };
    return { caption, share: ifTrue, isKept: isMarked };
  }
  const d = hi - lo > 10 ? Math.ceil((hi - lo) / 10) : 0;
  const isNear = (/** @type {number} */ report) => Math.abs(report - answer) <= d;
  return { caption: d ? m.pictureNear : m.pictureSame, share: shareOf(mechanism, answer, (n) => isNear(n + lo - excess)), isKept: isNear, d };
}

/** The probability of some of the reports of a mechanism with rows. @param {Mechanism} mechanism @param {number} answer @param {(place: number) => boolean} counts */
const shareOf = (mechanism, answer, counts) =>
  /** @type {import("./mechanisms/rows.js").RowMechanism} */ (mechanism).row(answer).reduce((all, weight, n) => all + (counts(n) ? weight : 0), 0) / UNIT;

/** How many times as telling as another question one may be, in epsilon, for both to count as about equally telling. */
const ABOUT = 1.1;

/**
 * The question whose picture is easiest to grasp, of those that tell about as much about a person as the most telling one: a
 * yes-no question, then one whose report is an answer, then the others.
 * @param {Messages} m @param {readonly Asked[]} questions
 */
export function clearest(m, questions) {
  const told = (/** @type {Asked} */ { mechanism: { toldRatio: [more, less] } }) => Math.log(Number(more) / Number(less));
  const rank = (/** @type {Asked} */ question) =>
    question.mechanism.isYesNo ? 0 : fateOf(m, question, question.mechanism.lo).caption === m.pictureSame ? 1 : 2;
  const most = Math.max(...questions.map(told));
  return questions.filter((each) => told(each) * ABOUT >= most).reduce((a, b) => (rank(b) < rank(a) ? b : a));
}

/**
 * People beside each other, as large as the style sheet says. @param {number} n how many @param {[string, ...number[]][]} styles each
 * with the places of those who have it, who are one shape
 */
const sign = (n, ...styles) =>
  drawing(
    "svg",
    { viewBox: `-.5 0 ${15 * n - 4} 14`, class: "sign" },
    ...styles.map(([style, ...places]) => drawing("path", { d: places.map((n) => outlineAt(15 * n, 0)).join(""), class: style })),
  );

/** A few people, some of them as chance has it: the sign by which screens of few words are known. */
export const band = () => h("div", { class: "row band", "aria-hidden": true }, sign(5, ["outline", 0, 2, 3], ["outline other filled", 1, 4]));

/** The picture that a page has for a screen of that name, and otherwise that sign, or what is drawn. @param {string} name @param {Node} [drawn] */
export const picture = (name, drawn = band()) => h("slot", { name }, drawn);

/**
 * The picture of a question; what opens below it lets one try.
 * @param {Messages} m @param {Asked} question
 * @param {{ lesson: string, meaning: string }} how `lesson` is what follows for whoever is asked; `meaning`, in plain words,
 *   stands before all that has figures
 */
export function chance(m, question, { lesson, meaning }) {
  const { kind, choices: options, labels, highest, mechanism: { lo, isYesNo } } = question;
  const answers = options.length ? [...options.keys()] : [lo, highest];
  // Those who send the one and those who send the other are one shape each: a slow phone takes long over a hundred.
  const crowds = [drawing("path", {}), drawing("path", {})];
  // What is drawn stands in the caption, which is read out alone.
  const picture = drawing("svg", { viewBox: `0 0 ${COLUMNS * 14} ${(PEOPLE / COLUMNS) * 20}`, "aria-hidden": true }, ...crowds);
  const legend = h("div", { class: "row legend", "aria-hidden": true });
  const caption = h("p", { class: "quiet caption", role: "status" });
  const rest = p("");
  const drawn = h("div", { role: "status" });
  const label = (/** @type {number} */ answer) => labels[answer] ?? `${answer}`;
  const choice = h("select", { "aria-label": m.pretend, change: () => expected() }, ...answers.map((answer) => h("option", {}, label(answer))));
  const answer = () => answers[choice.selectedIndex];
  /** Fill the first people, or those whose place says so. @param {(n: number) => boolean} isFilled */
  const colour = (isFilled) => {
    // Whoever does not send the answer has the colour of chance.
    const isOther = (/** @type {boolean} */ filled) => filled === (isYesNo && !answer());
    const style = (/** @type {boolean} */ filled) => (filled ? " filled" : "") + (isOther(filled) ? " other" : "");
    const people = [...Array(PEOPLE).keys()];
    const [n] = [true, false].map((filled, place) => {
      const those = people.filter((n) => isFilled(n) === filled);
      crowds[place].setAttribute("class", "person" + style(filled));
      crowds[place].setAttribute("d", those.map((n) => outlineAt((n % COLUMNS) * 14 + 2, Math.floor(n / COLUMNS) * 20 + 2)).join(""));
      return those.length;
    });
    const [no, yes] = isYesNo ? labels.map((label) => ` ${label}`) : ["", ""];
    legend.replaceChildren(sign(1, ["outline" + style(true), 0]), n + yes, sign(1, ["outline" + style(false), 0]), PEOPLE - n + no);
  };
  const fate = (/** @type {number} */ answer) => {
    const { caption: text, share, d, kept } = fateOf(m, question, answer);
    const number = of100(share);
    const values = { p: number, q: number, rest: PEOPLE - number, other: PEOPLE - number, d, kept };
    return { number, said: about(text, label(answer), values) };
  };
  const expected = () => {
    const { number, said } = fate(answer());
    // Whoever would say the other of two wants to know what becomes of that.
    caption.replaceChildren(said);
    rest.replaceChildren(isYesNo ? fate(1 - answer()).said : "", ` ${lesson}`);
    drawn.replaceChildren();
    colour((n) => n < number);
  };
  const press = (/** @type {number} */ times) => {
    const { isKept } = fateOf(m, question, answer());
    const given = options.length ? options[answer()] : answer();
    const reports = Array.from({ length: times }, () => randomizeAnswer(question, kind.takesSeveral ? [given] : given));
    if (times === 1) return drawn.replaceChildren(p(about(m.onceMade, inWords(m, question, reports[0]).join(", "))));
    colour((n) => isKept(reports[n]));
    caption.replaceChildren(m.hundredMade); // the people on the picture are those of the tries now
    drawn.replaceChildren(counted(m, question, reports));
  };
  expected();
  const buttons = [minor(m.once, () => press(1)), minor(m.hundred, () => press(PEOPLE))];
  const tries = () =>
    stack(p(meaning), quiet(m.pretend, " ", choice), h("div", { class: "row tries" }, ...buttons), drawn);
  return h("div", { class: "box chance", part: "chance" }, h("h2", { class: "quiet" }, m.example), p(own(question.text)), caption, picture, legend, rest, fold(m.odds, tries));
}

/** A sentence about what may be written from the other side. @param {string} text perhaps with the place {what} @param {string} what @param {object} [values] */
export function about(text, what, values = {}) {
  const [before, after] = text.split("{what}").map((part) => fill(part, values));
  return h("span", {}, before, after && own(what), after);
}

/** How often each thing was said, the most frequent first. @param {Messages} m @param {Asked} question @param {any[]} reports */
function counted(m, question, reports) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const what of reports.flatMap((report) => inWords(m, question, report))) counts.set(what, (counts.get(what) ?? 0) + 1);
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, 9);
  return h("ul", {}, ...most.map(([what, n]) => item(about(m.madeOf, what, { n }))));
}

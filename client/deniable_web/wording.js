//@ts-check
/* What a reply says, in words: what its bytes hold for each question, and nothing of what somebody chose. */

import { fill } from "./messages.js";

/** @typedef {import("./messages.js").Messages} Messages */
/** @typedef {import("./survey.js").Asked} Asked */

/**
 * A noisy value in words, a line for each thing that it says.
 * @param {Messages} m @param {Asked} question @param {any} value as it is sent; null where the question was not drawn
 * @returns {string[]}
 */
export function inWords(m, { labels, kind, mechanism }, value) {
  if (value === null) return [m.notDrawn];
  if (typeof value === "string") return markedInWords(m, labels, kind.takesSeveral, value);
  if (!mechanism.hasShares) return [stepInWords(m, mechanism, value)];
  return [labels[value] ?? `${value}`];
}

/**
 * A value with a mark for each option, or with two for each box that may be drawn: 01 for a tick, 10 for none, 00 where the
 * box was not drawn.
 * @param {Messages} m @param {readonly string[]} labels @param {true | undefined} areBoxes @param {string} value
 */
function markedInWords(m, labels, areBoxes, value) {
  const marks = value.length / labels.length;
  const of = labels.map((what, n) => ({ what, mark: Number(`0b${value.slice(marks * n, marks * (n + 1))}`) }));
  if (!areBoxes) return of.flatMap(({ what, mark }) => (mark ? what : []));
  const isDrawn = (/** @type {{ mark: number }} */ { mark }) => marks < 2 || mark > 0;
  return of.filter(isDrawn).map(({ what, mark }) => fill(mark === 1 ? m.sentBox : m.sentNoBox, { what }));
}

/** One of a few steps from low to high, where a reply tells no more. @param {Messages} m @param {import("./mechanisms/base.js").Mechanism} mechanism @param {number} value */
function stepInWords(m, mechanism, value) {
  const steps = stepsOf(mechanism);
  if (value >= steps) return m.sentOthers;
  return steps > 2 ? fill(m.sentStep, { n: value + 1, all: steps }) : value ? m.sentHigh : m.sentLow;
}

/**
 * How many values there are of a mechanism whose reply is a step from low to high, but for the one that says that it does not apply.
 * @param {import("./mechanisms/base.js").Mechanism} mechanism
 */
export function stepsOf(mechanism) {
  let steps = -mechanism.aside;
  while (mechanism.makes(steps + mechanism.aside)) steps++;
  return steps;
}

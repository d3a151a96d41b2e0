//@ts-check
/*
 * The arrangement of a survey: sections, grids and random orders, as in shared/deniable/survey/arrangement.py. It says how
 * questions are shown, and changes nothing that is asked, remembered or sent.
 *
 * An order is drawn from words alone, once a visit, before anything is shown, and never sent: so it can neither depend on an
 * answer nor reach anybody.
 */

import { matching, maybe, nothingElse, oneOf, taking, text } from "./fields.js";
import { demand, isWhole, list } from "./mechanisms/base.js";
import { QUESTION_TYPES } from "./question-types.js";
import { below, systemWord } from "./randomness.js";

/** @typedef {[number, number]} Order how many keep their places at the beginning, and at the end */
/**
 * @typedef {object} Block Consecutive questions: the survey, a section or a grid, as published.
 * @property {(string | Block)[]} of ids, and blocks
 * @property {string} [heading]
 * @property {string} [text]
 * @property {boolean} [grid]
 */

/** The text of a row: the stem of its table, a line break, and the item. */
const ROW = /^([^]+)\n[^\n]+$/;

/** A random order of `n` parts, or null. @param {(key: string) => any} take @param {number} n @returns {Order | null} */
export function orderOf(take, n) {
  const [order, ...fixed] = ["order", "fixed_first", "fixed_last"].map(take);
  const [first, last] = fixed.map((each) => {
    demand(each === undefined || (!!order && isWhole(each, 1, n)));
    return each ?? 0;
  });
  demand(!oneOf(order, "random") || n - first - last > 1);
  return order ? [first, last] : null;
}

/** The order of a block that was read before. @param {any} block */
const orderIn = (block) => orderOf((key) => block[key], block.of.length);

/**
 * Read the arrangement: it holds all questions in order, and no random order puts one before what its filter is about.
 * @param {any} published @param {readonly import("./survey.js").Question[]} questions @param {any} asked the questions as published
 */
export function arrangementOf(published, questions, asked) {
  let at = 0;
  /** @param {any} block @param {number} depth @param {string[]} earlier what surely comes before it @returns {string[]} its questions */
  const read = (block, depth, earlier) => {
    const known = {};
    const take = taking(block, known);
    const isGrid = oneOf(take("grid"), true);
    const isSaid = [maybe(take("heading"), text, 200), maybe(take("text"), text, 4000)].join("");
    const parts = list(take("of"), 1, 100);
    const order = orderOf(take, parts.length);
    nothingElse(block, known);
    const isFlat = parts.every((each) => typeof each === "string");
    demand(
      !depth ? !isSaid && !isGrid && (!!order || !isFlat)
      : isGrid ? !isSaid && isFlat && parts.length > 1 && areRows(asked.slice(at, at + parts.length))
      : depth < 2 && (!!isSaid || !!order),
    );
    /** @type {string[][]} */
    const found = [];
    parts.forEach((/** @type {any} */ part, n) => {
      const isFirst = (/** @type {unknown} */ _, /** @type {number} */ place) => !order || place < order[0] || n >= parts.length - order[1];
      const before = [...earlier, ...found.filter(isFirst).flat()];
      if (typeof part !== "string") found.push(read(part, depth + 1, before));
      else {
        const question = questions[at++];
        demand(question?.id === part && !question.askIf?.named.some((each) => !before.includes(each)));
        found.push([part]);
      }
    });
    return found.flat();
  };
  read(published, 0, []);
  demand(at === questions.length);
  return published;
}

/** Whether questions can be rows of one table: alike but for the last lines of their texts. @param {readonly any[]} asked as published */
function areRows(asked) {
  const stem = (/** @type {string} */ _, /** @type {unknown} */ value) => (typeof value === "string" ? matching(value, ROW).replace(ROW, "$1") : value);
  const [first, ...others] = asked.map(({ id, mechanism, group, why, ["text"]: said, ...row }) => {
    const { most, takesSeveral } = /** @type {any} */ (QUESTION_TYPES.get(row.type));
    demand(!!most && !takesSeveral && !row.order && !row.before);
    return JSON.stringify([row, JSON.stringify(said, stem)]);
  });
  return others.every((each) => each === first);
}

/** Parts in a drawn order: a shuffle by Fisher and Yates, from the last place down. @template T @param {readonly T[]} parts @param {Order | null} order @param {import("./randomness.js").Word} word */
export function shuffled(parts, order, word) {
  const drawn = [...parts];
  const [first, last] = order ?? [parts.length, 0];
  for (let at = parts.length - last - 1; at > first; at--) {
    const other = first + Number(below(BigInt(at - first + 1), word));
    [drawn[at], drawn[other]] = [drawn[other], drawn[at]];
  }
  return drawn;
}

/**
 * A question with what people choose from in a drawn order. @template {import("./survey.js").Asked} Q
 * @param {Q} question @param {import("./randomness.js").Word} [word] @returns {Q}
 */
export function dealt(question, word = systemWord) {
  const { choices, labels, order } = question;
  const places = shuffled([...choices.keys()], order, word);
  return { ...question, choices: places.map((n) => choices[n]), labels: [...places.map((n) => labels[n]), ...labels.slice(places.length)] };
}

/**
 * The questions that are shown, in a drawn order, each with the section and the grid around it. All orders of the survey are
 * drawn, also of what is not shown: so the number of words does not depend on what a device asks.
 * @param {import("./survey.js").View} view @param {readonly { id: string }[]} shown @param {import("./randomness.js").Word} [word]
 */
export function arranged({ arrangement, questions }, shown, word = systemWord) {
  const drawn = (/** @type {any} */ block, around = {}) => {
    /** @type {any[][]} */
    const places = shuffled([...block.of.keys()], orderIn(block), word);
    const within = block.grid ? { ...around, grid: block } : block === arrangement ? around : { section: block };
    const parts = block.of.map((/** @type {any} */ each) => (typeof each === "string" ? [[each, within]] : drawn(each, within)));
    return places.flatMap((/** @type {any} */ n) => parts[n]);
  };
  const places = drawn(arrangement ?? { of: questions.map(({ id }) => id) }); // without one, as they stand there
  const asked = new Map(questions.map((each) => [each.id, dealt(each, word)]));
  return places
    .filter(([id]) => shown.some((each) => each.id === id))
    .map(([id, around]) => /** @type {Shown} */ ({ ...asked.get(id), ...around }));
}

/** @typedef {import("./survey.js").Asked & { section?: Block, grid?: Block }} Shown */

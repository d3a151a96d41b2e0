//@ts-check
/*
 * Conditions of filters, as in shared/deniable/survey/condition.py: tests of earlier answers, joined by all and any. They are
 * data, read once and strictly; evaluating one cannot fail.
 */

import { demand, integer, isWhole, list } from "./mechanisms/base.js";

const MAX_DEPTH = 5;
const MAX_TESTS = 40;

/**
 * @typedef {object} Condition
 * @property {readonly string[]} named the ids of the questions that it is about
 * @property {(choices: { get: (id: string) => any }) => boolean} holds whether it holds for answers as mechanisms take them; a test of
 *   a missing answer does not hold
 */

/**
 * Read a condition of a published survey.
 * @param {unknown} published @param {(id: any) => import("./survey.js").Question | undefined} find an earlier question
 * @returns {Condition}
 */
export function conditionOf(published, find) {
  const named = new Set();
  let tests = 0;

  /** @param {unknown} value @param {number} depth @param {unknown} [around] the name of what joins it to others @returns {Condition["holds"]} */
  const read = (value, depth, around) => {
    demand(depth <= MAX_DEPTH);
    const [name, ...rest] = list(value, 3, 1000);
    if (name === "all" || name === "any") {
      demand(name !== around && new Set(rest.map((each) => JSON.stringify(each))).size === rest.length);
      const parts = rest.map((each) => read(each, depth + 1, name));
      return (choices) => (name === "all" ? parts.every((holds) => holds(choices)) : parts.some((holds) => holds(choices)));
    }
    demand(++tests <= MAX_TESTS);
    return test(name, rest);
  };

  /** @param {unknown} name @param {any[]} rest @returns {Condition["holds"]} */
  const test = (name, [id, ...numbers]) => {
    const question = find(id);
    demand(!!question);
    const { kind, mechanism } = question;
    named.add(id);
    if (name === "among") {
      demand(!kind.takesSeveral);
      const intervals = intervalsOf(numbers, mechanism);
      return (choices) => intervals.some(([low, high]) => isWhole(choices.get(id), low, high));
    }
    demand((name === "has" || name === "lacks") && !!kind.takesSeveral && numbers.length === 1);
    const box = integer(numbers[0], 0, mechanism.hi);
    return (choices) => !!choices.get(id) && choices.get(id).includes(box) === (name === "has");
  };

  const holds = read(published, 1);
  return Object.freeze({ named: Object.freeze([...named]), holds });
}

/**
 * Intervals of answers, which rise, do not touch each other, and leave something out.
 * @param {unknown[]} numbers @param {{ lo: number, hi: number }} mechanism
 */
function intervalsOf(numbers, { lo, hi }) {
  demand(numbers.length > 0 && numbers.length % 2 === 0);
  /** @type {[number, number][]} */
  const intervals = [];
  let least = lo;
  for (let n = 0; n < numbers.length; n += 2) {
    const low = integer(numbers[n], least, hi);
    const high = integer(numbers[n + 1], low, hi);
    intervals.push([low, high]);
    least = high + 2;
  }
  demand(intervals[0][0] > lo || intervals[0][1] < hi);
  return intervals;
}

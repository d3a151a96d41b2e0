/* Reads conditions from standard input, a line each, and prints 1 where one holds, 0 where it does not, x where it is none. */

import { createInterface } from "node:readline";

import { conditionOf } from "../../client/deniable_web/condition.js";
import { ParameterError } from "../../client/deniable_web/errors.js";

const results = [];
for await (const line of createInterface({ input: process.stdin })) {
  const { condition, earlier, choices } = JSON.parse(line);
  const find = (/** @type {any} */ id) => {
    if (!Object.hasOwn(earlier, id)) return undefined;
    const [takesSeveral, lo, hi] = earlier[id];
    return /** @type {any} */ ({ kind: { takesSeveral }, mechanism: { lo, hi } });
  };
  try {
    results.push(Number(conditionOf(condition, find).holds(new Map(Object.entries(choices)))));
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    results.push("x");
  }
}
console.log(results.join(""));

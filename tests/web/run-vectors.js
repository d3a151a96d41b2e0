/* Runs mechanism vectors from standard input, a line each: prints how many agree and every one that does not. */

import { createInterface } from "node:readline";

import { mechanismFromPublished } from "../../client/deniable_web/index.js";

const known = new Map();
let agreed = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { mechanism, answer, words, report } = JSON.parse(line);
  const key = JSON.stringify(mechanism);
  if (!known.has(key)) known.set(key, mechanismFromPublished(mechanism));
  let drawn = 0;
  const mine = known.get(key).randomize(answer, () => words[drawn++]);
  if (mine === report && drawn === words.length) agreed++;
  else console.log(`mismatch: ${line} gave ${mine} with ${drawn} words`);
}
console.log(`agreed: ${agreed}`);

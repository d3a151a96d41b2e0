/* Runs sequences of steps from standard input, a line each: prints every step that does not come to what it must. */

import { createInterface } from "node:readline";

import { differences } from "./device-steps.js";

let documents;
let steps = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const read = JSON.parse(line);
  if (!documents) {
    documents = read;
    continue;
  }
  steps += read.length;
  for (const each of await differences(documents, read)) console.log(`mismatch: ${JSON.stringify(each)}`);
}
console.log(`steps: ${steps}`);

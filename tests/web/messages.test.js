import assert from "node:assert/strict";
import { test } from "node:test";

import { addresses } from "../../client/deniable_web/catalogues/index.js";
import { grammaticalNumber, numbered } from "../../client/deniable_web/messages.js";

for (const lang of Object.keys(addresses)) {
  test(`${lang}: whole numbers have the grammatical number that CLDR says`, () => {
    const rules = new Intl.PluralRules(lang);
    assert.deepEqual(rules.resolvedOptions().locale, lang, "this Node.js knows the language");
    for (let n = 0; n <= 100_000; n++) assert.equal(grammaticalNumber(lang, n), rules.select(n), `${n}`);
  });
}

test("a sentence has the form of its number, and where it has none, that of all others", () => {
  const say = (/** @type {string} */ lang, /** @type {number} */ n) => numbered({ lang }, "one=a {what}|two=two|other={n} {what}s", n, { what: "question" });
  assert.deepEqual([0, 1, 2].map((n) => say("en", n)), ["0 questions", "a question", "2 questions"]);
  assert.deepEqual([0, 1, 2].map((n) => say("fr", n)), ["a question", "a question", "2 questions"]);
  assert.deepEqual([0, 1, 2, 3, 11].map((n) => say("ar", n)), ["0 questions", "a question", "two", "3 questions", "11 questions"]);
});

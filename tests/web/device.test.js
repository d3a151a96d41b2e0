import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerError, DeniableError, ReportError, encodeReport, parseSurvey, randomize } from "../../client/deniable_web/index.js";
import { bytes, tape, vectors } from "./helpers.js";

const { document, vectors: people } = vectors("reports");
const survey = await parseSurvey(bytes(document));
const whole = { affair: "yes", trust: "no", religious: "not" };

for (const { name, answers, cohort, words, id, report } of people) {
  test(`report ${name}`, () => {
    const word = tape(words);
    const draw = () => encodeReport(randomize(survey, answers, { cohort, word, id }));
    if (report === null) {
      assert.throws(draw, DeniableError);
      assert.equal(word.left.length, words.length, "drew a word for bad answers");
    } else {
      assert.equal(draw(), report);
      assert.equal(word.left.length, 0, "left words over");
    }
  });
}

test("a message about an answer names the question and never the answer", () => {
  for (const secret of ["very-secret", 31337, null, ["yes"], { toString: () => "yes" }]) {
    assert.throws(
      () => randomize(survey, { ...whole, religious: secret }),
      (error) => error instanceof AnswerError && /religious/.test(error.message) && !/very-secret|31337/.test(error.message),
    );
  }
  assert.throws(() => randomize(survey, { ...whole, secret: "x" }), (error) => !/secret/.test(error.message));
});

test("only own properties are answers", () => {
  assert.throws(() => randomize(survey, Object.create(whole)), AnswerError);
  assert.throws(() => randomize(survey, JSON.parse('{"__proto__":"yes","affair":"yes","trust":"no","religious":"not"}')), AnswerError);
});

test("a question may be called constructor", async () => {
  const plain = vectors("surveys").find((vector) => vector.name === "good: T").document;
  const odd = await parseSurvey(bytes(plain.replace('"id":"q"', '"id":"constructor"')));
  assert.throws(() => randomize(odd, {}), AnswerError);
  const report = randomize(odd, { constructor: "yes" }, { word: () => 0, id: "0".repeat(32) });
  assert.equal(encodeReport(report), `{"id":"${"0".repeat(32)}","cohort":null,"answers":{"constructor":1}}`);
});

test("an unknown cohort is refused", () => {
  for (const cohort of ["radio", "", "constructor", 0]) assert.throws(() => randomize(survey, whole, { cohort }), ReportError);
});

test("a cohort is written in ASCII", () => {
  const report = { id: "00", cohort: "Zürich 🤫\x7f", answers: {} };
  assert.equal(encodeReport(report), '{"id":"00","cohort":"Z\\u00fcrich \\ud83e\\udd2b\\u007f","answers":{}}');
});

test("reports have one length and one form whatever the answers", () => {
  const lengths = new Set();
  for (const affair of ["yes", "no"]) {
    for (const religious of survey.questions[2].options) {
      lengths.add(encodeReport(randomize(survey, { affair, trust: "no", religious })).length);
    }
  }
  assert.equal(lengths.size, 1);
});

test("reports are frozen, and two draws have two ids", () => {
  const [one, two] = [randomize(survey, whole), randomize(survey, whole)];
  assert.ok(Object.isFrozen(one) && Object.isFrozen(one.answers));
  assert.notEqual(one.id, two.id);
});

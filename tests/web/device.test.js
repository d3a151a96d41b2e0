import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerError, DeniableError, ReportError, encodeReport, parseSurvey, randomize } from "../../client/deniable_web/index.js";
import { bytes, tape, vectors } from "./helpers.js";

const { document, vectors: people } = vectors("reports");
const survey = await parseSurvey(bytes(document));
const whole = people[0].answers;
/** An answer to the question of that type, besides good ones to all others. */
const withAnswer = (type, answer) => ({ ...whole, [survey.questions.find((question) => question.type === type).id]: answer });

for (const { name, answers, cohort, words, id, report, asked, document: own } of people) {
  test(`report ${name}`, async () => {
    const its = own ? await parseSurvey(bytes(own)) : survey;
    const word = tape(words);
    const draw = () => encodeReport(randomize(its, answers, { cohort, word, id, asked }));
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
  assert.throws(() => randomize(survey, JSON.parse(JSON.stringify(whole).replace("{", '{"__proto__":"yes",'))), AnswerError);
});

test("a question may be called constructor", async () => {
  const plain = vectors("surveys").find((vector) => vector.name === "good: T").document;
  const odd = await parseSurvey(bytes(plain.replace('"id":"q"', '"id":"constructor"')));
  assert.throws(() => randomize(odd, {}), AnswerError);
  const report = randomize(odd, { constructor: "yes" }, { word: () => 0, id: "0".repeat(32) });
  assert.equal(encodeReport(report), `{"id":"${"0".repeat(32)}","cohort":null,"values":{"constructor":1}}`);
});

test("an unknown cohort is refused", () => {
  for (const cohort of ["radio", "", "constructor", 0]) assert.throws(() => randomize(survey, whole, { cohort }), ReportError);
});

test("a cohort is written in ASCII", () => {
  const report = { id: "00", cohort: "Zürich 🤫\x7f", values: {} };
  assert.equal(encodeReport(report), '{"id":"00","cohort":"Z\\u00fcrich \\ud83e\\udd2b\\u007f","values":{}}');
});

test("reports have one form whatever the answers: numbers, and texts of one length", () => {
  const forms = new Set();
  for (const { name, answers, document } of people) {
    if (name.startsWith("bad") || document) continue;
    for (const drugs of [[], ["heroin"], ["cannabis", "cocaine", "heroin"]]) {
      const text = encodeReport(randomize(survey, { ...answers, drugs }, { id: "00" }));
      forms.add(text.replace(/:-?\d+(?=[,}])/g, ":0").replace(/"[01]+"/g, (bits) => `"${"0".repeat(bits.length)}"`));
    }
  }
  assert.equal(forms.size, 1);
});

const NO_ANSWERS = {
  "yes-no": [1, true, "Yes", "", null, undefined, ["yes"], new String("yes")],
  choice: [0, "very", "", null, undefined, ["not"]],
  ticks: ["cannabis", "", 0, null, undefined, {}, [0], ["no such"], ["heroin", "heroin"], [["heroin"]], [undefined], Array(1), new Set()],
  scale: [3, -3, 0.5, "+1", "1.0", " 1", "-0", true, null, undefined, [1], 1n, NaN, Infinity, new Number(1)],
  number: [61, -1, 5.5, "5", "", true, null, undefined, [5], 5n, NaN, Infinity, 1e300, new Date(5)],
};
for (const [type, answers] of Object.entries(NO_ANSWERS)) {
  test(`${type}: what is no answer is refused before a word is drawn, and not repeated`, () => {
    const { id } = survey.questions.find((question) => question.type === type);
    for (const answer of answers) {
      assert.throws(
        () => randomize(survey, withAnswer(type, answer), { word: tape([]) }),
        (error) => error instanceof AnswerError && new RegExp(`^answers\\["${id}"\\]: must be [a-z0-9 ]+$`).test(error.message),
        String(answer),
      );
    }
  });
}

test("a scale takes the label or the number, ticks take any order, and both make the same report", () => {
  const draw = (type, answer) => {
    let n = 0;
    const word = () => (n++ * 2654435769) % 2 ** 32; // any words, the same ones each time
    return encodeReport(randomize(survey, withAnswer(type, answer), { word, id: "00" }));
  };
  for (const level of [-2, -1, 0, 1, 2]) assert.equal(draw("scale", level), draw("scale", String(level)));
  assert.equal(draw("scale", -0), draw("scale", 0));
  assert.equal(draw("ticks", ["heroin", "cannabis"]), draw("ticks", ["cannabis", "heroin"]));
  assert.notEqual(draw("ticks", []), draw("ticks", ["cannabis", "cocaine", "heroin"])); // whichever boxes are drawn
});

test("reports are frozen, and two draws have two ids", () => {
  const [one, two] = [randomize(survey, whole), randomize(survey, whole)];
  assert.ok(Object.isFrozen(one) && Object.isFrozen(one.values));
  assert.notEqual(one.id, two.id);
});

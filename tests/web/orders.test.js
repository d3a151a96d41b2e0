/* Sections, grids and random orders: the vectors that Python wrote, and that nothing sent depends on an order. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerError, SurveyError, encodeReport, parseSurvey, randomize } from "../../client/deniable_web/index.js";
import { arranged } from "../../client/deniable_web/arrangement.js";
import { choiceOf } from "../../client/deniable_web/device.js";
import { english } from "../../client/deniable_web/catalogues/figures.js";
import { needed, routeOf } from "../../client/deniable_web/route.js";
import { translate } from "../../client/deniable_web/survey.js";
import { bytes, tape, vectors } from "./helpers.js";

const view = async ({ document, id }) => translate(await parseSurvey(bytes(document), id), [], english);

for (const vector of vectors("orders")) {
  test(`orders ${vector.name}`, async () => {
    if (vector.id === null) {
      await assert.rejects(parseSurvey(bytes(vector.document)), SurveyError);
      return;
    }
    const survey = await view(vector);
    assert.deepEqual((await survey.keyed()).map(({ key }) => key), vector.keys);
    for (const { asked, words, order, choices } of vector.visits) {
      const word = tape(words);
      const shown = arranged(survey, needed(survey.questions, new Set(asked)), word);
      assert.equal(word.left.length, 0);
      assert.deepEqual(shown.map(({ id }) => id), order);
      for (const question of shown) assert.deepEqual(question.choices, choices[question.id] ?? question.options.slice(0, question.choices.length));
    }
  });
}

const [SECTIONS] = vectors("orders");

/** Answers by what is written at the place that somebody chooses. @param {any[]} questions @param {(question: any) => any} choose */
const given = (questions, choose) => {
  const { applies } = routeOf(questions, (each) => choiceOf(each, choose(each)));
  return Object.fromEntries(questions.flatMap((each, n) => (applies[n] ? [[each.id, choose(each)]] : [])));
};

test("a report is the same byte for byte in every order", async () => {
  const survey = await view(SECTIONS);
  const every = survey.questions.map(({ id }) => id);
  for (const choose of [({ kind, options }) => (kind.takesSeveral ? [] : options[0]), ({ kind, options }) => (kind.takesSeveral ? options.slice(0, 3) : options[1])]) {
    const reports = SECTIONS.visits.map(({ words }) => {
      const shown = arranged(survey, survey.questions, tape(words));
      let n = 0;
      const word = () => (n = (n * 1664525 + 1013904223) >>> 0);
      return encodeReport(randomize(survey, given(shown, choose), { asked: every, word, id: "0".repeat(32) }));
    });
    assert.equal(new Set(reports).size, 1);
  }
});

test("ticks in another order make the same report", async () => {
  const { questions } = await view(SECTIONS);
  const drugs = questions.find(({ id }) => id === "drugs");
  const report = (ticked) => drugs.mechanism.randomize(choiceOf(drugs, ticked), tape([2 ** 31, 5, 2 ** 30, 9, 11]));
  assert.equal(report(["heroin", "cannabis"]), report(["cannabis", "heroin"]));
});

test("an order is drawn from words alone, as many whatever is asked", async () => {
  const survey = await view(SECTIONS);
  const [{ words }] = SECTIONS.visits.slice(1);
  const everything = arranged(survey, survey.questions, tape(words)).map(({ id }) => id);
  const some = arranged(survey, survey.questions.slice(0, 2), tape(words)).map(({ id }) => id);
  assert.deepEqual(some, everything.filter((id) => some.includes(id)));
});

test("each question knows its section and its grid, in words of the reader's language", async () => {
  const parsed = await parseSurvey(bytes(SECTIONS.document), SECTIONS.id);
  const survey = translate(parsed, ["de"], english);
  const shown = arranged(survey, survey.questions, tape(SECTIONS.visits[0].words));
  assert.equal(shown.find(({ id }) => id === "drugs").section.heading, "Ihre Gewohnheiten");
  assert.equal(shown.find(({ id }) => id === "sector").section, undefined);
  const rows = shown.filter(({ grid }) => grid);
  assert.equal(rows.length, 3);
  assert.equal(new Set(rows.map(({ grid }) => grid)).size, 1);
});

test("beside a box that stands alone nothing else is taken, and the message names no answer", async () => {
  const { questions } = await view(SECTIONS);
  const drugs = questions.find(({ id }) => id === "drugs");
  const messages = [["None of these", "heroin"], ["None of these", "Prefer not to say"], ["heroin", "Prefer not to say"], ["opium"]].map((ticked) => {
    let message = "";
    assert.throws(() => choiceOf(drugs, ticked), (error) => ((message = error.message), error instanceof AnswerError));
    return message;
  });
  assert.equal(new Set(messages).size, 1);
  assert.deepEqual(choiceOf(drugs, ["None of these"]), [3]);
});

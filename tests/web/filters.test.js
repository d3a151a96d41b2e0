/* Filters: the vectors that Python wrote, and what a device shows, drops and refuses. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerError, SurveyError, encodeReport, parseSurvey, randomize } from "../../client/deniable_web/index.js";
import { choiceOf } from "../../client/deniable_web/device.js";
import { needed, routeOf } from "../../client/deniable_web/route.js";
import { bytes, tape, vectors } from "./helpers.js";

for (const vector of vectors("filters")) {
  test(`filters ${vector.name}`, async () => {
    if (vector.id === null) {
      await assert.rejects(parseSurvey(bytes(vector.document)), SurveyError);
      return;
    }
    const survey = await parseSurvey(bytes(vector.document), vector.id);
    assert.deepEqual((await survey.keyed()).map(({ key }) => key), vector.keys);
    for (const { asked, answers, route, words, report } of vector.people) {
      const shown = needed(survey.questions, new Set(asked));
      const { applies } = routeOf(shown, (each) => choiceOf(each, answers[each.id]));
      assert.deepEqual(shown.filter((_, n) => applies[n]).map(({ id }) => id), route);
      const word = tape(words);
      assert.equal(encodeReport(randomize(survey, answers, { asked, word, id: "0".repeat(32) })), report);
      assert.equal(word.left.length, 0);
    }
  });
}

const ASKED = vectors("filters").find(({ people }) => people?.some(({ asked, route }) => route.length < asked.length));

test("an answer to what does not apply is dropped, and a missing one names no question", async () => {
  const survey = await parseSurvey(bytes(ASKED.document));
  const { asked, answers, route, words, report } = ASKED.people.find(({ asked, route }) => route.length < asked.length);
  const skipped = survey.questions.find(({ id }) => asked.includes(id) && !route.includes(id));
  const stale = { ...answers, [skipped.id]: skipped.kind.takesSeveral ? [] : (skipped.choices[0] ?? skipped.mechanism.lo) };
  assert.equal(encodeReport(randomize(survey, stale, { asked, word: tape(words), id: "0".repeat(32) })), report);
});

test("that it does not apply cannot be chosen, and what is missing is not named", async () => {
  const [filtered] = vectors("filters").filter(({ name }) => name === "bad: nothing");
  const document = filtered.document.replace('"ask_if":[]', '"ask_if":["among","a",1,1]');
  const survey = await parseSurvey(bytes(document));
  const answers = { a: "yes", c: 1, d: [], n: 5, e: "no" };
  const refused = (more) => {
    try {
      randomize(survey, { ...answers, ...more });
    } catch (error) {
      assert.ok(error instanceof AnswerError);
      return error.message;
    }
    return "";
  };
  assert.match(refused({ f: "Does not apply" }), /must be one that its question allows/);
  assert.equal(refused({}), "answers: must be to every question that applies");
  assert.equal(refused({ f: "no" }), "");
  assert.equal(refused({ a: "no" }), "");
  assert.match(refused({ a: "no", f: "Does not apply" }), /must be one that its question allows/);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { catalogues } from "../../client/deniable_web/catalogues.mjs";
import { clearest, fateOf } from "../../client/deniable_web/chance.js";
import { randomizeAnswer } from "../../client/deniable_web/device.js";
import { of100 } from "../../client/deniable_web/odds.js";
import { parseSurvey, translate } from "../../client/deniable_web/survey.js";
import { inWords } from "../../client/deniable_web/wording.js";
import { bytes, vectors } from "./helpers.js";

const { en } = catalogues();

/** Words of a small generator with a fixed seed: xorshift of 32 bits. */
function words(seed = 2463534242) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** One question of each mechanism and type, out of the surveys that both languages share. */
async function someOfEach() {
  const found = new Map();
  for (const vector of vectors("surveys")) {
    if (vector.id === null) continue;
    const view = translate(await parseSurvey(bytes(vector.document), vector.id), ["en"], en);
    for (const question of view.questions) {
      const name = `${question.mechanism.name} of ${question.type}, ${Math.round(question.epsilon)}`;
      if (!found.has(name)) found.set(name, question);
    }
  }
  return [...found];
}

test("the picture fills as many people as the mechanism's integers say, and pressed as many as it draws", async () => {
  const questions = await someOfEach();
  assert.ok(questions.length > 12);
  const n = 4000;
  for (const [name, question] of questions) {
    const { options, kind, mechanism } = question;
    const answers = options.length ? [0, options.length - 1] : [mechanism.lo, mechanism.hi];
    for (const answer of answers) {
      const { share, isKept } = fateOf(en, question, answer);
      assert.ok(share > 0 && share < 1, name);
      const word = words();
      const given = options.length ? options[answer] : answer;
      let kept = 0;
      let of = 0;
      for (let k = 0; k < n; k++) {
        const report = randomizeAnswer(question, kind.takesSeveral ? [given] : given, word);
        // Of drawn boxes, the sentence is about devices that picked the box.
        const isAsked = !mechanism.s || String(report).slice(2 * answer, 2 * answer + 2) !== "00";
        of += +isAsked;
        kept += +(isAsked && isKept(report));
      }
      // Six standard errors: beyond them with a probability below 1e-8, were the words not fixed.
      assert.ok(Math.abs(kept / of - share) < 6 * Math.sqrt((share * (1 - share)) / of), `${name}: ${kept / of} for ${share}`);
      assert.ok(of100(share) >= 1 && of100(share) <= 99);
    }
  }
});

test("what a reply says in words is what its bytes hold", async () => {
  for (const [name, question] of await someOfEach()) {
    const { options, kind, mechanism, labels } = question;
    const word = words(7);
    const given = options.length ? options[0] : mechanism.lo;
    for (let k = 0; k < 50; k++) {
      const report = randomizeAnswer(question, kind.takesSeveral ? [given] : given, word);
      const said = inWords(en, question, report);
      assert.ok(said.length > 0 && said.every((line) => line.length > 0 && !/[{}]|undefined|NaN/.test(line)), `${name}: ${said}`);
      if (typeof report === "number" && mechanism.hasShares) assert.deepEqual(said, [labels[report] ?? String(report)]);
    }
  }
  const [, question] = (await someOfEach())[0];
  assert.deepEqual(inWords(en, question, null), [en.notDrawn]);
});

test("the picture is of the question that is easiest to grasp among those that tell as much as any", async () => {
  const questions = new Map(await someOfEach());
  const of = (/** @type {string} */ name) => /** @type {any} */ ([...questions].find(([each]) => each.startsWith(name))?.[1]);
  const [yes, sets, boxes] = [of("warner of yes-no"), of("subset of choice"), of("drawn-boxes of ticks")];
  const told = (/** @type {any} */ question, /** @type {bigint} */ ratio) => {
    const mechanism = Object.create(question.mechanism, { toldRatio: { value: [ratio, 100n] } });
    return { ...question, mechanism };
  };
  // Exponents of 1 and 1.09: about the same; of 1.2: a different one.
  for (const [ratio, chosen] of /** @type {[bigint, any][]} */ ([[297n, yes], [332n, sets]])) {
    assert.equal(clearest(en, [told(boxes, 272n), told(sets, ratio), told(yes, 272n)]).id, chosen.id);
  }
  assert.equal(clearest(en, [boxes, boxes]).id, boxes.id);
});

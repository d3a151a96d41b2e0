import assert from "node:assert/strict";
import { test } from "node:test";

import { checkCeiling, said, weakness } from "../../client/deniable_web/ceiling.js";
import en from "../../client/deniable_web/catalogues/en.js";
import { resultsPage, sure } from "../../client/deniable_web/faq.js";
import { BudgetError, SurveyError, address, oddsSentences, parseSurvey, translate } from "../../client/deniable_web/index.js";
import { english } from "../../client/deniable_web/english.js";
import { Warner } from "../../client/deniable_web/mechanisms/index.js";
import { plainest, stillWrong, wholeOdds } from "../../client/deniable_web/odds.js";
import { dumps } from "../../client/deniable_web/strict-json.js";
import { bytes, vectors } from "./helpers.js";

const [whole, plain] = vectors("surveys").filter((vector) => vector.id);

test("the address of nothing", async () => {
  assert.equal(await address(bytes("")), "4oymiquy7qobjgx36tejs35zeq");
});

for (const vector of vectors("surveys")) {
  test(`survey ${vector.name}`, async () => {
    if (vector.id === null) {
      await assert.rejects(parseSurvey(bytes(vector.document)), SurveyError);
      return;
    }
    const survey = await parseSurvey(bytes(vector.document), vector.id);
    assert.equal(survey.id, vector.id);
    assert.equal(survey.document, vector.document);
    survey.questions.forEach((question, n) => {
      assert.ok(Math.abs(question.epsilon - vector.epsilon[n]) < 1e-12);
      assert.deepEqual(oddsSentences(question), vector.odds[n]);
    });
    assert.deepEqual(wholeOdds(survey, english), vector.whole_odds);
    for (const [language, labels] of Object.entries(vector.labels ?? {})) {
      assert.deepEqual(translate(survey, [language], english).questions.map((question) => question.labels), labels);
    }
    assert.ok(Math.abs(survey.epsilon - vector.whole_epsilon) < 1e-12);
    assert.deepEqual((await survey.keyed()).map(({ key }) => key), vector.keys);
    assert.deepEqual(survey.units.map(({ mechanism }) => mechanism.cost), vector.costs);
  });
}

test("bytes of another address are refused, whatever they say", async () => {
  await assert.rejects(parseSurvey(bytes(plain.document), whole.id), (error) => {
    return error instanceof SurveyError && error.message.includes(whole.id) && error.message.includes(plain.id);
  });
});

test("a survey of another format is refused, and what to do about it said", async () => {
  for (const format of ["1", "3", '"2"', "true", "{}"]) {
    const older = bytes(plain.document.replace('"deniable":2', `"deniable":${format}`));
    const said = new SurveyError("survey: must be of format 2: publish it again");
    for (const id of [undefined, await address(older)]) await assert.rejects(parseSurvey(older, id), said, format);
  }
});

test("a survey is frozen all through", async () => {
  const survey = await parseSurvey(bytes(whole.document));
  const inside = [survey, survey.cohorts, survey.questions];
  for (const question of survey.questions) inside.push(question, question.options, question.mechanism);
  for (const { mechanism } of survey.questions) inside.push(...Object.values(mechanism).filter(Array.isArray));
  for (const value of inside) assert.ok(Object.isFrozen(value));
});

/** Texts that some parser might take for the plain survey. */
const TRAPS = {
  "byte order mark": `\ufeff${plain.document}`,
  "line at the end": `${plain.document}\n`,
  "space after a colon": plain.document.replace('"title":', '"title": '),
  "escaped letter": plain.document.replace('"T"', '"\\u0054"'),
  "escaped slash": plain.document.replace('"Q?"', '"Q\\/?"'),
  "exponent": plain.document.replace('"deniable":2', '"deniable":2e0'),
  "minus zero": plain.document.replace(/"keep":\d+/, '"keep":-0'),
  "huge integer": plain.document.replace(/"keep":\d+/, `"keep":${"9".repeat(4000)}`),
  "integer beyond doubles that rounds to the weight": plain.document.replace('3139872686', "3139872686.0000000001"),
  "own __proto__": plain.document.replace('{"deniable"', '{"__proto__":{"about":"x"},"deniable"'),
  "mechanism with __proto__": plain.document.replace('{"keep"', '{"__proto__":null,"keep"'),
  "mechanism a list": plain.document.replace(/"mechanism":\{.*?\}/, '"mechanism":[]'),
  "mechanism null": plain.document.replace(/"mechanism":\{.*?\}/, '"mechanism":null'),
  "null where a text may stand": plain.document.replace('{"deniable"', '{"about":null,"deniable"'),
  "empty cohorts": plain.document.replace('{"deniable"', '{"cohorts":[],"deniable"'),
  "options an object": plain.document.replace('["no","yes"]', '{"0":"no","1":"yes"}'),
  "options in one text": plain.document.replace('["no","yes"]', '["no,yes"]'),
  "unprinted DEL": whole.document.replace("Life", "Li\x7ffe"),
  "31 February": whole.document.replace('"2026-11-20"', '"2026-02-31"'),
  "year 0": whole.document.replace('"2026-11-20"', '"0000-11-20"'),
  "date with time": whole.document.replace('"2026-11-20"', '"2026-11-20T00:00"'),
  "title too long": plain.document.replace('"T"', `"${"T".repeat(201)}"`),
  "deeply nested objects": '{"a":'.repeat(40_000),
  "deeply nested and closed": "[".repeat(100_000) + "]".repeat(100_000),
  "too large": plain.document.replace('"T"', `"${"T".repeat(300_000)}"`),
  "goal a list": whole.document.replace('"goal":"mean"', '"goal":["mean"]'),
  "goal null": plain.document.replace('"id":"q"', '"goal":null,"id":"q"'),
  "why null": plain.document.replace('"type":"yes-no"', '"type":"yes-no","why":null'),
  "why too long": plain.document.replace('"type":"yes-no"', `"type":"yes-no","why":"${"w".repeat(4001)}"`),
  "why before type": plain.document.replace('"type":"yes-no"', '"why":"w","type":"yes-no"'),
  "range from minus zero": whole.document.replace('"lo":0', '"lo":-0'),
  "fraction in a list": whole.document.replace(/"tails":\[(\d+)/, '"tails":[$1.0'),
  "list in a list": whole.document.replace(/"tails":\[(\d+)/, '"tails":[[$1]'),
  "object for a list": whole.document.replace(/"tails":\[\d+(,\d+)*\]/, '"tails":{"length":4}'),
  "unsorted keys of a mechanism": whole.document.replace(/("hi":\d+),("lo":\d+)/, "$2,$1"),
  "number without options": whole.document.replace('"options":[],', ""),
  "nothing": "",
};
for (const [name, document] of Object.entries(TRAPS)) {
  test(`trap: ${name}`, async () => {
    assert.notEqual(document, plain.document);
    await assert.rejects(parseSurvey(bytes(document)), SurveyError);
  });
}

test("trap: bytes that are no UTF-8", async () => {
  const raw = bytes(plain.document);
  raw[raw.indexOf(0x54)] = 0xff;
  await assert.rejects(parseSurvey(raw), SurveyError);
});

/** The whole survey with one of its scales from another number on, and as many levels. */
const withScale = (options) => parseSurvey(bytes(whole.document.replace('["1","2","3","4"]', JSON.stringify(options))));

test("a scale is whole numbers in rising order, written in one way", async () => {
  for (const options of [["-4", "-3", "-2", "-1"], ["-1", "0", "1", "2"], ["999999999", "1000000000", "1000000001", "1000000002"]]) {
    assert.deepEqual((await withScale(options)).questions.find(({ id }) => id === "order").options, options);
  }
  const bad = [["1", "2", "3"], ["1", "2", "3", "5"], ["4", "3", "2", "1"], ["-0", "1", "2", "3"], ["01", "2", "3", "4"], ["+1", "2", "3", "4"]];
  for (const options of [...bad, ["1.0", "2", "3", "4"], [1, 2, 3, 4], ["a", "b", "c", "d"], ["1000000000", "1000000001", "1000000002", "1000000003"]]) {
    await assert.rejects(withScale(options), SurveyError, String(options));
  }
});

test("a scale of 101 levels at most, a choice of more", async () => {
  for (const [type, k, isGood] of [["scale", 101, true], ["scale", 102, false], ["choice", 102, true]]) {
    const mechanism = { k, keep: 2 ** 32 - (k - 1) * 2 ** 20, name: "k-ary" };
    const options = Array.from({ length: k }, (_, n) => String(n));
    const goal = type === "scale" ? { goal: "shares" } : {};
    const made = withQuestions([{ ...goal, id: "q", mechanism, options, text: "Q?", type }]);
    if (isGood) assert.equal((await made).questions[0].options.length, k);
    else await assert.rejects(made, SurveyError);
  }
});

test("the range of a scale is its option numbers", async () => {
  const scale = (lo, hi) => [
    { goal: "mean", id: "q", mechanism: { hi, lo, name: "mean", slope: 2 ** 20 }, options: ["5", "6", "7"], text: "Q?", type: "scale" },
  ];
  assert.deepEqual((await withQuestions(scale(0, 2))).questions[0].options, ["5", "6", "7"]);
  for (const [lo, hi] of [[5, 7], [0, 3], [1, 3], [-1, 1]]) await assert.rejects(withQuestions(scale(lo, hi)), SurveyError);
});

test("why is kept, and no interface text", async () => {
  const survey = await parseSurvey(bytes(plain.document.replace('"type":"yes-no"', '"type":"yes-no","why":"Least noise."')));
  assert.equal(survey.questions[0].why, "Least noise.");
  assert.equal((await parseSurvey(bytes(plain.document))).questions[0].why, null);
});

test("texts in several languages: the default is the text, people read their own", async () => {
  const spoken = plain.document
    .replace('"T"', '{"de":"Ein T","default":"T","pt-BR":"Um T"}')
    .replace('"Q?"', '{"de":"F?","default":"Q?"}');
  const survey = await parseSurvey(bytes(spoken));
  assert.deepEqual([survey.title, survey.questions[0].text], ["T", "Q?"]);
  const words = { no: "Nein", yes: "Ja" };
  const read = (...languages) => {
    const view = translate(survey, languages, words);
    return [view.title, view.questions[0].text, ...view.questions[0].labels];
  };
  assert.deepEqual(read("de-AT", "de"), ["Ein T", "F?", "Nein", "Ja"]);
  assert.deepEqual(read("pt-BR", "pt", "de"), ["Um T", "F?", "Nein", "Ja"]);
  assert.deepEqual(read("fi"), ["T", "Q?", "Nein", "Ja"]);
  assert.deepEqual(read("constructor", "__proto__"), ["T", "Q?", "Nein", "Ja"]);
  for (const bad of ['{"default":"T"}', '{"de":"T"}', '{"German":"T","default":"T"}', '{"de":3,"default":"T"}', '{"de":"","default":"T"}', '{"de":{"default":"T","fr":"T"},"default":"T"}', '{"default":"T","de":"T"}', '{"de":"T","default":null}', "[]", "{}"]) {
    await assert.rejects(parseSurvey(bytes(plain.document.replace('"T"', bad))), SurveyError, bad);
  }
  for (const options of ['[{"de":"nein","default":"no"},"yes"]', '[{"default":"no"},"yes"]']) {
    await assert.rejects(parseSurvey(bytes(plain.document.replace('["no","yes"]', options))), SurveyError);
  }
});

test("what Python publishes for unusual texts is read back", async () => {
  const unusual = plain.document
    .replace('"T"', '"\\u007f?"'.replace("\\u007f", "\\u00e9\\u2028\\ufeff\\ud83e\\udd2b \\\"\\\\/\\n"))
    .replace('"id":"q"', '"id":"constructor"');
  const survey = await parseSurvey(bytes(unusual));
  assert.equal(survey.title, 'é\u2028\ufeff🤫 "\\/\n?');
  assert.equal(survey.questions[0].id, "constructor");
});

test("every real day is a date", async () => {
  for (const day of ["1970-01-01", "2024-02-29", "0001-01-01"]) {
    const survey = await parseSurvey(bytes(whole.document.replace("2026-11-20", day)));
    assert.equal(survey.opens, day);
  }
  await assert.rejects(parseSurvey(bytes(whole.document.replace("2026-11-20", "2025-02-29"))), SurveyError);
});

test("without crypto.subtle nothing is read", async (t) => {
  const { crypto } = globalThis;
  t.after(() => Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true }));
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  await assert.rejects(parseSurvey(bytes(plain.document)), (error) => error instanceof SurveyError && /https/.test(error.message));
});

/** A survey of these published questions. */
const withQuestions = (questions) => parseSurvey(bytes(dumps({ deniable: 2, questions, title: "T" })));

/** The plain survey with these weights of Warner's design, one question each. @param {number[]} weights */
const withKeeps = (weights) => {
  const [question] = JSON.parse(plain.document).questions;
  return withQuestions(weights.map((keep, n) => ({ ...question, id: `q${n}`, mechanism: { keep, name: "warner" } })));
};
const keep = (/** @type {number} */ epsilon) => Math.floor(2 ** 32 / (1 + Math.exp(-epsilon)));

test("the ceiling: 4 a question, 8 a survey; a hint from 1 and 2, warnings from 2 and 4", async () => {
  for (const epsilons of [[4], [4, 4], Array(8).fill(1)]) checkCeiling(await withKeeps(epsilons.map(keep)));
  for (const epsilons of [[4.001], [1, 4.001], [4, 3, 1.1], Array(9).fill(1)]) {
    const survey = await withKeeps(epsilons.map(keep));
    assert.throws(() => checkCeiling(survey), BudgetError);
  }
  for (const [epsilons, expected] of /** @type {[number[], number][]} */ ([
    [[1], 0], [[1, 1], 0], [[1, 1, 0.1], 1], [[1.1], 1], [[2], 1], [[2.1], 2], [[2, 2], 1], [[1, 1, 1, 1.1], 2],
  ])) {
    assert.equal(weakness(await withKeeps(epsilons.map(keep))), expected, String(epsilons));
  }
});

test("each sentence about strength is said at the strengths that stand beside it", () => {
  const [unsure, hint, weak] = ["Nobody is sure.", "A hint.", "Little."];
  assert.deepEqual([0, 1, 2].map((strength) => said(strength, { unsure, hint, weak }, "unsure", "hint", "weak")), [unsure, hint, weak]);
  const noAdmission = "No admission.";
  assert.deepEqual([0, 1, 2].map((strength) => said(strength, { noAdmission }, "noAdmission")), [noAdmission, noAdmission, ""]);
});

test("what a reply comes to is said before its figure, and holds at every strength", async () => {
  for (const [epsilons, sentence, most] of /** @type {[number[], string, number][]} */ ([
    [[0.1], "Nobody can be certain", 53], [[1], "Nobody can be certain", 74], [[1, 1], "Nobody can be certain", 89],
    [[2], "never certain", 89], [[2, 2], "never certain", 99], [[4], "could become quite sure", 99], [[4, 4], "could become quite sure", 100],
  ])) {
    const survey = await withKeeps(epsilons.map(keep));
    assert.ok(sure(en, weakness(survey)).includes(sentence), String(epsilons));
    const [even] = wholeOdds(survey, english);
    const right = Number(even.match(/at most ([\d.]+) times/)?.[1]);
    assert.ok(right > 50 && right <= most, even);
  }
});

test("a mechanism of yes-no questions alone has the two sentences for yes and no, whatever it is called", () => {
  class Another extends Warner {
    static published = ["another", "keep"];
  }
  const [another, warner] = [new Another(0.75 * 2 ** 32), new Warner(0.75 * 2 ** 32)];
  assert.equal(another.name, "another");
  assert.deepEqual(oddsSentences({ mechanism: another }), oddsSentences({ mechanism: warner }));
  assert.equal(oddsSentences({ mechanism: another }).length, 2);
});

test("odds never say that nobody or everybody does what a few do", async () => {
  const survey = await withKeeps([2 ** 32 - 2]);
  assert.match(oddsSentences(survey.questions[0])[0], /about 99 send Yes and 1 send No/);
});

test("the odds of a whole survey are the product of its questions'", async () => {
  const of = (/** @type {string[]} */ ...ids) =>
    withQuestions(JSON.parse(whole.document).questions.filter((/** @type {any} */ { id }) => ids.includes(id)));
  const sentences = (/** @type {string} */ factor, /** @type {number} */ right, /** @type {number} */ ten, /** @type {number} */ ninety) => [
    `Suppose that somebody thinks it is fifty-fifty whether you chose one particular answer. After seeing all that you send, and knowing that it is yours, that person’s best guess is right at most ${right} times in 100.`,
    `Somebody who suspected you before can become surer, but only so far: 10 chances in 100 that you chose an answer become at most ${ten}, and 90 become at most ${ninety}.`,
    `In every case, one answer, compared with another, becomes at most ${factor} times as believable as it was.`,
  ];
  assert.deepEqual(wholeOdds(await of("affair"), english), sentences("3", 75, 25, 97)); // exactly 3, of which no double is the logarithm
  assert.deepEqual(wholeOdds(await of("affair", "trust", "religious"), english), sentences("23", 96, 72, 99.6)); // 3 e e = 22.2
  assert.deepEqual(wholeOdds(await withKeeps([2 ** 31 + 1]), english), sentences("1.1", 51, 11, 91)); // hardly above 1, and never below the truth
  const [question] = (await withKeeps([0.5 * 2 ** 32 + 2 ** 30])).questions;
  const ticks = { id: "q", mechanism: { k: 256, keep: 2 ** 32 - 1, name: "tick-boxes" }, options: Array.from({ length: 256 }, (_, n) => `${n}`), text: "Q?", type: "ticks" };
  assert.deepEqual(wholeOdds(await withQuestions([ticks]), english), sentences("10^2467", 100, 100, 100));
  assert.equal(question.mechanism.ratio[0], 3n * question.mechanism.ratio[1]);
});

test("factors are written as each language writes numbers, in the same digits", async () => {
  const survey = await withKeeps([keep(1)]);
  for (const [lang, number] of [["de", "2,8"], ["fr", "2,8"], ["es", "2,8"], ["ar", "2.8"], ["en", "2.8"]]) {
    assert.equal(wholeOdds(survey, { lang, oddsAll: "{e}", oddsTen: "", guessEven: "" })[2], number, lang);
  }
});

test("the plainest question is the one whose sentence can multiply odds most", async () => {
  const survey = await withKeeps([keep(1), keep(2), keep(1.5)]);
  assert.equal(plainest(survey.questions).id, "q1");
});

test("people hear whether what they sent is listed, and who can read the results", async () => {
  const { document } = vectors("surveys").find(({ name }) => name === "good: T");
  for (const [keys, listed, open] of /** @type {[object, boolean, boolean][]} */ ([
    [{}, true, true],
    [{ retention: "tallies" }, false, true],
    [{ readers: "token" }, true, false],
  ])) {
    const raw = bytes(dumps(Object.fromEntries(Object.entries({ ...JSON.parse(document), ...keys }).sort())));
    const view = translate(await parseSurvey(raw), ["en"], english);
    for (const weak of [0, 1, 2]) {
      const text = resultsPage(en, view, weak);
      assert.equal(text.includes(en.resultsList), listed && weak < 2);
      assert.equal(text.includes(en.resultsListWeak), listed && weak === 2);
      assert.equal(text.includes(en.resultsTotals), !listed);
      assert.equal(text.includes(en.resultsPublic), open);
      assert.equal(text.includes(en.resultsToken), !open);
    }
  }
});

test("how often a guess is still wrong is what the figure of right guesses leaves of 100, never above the truth", async () => {
  const figures = { guessEven: "{g}", guessWrong: "{w}", oddsTen: "", oddsAll: "" };
  const seen = new Set();
  for (const { document } of vectors("surveys").filter((each) => each.id)) {
    const survey = await parseSurvey(bytes(document));
    const [right] = wholeOdds(survey, { lang: "en", ...figures });
    const wrong = stillWrong(survey, { lang: "en", ...figures });
    assert.equal(wrong, String(+(100 - Number(right)).toFixed(1)));
    const truth = 100 / (1 + Math.exp(survey.epsilon));
    assert.ok(Number(wrong) <= truth + 1e-6 && truth < Number(wrong) + 1, `${wrong}: ${truth}`);
    seen.add(wrong);
  }
  assert.ok(seen.size > 3 && seen.has("26"), [...seen].join()); // of one question at epsilon 1
  const { units } = await parseSurvey(bytes(whole.document));
  const weak = { units: units.slice(0, 5) }; // the factor is 300 or so
  assert.deepEqual(wholeOdds(weak, { lang: "de", ...figures })[0], "99,7");
  assert.equal(stillWrong(weak, { lang: "de", ...figures }), "0,3");
});

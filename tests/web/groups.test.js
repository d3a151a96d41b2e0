/* Questions that share one epsilon: what is published of them, what a device draws, keeps, pays for and sends. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { checkCeiling, weakness } from "../../client/deniable_web/ceiling.js";
import {
  AnswerError,
  BudgetError,
  Memory,
  SurveyError,
  UnusableMemory,
  address,
  drawQuestions,
  encodeReport,
  parseSurvey,
  randomize,
} from "../../client/deniable_web/index.js";
import { english } from "../../client/deniable_web/english.js";
import { wholeOdds } from "../../client/deniable_web/odds.js";
import { UNIT } from "../../client/deniable_web/randomness.js";
import { fakeStore } from "./device-steps.js";
import { bytes, tape, written } from "./helpers.js";

const HERE = "https://a.example";
const DAY = "2026-11-25";

/** A response over patterns that says each other one with a weight of 2**bits. */
const joint = (k, bits = 26) => ({ k, keep: UNIT - (k - 1) * 2 ** bits, name: "k-ary" });
/** What a response over k patterns does to one question of so many options. */
const marginal = (k, options = 2, bits = 26) => UNIT - (k - k / options) * 2 ** bits;
const warner = (keep) => ({ keep, name: "warner" });
const keepOf = (epsilon) => Math.floor(UNIT / (1 + Math.exp(-epsilon)));

const yesNo = (id, mechanism, group) => ({ group, id, mechanism, options: ["no", "yes"], text: `${id}?`, type: "yes-no" });
const choice = (id, mechanism, group, options = ["a", "b", "c"], more = {}) => ({ group, id, mechanism, options, text: `${id}?`, type: "choice", ...more });
const documentOf = (groups, questions, more = {}) => written({ deniable: 2, groups, questions, title: "T", ...more });
const surveyOf = (...parts) => parseSurvey(bytes(documentOf(...parts)));

const FIVE = ["a", "b", "c", "d", "e"];
/** Two of five questions, by one response over their four patterns. */
const TWO_OF_FIVE = [{ g: { draw: 2, joint: joint(4) } }, FIVE.map((id) => yesNo(id, warner(marginal(4)), "g"))];
/** One of three by their own mechanisms, around a question that stands alone. */
const TICKS = { id: "t", mechanism: { k: 2, keep: 3139872686, name: "tick-boxes" }, options: ["x", "y"], text: "t?", type: "ticks" };
const OWN = [
  { own: { draw: 2, why: "Because." } },
  [yesNo("p", warner(keepOf(0.5)), "own"), yesNo("alone", warner(keepOf(1))), { ...TICKS, group: "own" }, yesNo("r", warner(keepOf(1.5)), "own")],
];

test("a group is one unit, in the order of its first question", async () => {
  const survey = await surveyOf(...OWN);
  assert.deepEqual(survey.units.map(({ members, draw }) => [members.map(({ id }) => id), draw]), [[["p", "t", "r"], 2], [["alone"], 1]]);
  assert.deepEqual(survey.questions.map(({ group }) => group), ["own", null, "own", "own"]);
  for (const each of [survey.units, ...survey.units]) assert.ok(Object.isFrozen(each));
  assert.ok(Object.isFrozen(survey.units[0].mechanism));
});

const scale = (id, mechanism) => choice(id, mechanism, "g", ["1", "2", "3"], { goal: "shares", type: "scale" });
const rating = (id, mechanism) => choice(id, mechanism, "g", ["1", "2", "3"], { goal: "shares", type: "rating" });
const GOOD = {
  "two of five yes-no questions": TWO_OF_FIVE,
  "each by its own mechanism": OWN,
  "all questions at once": [{ g: { draw: 2, joint: joint(4) } }, ["a", "b"].map((id) => yesNo(id, warner(marginal(4)), "g"))],
  "all questions, each by its own mechanism": [{ g: { draw: 2 } }, ["a", "b"].map((id) => yesNo(id, warner(keepOf(1)), "g"))],
  "one question, whose pattern is its answer": [{ g: { draw: 1, joint: joint(2) } }, ["a", "b"].map((id) => yesNo(id, warner(marginal(2)), "g"))],
  "types of equally many options": [
    { g: { draw: 2, joint: joint(9, 25) } },
    [choice("a", { k: 3, keep: marginal(9, 3, 25), name: "k-ary" }, "g"), scale("b", { k: 3, keep: marginal(9, 3, 25), name: "k-ary" }), rating("c", { k: 3, keep: marginal(9, 3, 25), name: "k-ary" })],
  ],
  "two groups": [
    { g: { draw: 1 }, h: { draw: 2, joint: joint(4) } },
    [yesNo("a", warner(marginal(4)), "h"), yesNo("b", warner(keepOf(1)), "g"), yesNo("c", warner(marginal(4)), "h"), yesNo("d", warner(keepOf(1)), "g")],
  ],
  "the longest pattern": [{ g: { draw: 16, joint: joint(2 ** 16, 12) } }, [..."abcdefghijklmnopq"].map((id) => yesNo(id, warner(marginal(2 ** 16, 2, 12)), "g"))],
  "a group by the name of a column": [{ id: { draw: 1 } }, ["a", "b"].map((id) => yesNo(id, warner(keepOf(1)), "id"))],
};
for (const [name, parts] of Object.entries(GOOD)) {
  test(`group: ${name}`, async () => {
    const document = documentOf(...parts);
    assert.equal((await parseSurvey(bytes(document), await address(bytes(document)))).document, document);
  });
}

const [GROUPS, QUESTIONS] = TWO_OF_FIVE;
/** The group of five with other keys. */
const grouped = (more) => [{ g: { ...GROUPS.g, ...more } }, QUESTIONS];
/** The group of five with another first question. */
const first = (more) => [GROUPS, [{ ...QUESTIONS[0], ...more }, ...QUESTIONS.slice(1)]];
const pair = (draw, response, ...questions) => [{ g: { draw, joint: response } }, questions];
const kAry = (k, keep) => ({ k, keep, name: "k-ary" });
const BAD = {
  "no group at all": [{}, QUESTIONS.map((each) => ({ ...each, group: undefined }))],
  "groups a list": [[GROUPS.g], QUESTIONS],
  "groups a text": ["g", QUESTIONS],
  "groups null": [null, QUESTIONS],
  "a group null": [{ g: null }, QUESTIONS],
  "a group that no question names": [{ ...GROUPS, h: { draw: 1 } }, QUESTIONS],
  "no group of the name": [undefined, QUESTIONS],
  "a question of a group that is not there": first({ group: "h" }),
  "a group that every object has": [{ g: GROUPS.g }, first({ group: "constructor" })[1]],
  "one question": [{ g: { draw: 1 } }, [yesNo("a", warner(keepOf(1)), "g"), yesNo("b", warner(keepOf(1)))]],
  ...Object.fromEntries(
    ["", "G", "1g", "g-h", "_g", "g".repeat(41), "__proto__"].map((name) => [
      `the name ${JSON.stringify(name)}`,
      [Object.fromEntries([[name, GROUPS.g]]), QUESTIONS.map((each) => ({ ...each, group: name }))],
    ]),
  ),
  ...Object.fromEntries(
    [null, 1, ["g"], {}, true].map((group) => [`a name that is ${JSON.stringify(group)}`, [GROUPS, QUESTIONS.map((each) => ({ ...each, group }))]]),
  ),
  ...Object.fromEntries(
    [undefined, null, 0, 6, -1, 1.5, "2", true, [2], {}].map((draw) => [`draw ${JSON.stringify(draw)}`, [{ g: { draw } }, QUESTIONS]]),
  ),
  "another key": grouped({ more: 1 }),
  "why a number": grouped({ why: 1 }),
  "why empty": grouped({ why: "" }),
  "why null": grouped({ why: null }),
  "why too long": grouped({ why: "w".repeat(4001) }),
  "why in two languages": grouped({ why: { de: "Darum.", default: "Because." } }),
  "joint null": grouped({ joint: null }),
  "joint a number": grouped({ joint: 4 }),
  "joint of another mechanism": grouped({ joint: warner(marginal(4)) }),
  "joint of a pair, by the name of warner": pair(1, warner(marginal(2)), yesNo("a", warner(marginal(2)), "g"), yesNo("b", warner(marginal(2)), "g")),
  "joint of waves": grouped({ joint: { ...joint(4), again: UNIT - 3 * 2 ** 27, name: "longitudinal" } }),
  "joint with another key": grouped({ joint: { ...joint(4), more: 1 } }),
  "joint over fewer patterns": grouped({ joint: joint(3) }),
  "joint over more patterns": grouped({ joint: joint(8) }),
  "joint for another draw": grouped({ draw: 3 }),
  "joint of a weight that is none": grouped({ joint: { k: 4, keep: UNIT - 3 * 2 ** 26 + 1, name: "k-ary" } }),
  "joint that lies more often than not": grouped({ joint: { k: 4, keep: 2 ** 30 - 3 * 2 ** 20, name: "k-ary" } }),
  "a mechanism that keeps more than the marginal": first({ mechanism: warner(marginal(4) + 1) }),
  "a mechanism that keeps less": first({ mechanism: warner(marginal(4) - 1) }),
  "the opposite of the marginal": first({ mechanism: warner(UNIT - marginal(4)) }),
  "another mechanism of the same epsilon": first({ mechanism: { name: "two-coin", truth: 2 ** 31, yes: 2 ** 31 } }),
  "other options than the rest": pair(
    2, joint(4), yesNo("a", warner(marginal(4)), "g"), choice("b", kAry(3, marginal(4)), "g"),
  ),
  "first other options than the rest": pair(
    2, joint(9, 25), choice("a", kAry(3, marginal(9, 3, 25)), "g"), choice("b", kAry(2, marginal(9, 3, 25)), "g", ["a", "b"]),
  ),
  "joint of a subset": pair(
    2, joint(9, 25), choice("a", kAry(3, marginal(9, 3, 25)), "g"), choice("b", { inside: 2 ** 33, k: 3, name: "subset", w: 1 }, "g"),
  ),
  "joint of ticks": pair(2, joint(4), ...["a", "b"].map((id) => ({ ...TICKS, group: "g", id, mechanism: { ...TICKS.mechanism, keep: marginal(4) } }))),
  "joint of numbers": pair(
    2, joint(4), ...["a", "b"].map((id) => ({ group: "g", id, mechanism: { hi: 1, lo: 0, name: "mean", slope: 2 ** 20 }, options: [], text: "?", type: "number" })),
  ),
  "waves, each by its own mechanism": [
    { g: { draw: 1 } },
    [choice("a", { again: 2638309608, k: 3, keep: 3906027936, name: "longitudinal" }, "g"), choice("b", kAry(3, 2 ** 31), "g")],
  ],
  "waves with a joint response": pair(
    2, joint(4), yesNo("a", { again: 3 * 2 ** 30, k: 2, keep: marginal(4), name: "longitudinal" }, "g"), yesNo("b", warner(marginal(4)), "g"),
  ),
};
for (const [name, parts] of Object.entries(BAD)) {
  test(`no group: ${name}`, async () => {
    assert.notEqual(documentOf(...parts), documentOf(...TWO_OF_FIVE));
    await assert.rejects(surveyOf(...parts), SurveyError);
  });
}

test("a group comes out as it came in", async () => {
  const document = documentOf(...TWO_OF_FIVE);
  for (const [from, to] of [
    ['"draw":2', '"draw":2.0'],
    ['"draw":2', '"draw":2e0'],
    ['"draw":2', '"draw": 2'],
    ['"draw":2,"joint"', '"draw":2,"draw":2,"joint"'],
    ['{"g":{', '{"g":{"draw":2},"g":{'],
    ['{"g":{', '{"\\u0067":{'],
    ['{"k":4,"keep":4093640704,"name":"k-ary"}', '{"keep":4093640704,"k":4,"name":"k-ary"}'],
    ['"group":"g","id":"a"', '"id":"a","group":"g"'],
  ]) {
    const other = document.replace(from, to);
    assert.notEqual(other, document, to);
    await assert.rejects(parseSurvey(bytes(other)), SurveyError, to);
  }
});

test("the key of a group is the hash of its draw, its joint response and its questions as they are published", async () => {
  const asked = FIVE.map((id) => `{"mechanism":{"keep":${marginal(4)},"name":"warner"},"options":["no","yes"],"text":"${id}?","type":"yes-no"}`);
  const content = `{"draw":2,"joint":{"k":4,"keep":${joint(4).keep},"name":"k-ary"},"questions":[${asked}]}`;
  const survey = await surveyOf(...TWO_OF_FIVE);
  const key = await address(bytes(content));
  assert.deepEqual((await survey.keyed()).map(({ key, sent }) => [key, sent]), [[key, key]]);

  const keyOf = async (...parts) => (await (await surveyOf(...parts)).keyed())[0].key;
  const [, questions] = TWO_OF_FIVE;
  const renamed = questions.map((each, n) => ({ ...each, id: `q${n}`, group: "other", why: "Because." }));
  assert.equal(await keyOf({ other: { ...GROUPS.g, why: "Other." } }, renamed, { title: "Other" }), key);
  const fresh = await surveyOf(...TWO_OF_FIVE, { fresh: "each wave" });
  assert.equal((await fresh.keyed())[0].key, await address(bytes(content.replace(/}$/, `,"survey":"${fresh.id}"}`))));

  const own = questions.map((each) => ({ ...each, mechanism: warner(keepOf(1)) }));
  const keys = [
    key,
    (await fresh.keyed())[0].key,
    await keyOf({ g: { draw: 2 } }, own),
    await keyOf({ g: { draw: 3 } }, own),
    await keyOf({ g: { draw: 2 } }, questions),
    await keyOf({ g: { draw: 2, joint: joint(4, 25) } }, questions.map((each) => ({ ...each, mechanism: warner(marginal(4, 2, 25)) }))),
    await keyOf(GROUPS, [...questions].reverse()),
    await keyOf(GROUPS, questions.slice(1)),
    await keyOf(GROUPS, [{ ...questions[0], text: "Another?" }, ...questions.slice(1)]),
  ];
  assert.equal(new Set(keys).size, keys.length);
  const plain = '{"draw":2,"questions":[' + own.map(({ mechanism, options, text, type }) => written({ mechanism, options, text, type })) + "]}";
  assert.equal(keys[2], await address(bytes(plain)));
});

const isNear = (one, other) => assert.ok(one >= other && one < other * (1 + 1e-12), `${one} and ${other}`);

test("a joint response is what its group and each of its questions cost", async () => {
  const survey = await surveyOf(...TWO_OF_FIVE);
  const [{ mechanism }] = survey.units;
  const epsilon = Math.log(joint(4).keep / 2 ** 26); // 61 times the weight of another pattern
  assert.equal(epsilon, Math.log(61));
  isNear(mechanism.epsilon, epsilon);
  isNear(survey.epsilon, epsilon);
  assert.equal(mechanism.cost, Math.ceil(epsilon * 1e6));
  for (const question of survey.questions) {
    isNear(question.epsilon, epsilon);
    assert.ok(question.mechanism.epsilon < epsilon); // alone it would cost ln(31)
  }
  assert.throws(() => checkCeiling(survey), new BudgetError(`question "a": epsilon must be at most 4, got ${mechanism.epsilon}`));
  assert.equal(weakness(survey), 2);
});

test("without one a group costs the questions that cost most, as many as are asked", async () => {
  const survey = await surveyOf(...OWN);
  const [{ mechanism }, alone] = survey.units;
  const [p, , ticks, r] = survey.questions;
  assert.ok(ticks.epsilon > r.epsilon && r.epsilon > p.epsilon);
  isNear(mechanism.epsilon, ticks.mechanism.epsilon + r.mechanism.epsilon);
  isNear(survey.epsilon, ticks.mechanism.epsilon + r.mechanism.epsilon + alone.mechanism.epsilon);
  assert.equal(mechanism.cost, Math.ceil(ticks.epsilon * 1e6) + Math.ceil(r.epsilon * 1e6));
  for (const { epsilon, mechanism } of survey.questions) assert.equal(epsilon, mechanism.epsilon);
});

test("the ceiling holds what is asked: many questions of which few are drawn pass it", async () => {
  const questions = [...FIVE, "f", "g", "h", "i"].map((id) => yesNo(id, warner(keepOf(1.9)), "group"));
  const of = (draw) => surveyOf({ group: { draw } }, questions);
  const [four, five] = [await of(4), await of(5)];
  checkCeiling(four);
  assert.throws(() => checkCeiling(five), new BudgetError(`survey: epsilon must be at most 8, got ${five.epsilon}`));
  const weak = async (draw) => weakness(await of(draw));
  assert.deepEqual([await weak(1), await weak(2), await weak(3)], [1, 1, 2]); // 1.9 of 2, 3.8 and 5.7 of 4
});

test("the odds of a group are those of its pattern, or of the questions that can multiply odds most", async () => {
  const factor = (survey) => wholeOdds(survey, { lang: "en", oddsAll: "{e}", oddsTen: "{s}", guessEven: "{g}" });
  assert.deepEqual(factor(await surveyOf(...TWO_OF_FIVE)), ["99", "88", "61"]); // 61 to 1
  const ratios = (survey) => survey.questions.map(({ mechanism: { ratio: [more, less] } }) => Number(more) / Number(less));
  const own = await surveyOf(...OWN);
  const [p, alone, ticks, r] = ratios(own);
  assert.ok(ticks > r && r > p);
  assert.equal(factor(own)[2], String(Math.ceil(ticks * r * alone)));
  const all = await surveyOf({ own: { draw: 3 } }, OWN[1]);
  assert.equal(factor(all)[2], String(Math.ceil(ticks * r * alone * p)));
});

const ID = "0".repeat(32);
const ANSWERS = { a: "yes", b: "no", c: "yes", d: "no", e: "no" };

test("every set is drawn by exactly one of ten words, and the others are drawn again", async () => {
  const survey = await surveyOf(...TWO_OF_FIVE);
  const sets = Array.from({ length: 10 }, (_, rank) => [...drawQuestions(survey, tape([rank]))].join(""));
  assert.deepEqual(sets, ["ab", "ac", "ad", "ae", "bc", "bd", "be", "cd", "ce", "de"]);
  for (let more = 10; more < 16; more++) assert.equal([...drawQuestions(survey, tape([more, UNIT - 16]))].join(""), "ab");
  for (const [rank, set] of sets.entries()) {
    const { values } = randomize(survey, ANSWERS, { word: tape([rank, 0]), id: ID });
    assert.deepEqual(Object.keys(values), FIVE);
    for (const id of FIVE) assert.equal(values[id], set.includes(id) ? Number(ANSWERS[id] === "yes") : null);
  }
});

/** How much weight a mechanism's words give to each report: counted at the words where a report begins and ends. */
function weights(k, { keep, other }, draw) {
  const found = new Map();
  const edges = [0, keep, ...Array.from({ length: k - 1 }, (_, n) => keep + (n + 1) * other)];
  for (const [n, begin] of edges.slice(0, -1).entries()) {
    const report = draw(begin);
    assert.equal(draw(edges[n + 1] - 1), report);
    found.set(report, (found.get(report) ?? 0) + edges[n + 1] - begin);
  }
  assert.equal(edges.at(-1), UNIT);
  return found;
}

test("all patterns of all draws have exactly their weight, whatever the answers; so has each question", async () => {
  const survey = await surveyOf(...TWO_OF_FIVE);
  const response = { keep: joint(4).keep, other: 2 ** 26 };
  for (let people = 0; people < 32; people++) {
    const told = FIVE.map((_, n) => (people >> n) & 1);
    const answers = Object.fromEntries(FIVE.map((id, n) => [id, ["no", "yes"][told[n]]]));
    const single = FIVE.map(() => 0);
    for (let rank = 0; rank < 10; rank++) {
      const asked = [...drawQuestions(survey, tape([rank]))].map((id) => FIVE.indexOf(id));
      const found = weights(4, response, (word) => {
        const words = tape([rank, word]);
        const report = JSON.stringify(Object.values(randomize(survey, answers, { word: words, id: ID }).values));
        assert.equal(words.left.length, 0);
        return report;
      });
      assert.equal(found.size, 4);
      for (const [report, weight] of found) {
        const values = JSON.parse(report);
        assert.deepEqual(values.flatMap((value, n) => (value === null ? [] : [n])), asked);
        const isTruth = asked.every((n) => values[n] === told[n]);
        assert.equal(weight, isTruth ? response.keep : response.other);
        for (const n of asked) if (values[n] === told[n]) single[n] += weight;
      }
    }
    // Each question is asked by 4 of 10 sets, and then kept as its own mechanism says.
    assert.deepEqual(single, FIVE.map(() => 4 * marginal(4)));
  }
});

test("the first question that is asked is the highest digit of a pattern", async () => {
  const mechanism = kAry(3, marginal(9, 3, 25));
  const survey = await surveyOf({ g: { draw: 2, joint: joint(9, 25) } }, ["a", "b", "c"].map((id) => choice(id, mechanism, "g")));
  const { keep } = joint(9, 25);
  // The truth is pattern 2 * 3 + 1 = 7 of "c" and "b"; other patterns in order, which skip it.
  const patterns = [0, 1, 2, 3, 4, 5, 6, 8];
  for (const [n, pattern] of patterns.entries()) {
    const { values } = randomize(survey, { a: "c", b: "a", c: "b" }, { word: tape([1, keep + n * 2 ** 25]), id: ID });
    assert.deepEqual(values, { a: Math.floor(pattern / 3), b: null, c: pattern % 3 });
  }
  assert.deepEqual(randomize(survey, { a: "c", b: "a", c: "b" }, { word: tape([1, 0]), id: ID }).values, { a: 2, b: null, c: 1 });
});

test("sets come first, group by group, then units, each question by its own mechanism", async () => {
  const survey = await surveyOf(
    { g: { draw: 1 }, h: { draw: 2, joint: joint(4) } },
    [
      yesNo("one", warner(marginal(4)), "h"), yesNo("two", warner(keepOf(1)), "g"), { ...TICKS, group: "g" },
      yesNo("three", warner(marginal(4)), "h"), yesNo("four", warner(keepOf(1))), yesNo("five", warner(marginal(4)), "h"),
    ],
  );
  const answers = { one: "yes", two: "yes", t: ["x"], three: "no", four: "no", five: "yes" };
  const last = UNIT - 1;
  // h: the set 1 of 3 is one and five; g: 1 of 2 is the ticks. Then h: pattern 11 as 10; t: two words; four.
  const words = tape([1, 1, last, 0, last, last]);
  const { values } = randomize(survey, answers, { word: words, id: ID });
  assert.equal(words.left.length, 0);
  assert.deepEqual(values, { one: 1, two: null, t: "11", three: null, four: 1, five: 0 });
  assert.deepEqual(Object.keys(values), Object.keys(answers));
  // The same without words for the sets, where they were drawn before.
  const { one, t, four, five } = answers;
  const asked = ["five", "four", "t", "one"];
  assert.deepEqual(randomize(survey, { one, t, four, five }, { asked, word: tape([last, 0, last, last]), id: ID }).values, values);
  assert.deepEqual([...drawQuestions(survey, tape([1, 1]))].sort(), [...asked].sort());
});

test("where a group asks all its questions, no word draws which", async () => {
  const survey = await surveyOf(...GOOD["all questions at once"]);
  assert.deepEqual([...drawQuestions(survey, tape([]))], ["a", "b"]);
  assert.deepEqual(randomize(survey, { a: "yes", b: "no" }, { word: tape([0]), id: ID }).values, { a: 1, b: 0 });
});

test("exactly the questions that were asked are answered, or no word is drawn, and no answer is said", async () => {
  const survey = await surveyOf(...OWN);
  const secret = "yes";
  const good = { p: "yes", alone: "no", r: "yes" };
  randomize(survey, good, { asked: new Set(["p", "alone", "r"]) });
  for (const [asked, answers] of [
    [["p", "alone", "r"], { ...good, t: [] }],
    [["p", "alone", "r"], { p: "yes", alone: "no" }],
    [["p", "alone", "r"], { p: "yes", r: "no" }],
    [["p", "alone"], { p: "yes", alone: "no" }],
    [["p", "r"], { p: "yes", r: "no" }],
    [["p", "alone", "t", "r"], { ...good, t: [] }],
    [["p", "alone", "r", "no such"], good],
    [["p", "alone", "r", "no such"], { ...good, "no such": "yes" }],
    [[], {}],
    [[], good],
    [undefined, good],
  ]) {
    assert.throws(
      () => randomize(survey, answers, { asked, word: tape([]) }),
      (error) => error instanceof AnswerError && !error.message.includes(secret),
    );
  }
});

test("a report of a draw is as long whatever the answers and the draw", async () => {
  const survey = await surveyOf(...TWO_OF_FIVE);
  const lengths = new Set();
  for (let n = 0; n < 200; n++) lengths.add(encodeReport(randomize(survey, n % 2 ? ANSWERS : { ...ANSWERS, a: "no" })).length);
  assert.equal(lengths.size, 1);
});

/** A draw of this rank, and the report of a device that asks it and sends the truth. */
const rankOf = (rank) => (survey) => drawQuestions(survey, tape([rank]));
const reportOf = (survey, asked, answers = ANSWERS) => () =>
  randomize(survey, Object.fromEntries(Object.entries(answers).filter(([id]) => asked.has(id))), { asked, word: () => 0 });
const stateOf = (store) => JSON.parse(store.text);

test("a draw is kept before anybody answers, and is the same ever after", async () => {
  const store = fakeStore();
  const survey = await surveyOf(...TWO_OF_FIVE);
  const [{ key }] = await survey.keyed();
  assert.deepEqual([...(await new Memory(store).asked(survey, rankOf(4)))], ["b", "c"]);
  assert.deepEqual(stateOf(store), { reports: {}, noisy: { [`${key}draw`]: "01100" }, told: {} });
  for (const rank of [0, 4, 9]) assert.deepEqual([...(await new Memory(store).asked(survey, rankOf(rank)))].sort(), ["b", "c"]);
  const renamed = QUESTIONS.map((each, n) => ({ ...each, id: `q${n}` }));
  assert.deepEqual([...(await new Memory(store).asked(await surveyOf(GROUPS, renamed, { title: "Other" }), rankOf(0)))].sort(), ["q1", "q2"]);
  const asks = await Promise.all(Array.from({ length: 100 }, () => new Memory(fakeStore()).asked(survey)));
  assert.ok(asks.every(({ size }) => size === 2));
});

test("a hundred tabs at once get one draw", async () => {
  const store = fakeStore();
  const survey = await surveyOf(...TWO_OF_FIVE);
  const asks = await Promise.all(Array.from({ length: 100 }, (_, n) => new Memory(store).asked(survey, rankOf(n % 10))));
  assert.equal(new Set(asks.map((each) => [...each].sort().join(""))).size, 1);
});

test("a draw costs nothing and is no question that was asked", async () => {
  const memory = new Memory(fakeStore());
  const survey = await surveyOf(...OWN);
  const asked = await memory.asked(survey);
  assert.equal(asked.size, 3);
  assert.ok(asked.has("alone"));
  const { kept, isSame, hasTold } = await memory.look(survey, HERE);
  assert.deepEqual({ kept, isSame, hasTold }, { kept: undefined, isSame: false, hasTold: false });
});

test("where all are asked nothing is kept, and where a draw cannot be kept nobody is asked", async () => {
  const store = fakeStore();
  for (const parts of [GOOD["all questions at once"], [undefined, [yesNo("q", warner(keepOf(1)))]]]) {
    const survey = await surveyOf(...parts);
    assert.equal((await new Memory(store).asked(survey)).size, survey.questions.length);
  }
  assert.equal(store.text, undefined);
  store.fault = "write";
  await assert.rejects(new Memory(store).asked(await surveyOf(...TWO_OF_FIVE)), UnusableMemory);
  assert.equal(store.text, undefined);
});

test("what is kept of a group is the list of its values, for one charge", async () => {
  const store = fakeStore();
  const memory = new Memory(store);
  const survey = await surveyOf({ g: { draw: 2, joint: joint(4, 29) } }, FIVE.map((id) => yesNo(id, warner(marginal(4, 2, 29)), "g")));
  const [{ key, mechanism }] = await survey.keyed();
  const asked = await memory.asked(survey, rankOf(5));
  const text = await memory.once(survey, HERE, reportOf(survey, asked), undefined, undefined, DAY);
  assert.match(text, /,"values":{"a":null,"b":0,"c":null,"d":0,"e":null}}$/);
  assert.deepEqual(stateOf(store).noisy, { [key]: "[null,0,null,0,null]", [`${key}draw`]: "01010" });
  assert.deepEqual(stateOf(store).told, { [HERE]: { [key]: [DAY, mechanism.cost] } });
  assert.equal(mechanism.cost, Math.ceil(Math.log(5) * 1e6));
  const { kept, isSame, totals } = await memory.look(survey, HERE, false, DAY);
  assert.deepEqual([kept, isSame, totals], [text, true, [mechanism.cost / 1e6, mechanism.cost / 1e6]]);
});

test("a group that was asked under another title is asked the same, and sends the same for nothing more", async () => {
  const store = fakeStore();
  const memory = new Memory(store);
  const response = { draw: 2, joint: joint(4, 29) };
  const questions = FIVE.map((id) => yesNo(id, warner(marginal(4, 2, 29)), "g"));
  const survey = await surveyOf({ g: response }, questions);
  const other = await surveyOf({ other: response }, questions.map((each) => ({ ...each, id: `q_${each.id}`, group: "other" })), { title: "Other" });
  const told = { a: "yes", b: "yes", c: "yes", d: "yes", e: "yes" };
  // Drawn without Start, as by a program: there is no draw, but values that say it.
  await memory.once(survey, HERE, reportOf(survey, rankOf(7)(survey), told));
  assert.deepEqual(Object.keys(stateOf(store).noisy), [(await survey.keyed())[0].key]);
  const asked = await memory.asked(other, rankOf(0));
  assert.deepEqual([...asked].sort(), ["q_c", "q_d"]);
  assert.deepEqual(Object.keys(stateOf(store).noisy), [(await survey.keyed())[0].key]);
  const before = await memory.look(other, HERE);
  assert.deepEqual([before.isSame, before.totals], [true, [survey.units[0].mechanism.cost / 1e6, survey.units[0].mechanism.cost / 1e6]]);
  const no = reportOf(other, asked, { q_c: "no", q_d: "no" });
  assert.deepEqual(JSON.parse(await memory.once(other, HERE, no)).values, { q_a: null, q_b: null, q_c: 1, q_d: 1, q_e: null });
  // Another draw of the same questions changes nothing: the values that are kept say which are told.
  const third = await surveyOf({ g: response }, questions, { title: "Third" });
  const different = reportOf(third, rankOf(0)(third));
  assert.deepEqual(JSON.parse(await memory.once(third, HERE, different)).values, { a: null, b: null, c: 1, d: 1, e: null });
});

test("groups and questions of one survey are kept each for itself", async () => {
  const store = fakeStore();
  const survey = await surveyOf(...OWN);
  const asked = new Set(["p", "t", "alone"]);
  const draw = () => randomize(survey, { p: "yes", t: ["y"], alone: "no" }, { asked, word: () => 0 });
  const text = await new Memory(store).once(survey, HERE, draw, undefined, undefined, DAY);
  const [group, alone] = await survey.keyed();
  assert.deepEqual(stateOf(store).noisy, { [group.key]: '[1,"01",null]', [alone.key]: 0 });
  assert.deepEqual(stateOf(store).told[HERE], { [group.key]: [DAY, group.mechanism.cost], [alone.key]: [DAY, alone.mechanism.cost] });
  assert.deepEqual(JSON.parse(text).values, { p: 1, alone: 0, t: "01", r: null });
  const others = fakeStore();
  const without = () => randomize(survey, { p: "no", r: "yes", alone: "no" }, { asked: ["p", "r", "alone"], word: () => 0 });
  assert.deepEqual(JSON.parse(await new Memory(others).once(survey, HERE, without)).values, { p: 0, alone: 0, t: null, r: 1 });
  assert.equal(stateOf(others).noisy[group.key], "[0,null,1]");
});

test("a ledger rounds up each question of a group that has no joint response", async () => {
  const store = fakeStore();
  const survey = await surveyOf({ g: { draw: 2 } }, FIVE.map((id) => yesNo(id, warner(3 * 2 ** 30), "g")));
  await new Memory(store).once(survey, HERE, reportOf(survey, new Set(["a", "e"])), undefined, undefined, DAY);
  const [{ key }] = await survey.keyed();
  assert.deepEqual(stateOf(store).told[HERE][key], [DAY, 2 * 1_098_613]); // ln 3 = 1.0986122..., and twice that 2.1972245...
});

test("a group that would pass the budget is not drawn", async () => {
  const store = fakeStore();
  const memory = new Memory(store);
  const of = (title) => surveyOf({ g: { draw: 2 } }, FIVE.map((id) => ({ ...yesNo(id, warner(keepOf(3)), "g"), text: `${title} ${id}?` })), { title });
  const [one, two] = [await of("One"), await of("Two")];
  await memory.once(one, HERE, reportOf(one, rankOf(0)(one)));
  const kept = store.text;
  await assert.rejects(memory.look(two, HERE), BudgetError);
  await assert.rejects(memory.once(two, HERE, () => assert.fail("must not be drawn")), BudgetError);
  assert.equal(store.text, kept);
});

test("on a shared device neither draws nor values are kept, and every person has a report of their own", async () => {
  const store = fakeStore();
  const memory = new Memory(store);
  const survey = await surveyOf(...TWO_OF_FIVE);
  for (const [person, rank] of [["1", 0], ["2", 9]]) {
    const asked = rankOf(rank)(survey); // as the element does, without the memory
    const { values } = JSON.parse(await memory.once(survey, HERE, reportOf(survey, asked), person));
    assert.deepEqual(FIVE.filter((id) => values[id] !== null), [...asked]);
  }
  assert.deepEqual([stateOf(store).noisy, stateOf(store).told], [{}, {}]);
});

test("a damaged draw is refused, left as it is, and never drawn again", async () => {
  const survey = await surveyOf(...TWO_OF_FIVE);
  const [{ key }] = await survey.keyed();
  for (const damage of ["", "0100", "01000", "01110", "011000", "0110x", "01 10", "0120", 11000, null, true, {}, [], ["0", "1", "1", "0", "0"], { length: 5 }]) {
    const store = fakeStore();
    store.text = JSON.stringify({ reports: {}, noisy: { [`${key}draw`]: damage }, told: {} });
    const before = store.text;
    await assert.rejects(new Memory(store).asked(survey), UnusableMemory, JSON.stringify(damage));
    assert.equal(store.text, before);
  }
});

test("damaged values of a group are refused, left as they are, and never drawn again", async () => {
  const survey = await surveyOf({ g: { draw: 2, joint: joint(4, 29) } }, FIVE.map((id) => yesNo(id, warner(marginal(4, 2, 29)), "g")));
  const [{ key }] = await survey.keyed();
  const stateWith = (noisy) => JSON.stringify({ reports: {}, noisy: { [key]: noisy }, told: {} });
  const good = fakeStore();
  good.text = stateWith("[1,null,null,null,0]");
  assert.deepEqual([...(await new Memory(good).asked(survey))].sort(), ["a", "e"]);
  for (const damage of [
    "[1,null,null,null,null]", "[1,1,null,null,0]", "[1,null,null,null,2]", "[1,null,null,null,-0]", "[1,null,null,null,0.0]", '[1,null,null,null,"0"]',
    "[1,null,null,0]", "[1,null,null,null,0,null]", "[1, null, null, null, 0]", "[1,null,null,null,true]", "[1,null,null,null,[0]]", "[1,null,null,null,{}]",
    '{"0":1,"1":null,"2":null,"3":null,"4":0}', '{"0":1,"1":null,"2":null,"3":null,"4":0,"length":5}', "null", "1", '"10000"', "", "[", null, 1, {}, [1, null, null, null, 0],
  ]) {
    const store = fakeStore();
    store.text = stateWith(damage);
    await assert.rejects(new Memory(store).asked(survey), UnusableMemory, JSON.stringify(damage));
    await assert.rejects(new Memory(store).once(survey, HERE, reportOf(survey, new Set(["a", "b"]))), UnusableMemory, JSON.stringify(damage));
    assert.equal(store.text, stateWith(damage));
  }
});

test("a kept report that is no draw of its survey is refused", async () => {
  const good = fakeStore();
  const survey = await surveyOf({ g: { draw: 2, joint: joint(4, 29) } }, FIVE.map((id) => yesNo(id, warner(marginal(4, 2, 29)), "g")));
  await new Memory(good).once(survey, HERE, reportOf(survey, new Set(["b", "d"])));
  const text = '{"a":null,"b":0,"c":null,"d":0,"e":null}';
  for (const damage of [
    '{"a":0,"b":0,"c":null,"d":0,"e":null}', '{"a":null,"b":0,"c":null,"d":null,"e":null}', '{"a":null,"b":0,"c":null,"d":2,"e":null}',
    '{"b":0,"c":null,"d":0,"e":null}', '{"b":0,"d":0}', '{"a":null,"b":0,"c":null,"d":0,"e":null,"f":null}', '{"b":0,"a":null,"c":null,"d":0,"e":null}',
    '{"a":null,"b":0,"c":null,"d":"0","e":null}', '{"a":null,"b":0,"c":null,"d":[0],"e":null}', "{}", "null", "[null,0,null,0,null]",
  ]) {
    const store = fakeStore();
    const state = stateOf(good);
    const kept = state.reports[survey.id];
    assert.ok(kept.report.includes(text));
    kept.report = kept.report.replace(text, damage);
    store.text = JSON.stringify(state);
    await assert.rejects(new Memory(store).look(survey, HERE), UnusableMemory, damage);
    await assert.rejects(new Memory(store).once(survey, HERE, () => assert.fail("must not be drawn")), UnusableMemory, damage);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerError, ParameterError } from "../../client/deniable_web/errors.js";
import {
  DiscreteLaplace,
  Exponential,
  ForcedResponse,
  Geometric,
  KAry,
  MECHANISMS,
  OneBitMean,
  Piecewise,
  Subset,
  TickBoxes,
  TwoCoin,
  Warner,
  mechanismFromPublished,
} from "../../client/deniable_web/mechanisms/index.js";
import { UNIT, newReportId, systemWord } from "../../client/deniable_web/randomness.js";
import { tape, vectors } from "./helpers.js";

const QUARTER = 2 ** 30;

/** How many words each mechanism draws; of a subset chance decides. */
const WORDS = {
  "two-coin": () => 2,
  warner: () => 1,
  "forced-response": () => 2,
  "k-ary": () => 1,
  "tick-boxes": ({ k }) => k,
  geometric: () => 1,
  exponential: () => 1,
  mean: () => 1,
  piecewise: () => 1,
  "discrete-laplace": () => 1,
};

/** Every mechanism as the channel that two fair coins make: 3/4 and 1/4. */
const FAIR = [
  new TwoCoin(2 ** 31, 2 ** 31),
  new Warner(3 * QUARTER),
  new ForcedResponse(2 ** 31, [2 ** 31, 2 ** 31]),
  new KAry(2, 3 * QUARTER),
  new Subset(2, 1, 3 * UNIT),
  new Geometric(0, 1, [QUARTER]),
  new Exponential([[3 * QUARTER, QUARTER], [QUARTER, 3 * QUARTER]]),
  new OneBitMean(0, 1, 2 ** 31),
  new Piecewise([0, 1], [3 * QUARTER, QUARTER], [[-2 * QUARTER, 2 * QUARTER]]),
  new DiscreteLaplace(0, 1, 0, [QUARTER]),
];

for (const name of MECHANISMS.keys()) {
  test(`${name}: makes the reports of the vectors from the same number of words`, () => {
    const good = vectors(name).filter((vector) => vector.report !== null);
    assert.ok(good.length > 100);
    for (const vector of good) {
      const word = tape(vector.words);
      assert.equal(vector.words.length, WORDS[name]?.(vector.mechanism) ?? vector.words.length);
      const mechanism = mechanismFromPublished(vector.mechanism);
      assert.equal(mechanism.randomize(vector.answer, word), vector.report, vector.name);
      assert.ok(mechanism.makes(vector.report), vector.name);
      assert.equal(word.left.length, 0, `${vector.name}: left words over`);
    }
  });

  test(`${name}: refuses what is no answer, without repeating it and before it draws`, () => {
    const bad = vectors(name).filter((vector) => vector.report === null);
    assert.ok(bad.length >= 6);
    for (const { mechanism, answer, name } of bad) {
      assert.throws(
        () => mechanismFromPublished(mechanism).randomize(answer, tape([])),
        (error) => error instanceof AnswerError && !error.message.replace(/\[-?\d+, -?\d+\)$/, "").includes(String(answer)),
        name,
      );
    }
  });
}

for (const { name, mechanism } of vectors("bad-mechanisms")) {
  test(`no mechanism: ${name.slice(5)}`, () => {
    assert.throws(() => mechanismFromPublished(mechanism), ParameterError);
  });
}

test("names that every object inherits are no mechanisms", () => {
  for (const name of ["constructor", "__proto__", "toString", ["warner"], null]) {
    assert.throws(() => mechanismFromPublished({ name, keep: 3 * 2 ** 30 }), ParameterError);
  }
  assert.throws(() => mechanismFromPublished(Object.create({ name: "warner", keep: 3 * 2 ** 30 })), ParameterError);
});

test("weights that only look like integers are refused", () => {
  for (const keep of ["3", [3], 3n, 3.5, NaN, Infinity, -0, true, null, undefined, { valueOf: () => 3 }]) {
    assert.throws(() => new Warner(keep), ParameterError);
  }
});

test("lists that only look like lists of weights are refused", () => {
  const half = 2 ** 31;
  const lists = ["01", null, undefined, half, { 0: half, 1: half, length: 2 }, [[half], [half]], ["1", half], [half, , half], [1.5, 2.5]];
  for (const list of lists) {
    assert.throws(() => new ForcedResponse(half, list), ParameterError);
    assert.throws(() => new Exponential(list), ParameterError);
    assert.throws(() => new Exponential([list, [half, half]]), ParameterError);
    assert.throws(() => new Geometric(0, 2, list), ParameterError);
    assert.throws(() => new DiscreteLaplace(0, 2, 0, list), ParameterError);
  }
  assert.throws(() => new Exponential(Array(65).fill(Array(65).fill(1))), ParameterError);
});

test("ranges end where they must", () => {
  const falling = (/** @type {number} */ n) => Array.from({ length: n }, (_, d) => 2 ** 31 - 1 - d);
  assert.equal(new Geometric(-1e12, 1000 - 1e12, falling(1000)).hi, 1000 - 1e12);
  assert.equal(new DiscreteLaplace(0, 1, 4000, falling(4001)).excess, 4000);
  assert.equal(new OneBitMean(-1e12, 1e6 - 1e12, 4294).slope, 4294);
  assert.equal(new OneBitMean(0, 2, 2 ** 31 - 2).least, 2);
  assert.equal(new Piecewise([-1e12, 1e6 - 1e12], [UNIT - 1e6 - 1, 1e6 + 1], [[1, -1]]).hi, 1e6 - 1e12);
  assert.equal(new Subset(256, 255, 1e15 - 1).w, 255);
  const refused = [
    () => new Geometric(0, 1001, falling(1001)),
    () => new Geometric(-1e12 - 1, 0, falling(1)),
    () => new Geometric(1e12 + 1, 1e12 + 2, falling(1)),
    () => new Geometric(0.5, 1.5, falling(1)),
    () => new DiscreteLaplace(0, 1, 4001, falling(4002)),
    () => new OneBitMean(0, 1e6 + 1, 2),
    () => new Piecewise([0, 1e6 + 1], [UNIT - 1e7, 1e7], [[1, -1]]),
    () => new Piecewise([0, 1], [UNIT - 1, 1], [[1, -1]]),
    () => new OneBitMean(0, 2, 2 ** 31 - 1),
    () => new OneBitMean(0, 1, 3),
    () => new Subset(4, 2, UNIT),
    () => new Subset(4, 2, 1e15),
    () => new TickBoxes(257, 3 * QUARTER),
    () => new TickBoxes(4, 2 ** 31),
    () => new ForcedResponse(2 ** 31, [1, UNIT - 1]), // 1 could be read as the probability 1
  ];
  for (const make of refused) assert.throws(make, ParameterError, String(make));
});

test("no mechanism takes for a report of its own what it cannot make", () => {
  const never = [null, undefined, true, "1", 1.5, NaN, [1], {}, "", "12", "1".repeat(257), [["1"], ["0"]]];
  const numbers = [[-1, 2], ["01", "10"]];
  for (const mechanism of [...FAIR, new TickBoxes(2, 3 * QUARTER)]) {
    const isText = mechanism instanceof Subset || mechanism instanceof TickBoxes;
    const good = isText ? ["01", "10"] : [0, 1];
    for (const value of good) assert.ok(mechanism.makes(value), mechanism.name);
    for (const value of [...never, ...numbers[0], ...numbers[+!isText], 11, "011"]) {
      assert.ok(!isMade(mechanism, value), `${mechanism.name}: ${JSON.stringify(value)}`);
    }
  }
  assert.deepEqual(["11", "00"].map((each) => new Subset(2, 1, 3 * UNIT).makes(each)), [false, false]);
  const wide = new DiscreteLaplace(0, 1, 2, [3, 2, 1].map((each) => each * 1e8));
  assert.deepEqual([-3, -2, 3, 4].map((each) => wide.makes(each)), [false, true, true, false]);
});

/** What throws is no report either: the memory refuses both. */
function isMade(mechanism, value) {
  try {
    return mechanism.makes(value);
  } catch {
    return false;
  }
}

test("mechanisms are frozen, and so are their lists", () => {
  for (const mechanism of [...FAIR, new TickBoxes(2, 3 * QUARTER)]) {
    assert.ok(Object.isFrozen(mechanism), mechanism.name);
    const { forced = [], tails = [], weights = [] } = mechanism;
    for (const list of [forced, tails, weights, ...weights]) assert.ok(!list.length || Object.isFrozen(list), mechanism.name);
  }
});

test("epsilon: 3/4 against 1/4 is ln 3 in every mechanism, and boxes add up", () => {
  for (const { name, epsilon } of FAIR) assert.ok(Math.abs(epsilon - Math.log(3)) < 5e-15, name);
  assert.ok(Math.abs(new TickBoxes(5, 3 * QUARTER).epsilon - 5 * Math.log(3)) < 3e-14);
});

test("epsilon is never below what Python computes from the same integers, and hardly above", () => {
  for (const { mechanism, epsilon } of vectors("epsilons")) {
    const mine = mechanismFromPublished(mechanism).epsilon;
    assert.ok(mine >= epsilon && mine <= epsilon * (1 + 1e-14), `${JSON.stringify(mechanism)}: ${mine}, ${epsilon}`);
  }
});

test("epsilon is precise even where it is hardly above 0", () => {
  const near = (/** @type {number} */ value, /** @type {number} */ wanted) => assert.ok(Math.abs(value / wanted - 1) < 1e-12);
  near(new Subset(4, 2, UNIT + 1).epsilon, 2 ** -32 - 2 ** -65);
  near(new Warner(2 ** 31 + 1).epsilon, 2 ** -30);
  near(new Warner(2 ** 31 - 1).epsilon, 2 ** -30);
  near(new TickBoxes(2, 2 ** 31 + 1).epsilon, 2 ** -29);
  near(new OneBitMean(0, 1, 2).epsilon, 2 ** -30);
  near(new Exponential([[2 ** 31 + 1, 2 ** 31 - 1], [2 ** 31, 2 ** 31]]).epsilon, 1 / (2 ** 31 - 1) - 2 ** -63);
});

test("the system's words are 32-bit integers, ids 32 hexadecimal digits, and neither repeats", () => {
  const words = Array.from({ length: 1000 }, systemWord);
  assert.ok(words.every((word) => Number.isInteger(word) && word >= 0 && word < UNIT));
  assert.ok(new Set(words).size > 990); // fails once in 10**40 runs
  assert.ok(Math.max(...words) > 2 ** 31 && Math.min(...words) < 2 ** 31);
  const ids = Array.from({ length: 100 }, newReportId);
  assert.ok(ids.every((id) => /^[0-9a-f]{32}$/.test(id)));
  assert.equal(new Set(ids).size, 100);
});

import assert from "node:assert/strict";
import { test } from "node:test";

import { AnswerError, KAry, ParameterError, TwoCoin, Warner, mechanismFromPublished } from "../../client/deniable_web/index.js";
import { UNIT, newReportId, systemWord } from "../../client/deniable_web/randomness.js";
import { tape, vectors } from "./helpers.js";

const WORDS = { "two-coin": 2, warner: 1, "k-ary": 1 };

for (const name of ["two-coin", "warner", "k-ary"]) {
  test(`${name}: makes the reports of the vectors from the same number of words`, () => {
    const good = vectors(name).filter((vector) => vector.report !== null);
    assert.ok(good.length > 100);
    for (const vector of good) {
      const word = tape(vector.words);
      assert.equal(vector.words.length, WORDS[name]);
      assert.equal(mechanismFromPublished(vector.mechanism).randomize(vector.answer, word), vector.report, vector.name);
      assert.equal(word.left.length, 0, `${vector.name}: left words over`);
    }
  });

  test(`${name}: refuses what is no answer, without repeating it and before it draws`, () => {
    const bad = vectors(name).filter((vector) => vector.report === null);
    assert.ok(bad.length >= 6);
    for (const { mechanism, answer, name } of bad) {
      assert.throws(
        () => mechanismFromPublished(mechanism).randomize(answer, tape([])),
        (error) => error instanceof AnswerError && !error.message.replace(/\[0, \d+\)$/, "").includes(String(answer)),
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

test("mechanisms are frozen", () => {
  for (const mechanism of [new TwoCoin(2 ** 31, 2 ** 31), new Warner(3 * 2 ** 30), new KAry(2, 3 * 2 ** 30)]) {
    assert.ok(Object.isFrozen(mechanism));
  }
});

// The distributions, proved by enumeration: a report changes only at thresholds, so counting the words between
// thresholds gives each probability exactly.

test("two-coin: each coin decides exactly at its weight, and 3/4 and 1/4 come out of two fair coins", () => {
  const coin = new TwoCoin(2 ** 31, 2 ** 31);
  for (const answer of [0, 1]) {
    for (const second of [0, 2 ** 31 - 1, 2 ** 31, UNIT - 1]) {
      assert.equal(coin.randomize(answer, tape([0, second])), answer);
      assert.equal(coin.randomize(answer, tape([2 ** 31 - 1, second])), answer);
      assert.equal(coin.randomize(answer, tape([2 ** 31, second])), second < 2 ** 31 ? 1 : 0);
      assert.equal(coin.randomize(answer, tape([UNIT - 1, second])), second < 2 ** 31 ? 1 : 0);
    }
  }
  assert.deepEqual(coin.support, [{ ifTrue: 0.75, ifOther: 0.25 }, { ifTrue: 0.75, ifOther: 0.25 }]);
  assert.equal(coin.epsilon, Math.log(3));
});

test("warner: both answers are turned over by the same number of words", () => {
  const warner = new Warner(3 * 2 ** 30);
  for (const answer of [0, 1]) {
    assert.equal(warner.randomize(answer, tape([3 * 2 ** 30 - 1])), answer);
    assert.equal(warner.randomize(answer, tape([3 * 2 ** 30])), 1 - answer);
  }
  assert.ok(Math.abs(warner.epsilon - Math.log(3)) < 1e-15);
});

for (const k of [2, 3, 7, 100]) {
  test(`k-ary: every other option of ${k} is reached by exactly the same number of words`, () => {
    const other = Math.floor(UNIT / (k + 2));
    const mechanism = new KAry(k, UNIT - (k - 1) * other);
    for (let answer = 0; answer < k; answer++) {
      const reached = [mechanism.randomize(answer, tape([0])), mechanism.randomize(answer, tape([mechanism.keep - 1]))];
      assert.deepEqual(reached, [answer, answer]);
      const others = Array.from({ length: k - 1 }, (_, n) => {
        const first = mechanism.randomize(answer, tape([mechanism.keep + n * other]));
        const last = mechanism.randomize(answer, tape([mechanism.keep + (n + 1) * other - 1]));
        assert.equal(first, last);
        return first;
      });
      assert.deepEqual([...others, answer].sort((a, b) => a - b), [...Array(k).keys()]);
    }
    assert.equal(mechanism.keep + (k - 1) * other, UNIT); // the last word of the last option is the last word
  });
}

test("k-ary: the quotient of doubles is the integer quotient at every edge", () => {
  for (const k of [2, 3, 4, 1000, 65536]) {
    for (const other of [2, 3, 7, 641, 65535].filter((other) => (k - 1) * other < UNIT / 2)) {
      const mechanism = new KAry(k, UNIT - (k - 1) * other);
      for (const n of [0, 1, (k - 2) >> 1, k - 2].filter((n) => n >= 0 && n <= k - 2)) {
        for (const at of [n * other, (n + 1) * other - 1]) {
          assert.equal(mechanism.randomize(k - 1, tape([mechanism.keep + at])), Number(BigInt(at) / BigInt(other)));
        }
      }
    }
  }
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

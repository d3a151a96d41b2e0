/*
 * The distributions, proved by enumeration: a report changes only at thresholds, so counting the words between
 * thresholds gives each probability exactly.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import * as mechanisms from "../../client/deniable_web/mechanisms/index.js";
import { unrank } from "../../client/deniable_web/mechanisms/subset.js";
import { UNIT, below } from "../../client/deniable_web/randomness.js";
import { tape } from "./helpers.js";

const QUARTER = 2 ** 30;

test("two-coin: each coin decides exactly at its weight, and 3/4 and 1/4 come out of two fair coins", () => {
  const coin = new mechanisms.TwoCoin(2 ** 31, 2 ** 31);
  for (const answer of [0, 1]) {
    for (const second of [0, 2 ** 31 - 1, 2 ** 31, UNIT - 1]) {
      assert.equal(coin.randomize(answer, tape([0, second])), answer);
      assert.equal(coin.randomize(answer, tape([2 ** 31 - 1, second])), answer);
      assert.equal(coin.randomize(answer, tape([2 ** 31, second])), second < 2 ** 31 ? 1 : 0);
      assert.equal(coin.randomize(answer, tape([UNIT - 1, second])), second < 2 ** 31 ? 1 : 0);
    }
  }
  assert.deepEqual(coin.support, [{ ifTrue: 0.75, ifOther: 0.25 }, { ifTrue: 0.75, ifOther: 0.25 }]);
  assert.ok(coin.epsilon >= Math.log(3) && coin.epsilon < Math.log(3) + 1e-14);
});

test("warner: both answers are turned over by the same number of words", () => {
  const warner = new mechanisms.Warner(3 * 2 ** 30);
  for (const answer of [0, 1]) {
    assert.equal(warner.randomize(answer, tape([3 * 2 ** 30 - 1])), answer);
    assert.equal(warner.randomize(answer, tape([3 * 2 ** 30])), 1 - answer);
  }
  assert.ok(Math.abs(warner.epsilon - Math.log(3)) < 1e-14);
});

for (const k of [2, 3, 7, 100]) {
  test(`k-ary: every other option of ${k} is reached by exactly the same number of words`, () => {
    const other = Math.floor(UNIT / (k + 2));
    const mechanism = new mechanisms.KAry(k, UNIT - (k - 1) * other);
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

test("longitudinal: each step has exactly its weights, both together those of 2**64, and one wave tells less than all", () => {
  for (const k of [2, 3, 7]) {
    const [other, seldom] = [Math.floor(UNIT / (k + 6)), Math.floor(UNIT / (k + 2))];
    const [keep, again] = [UNIT - (k - 1) * other, UNIT - (k - 1) * seldom];
    const mechanism = new mechanisms.Longitudinal(k, keep, again);
    /** How many words lead from one value to each: a step changes only at thresholds. */
    const counts = (/** @type {(word: number) => number} */ step, first, each) => {
      const found = Array(k).fill(0);
      for (let n = 0; n < k; n++) {
        const [start, end] = n ? [first + (n - 1) * each, first + n * each] : [0, first];
        const value = step(start);
        assert.equal(step(end - 1), value);
        found[value] += end - start;
      }
      return found;
    };
    const weights = (value, most, each) => Array.from({ length: k }, (_, n) => (n === value ? most : each));
    const sent = Array.from({ length: k }, () => Array(k).fill(0n));
    for (let value = 0; value < k; value++) {
      const kept = counts((word) => mechanism.randomize(value, tape([word]), true), keep, other);
      assert.deepEqual(kept, weights(value, keep, other));
      const wave = counts((word) => mechanism.instantaneous(value, tape([word])), again, seldom);
      assert.deepEqual(wave, weights(value, again, seldom));
      for (const first of [0, keep, UNIT - 1]) {
        for (const second of [0, again, UNIT - 1]) {
          const permanent = mechanism.randomize(value, tape([first]), true);
          const report = mechanism.randomize(value, tape([first, second]));
          assert.equal(report, mechanism.instantaneous(permanent, tape([second])));
        }
      }
      for (let v = 0; v < k; v++) for (let u = 0; u < k; u++) sent[value][v] += BigInt(kept[u]) * BigInt(weights(u, again, seldom)[v]);
    }
    const [p, q] = [sent[0][0], sent[1][0]];
    for (let x = 0; x < k; x++) for (let v = 0; v < k; v++) assert.equal(sent[x][v], x === v ? p : q);
    assert.equal(p + BigInt(k - 1) * q, 2n ** 64n);
    assert.ok(p * BigInt(other) < BigInt(keep) * q); // one wave's ratio is below that of all, in integers
    const { epsilon, support } = new mechanisms.KAry(k, keep);
    assert.deepEqual([mechanism.epsilon, mechanism.support], [epsilon, support]);
  }
});

test("k-ary: the quotient of doubles is the integer quotient at every edge", () => {
  for (const k of [2, 3, 4, 1000, 65536]) {
    for (const other of [2, 3, 7, 641, 65535].filter((other) => (k - 1) * other < UNIT / 2)) {
      const mechanism = new mechanisms.KAry(k, UNIT - (k - 1) * other);
      for (const n of [0, 1, (k - 2) >> 1, k - 2].filter((n) => n >= 0 && n <= k - 2)) {
        for (const at of [n * other, (n + 1) * other - 1]) {
          assert.equal(mechanism.randomize(k - 1, tape([mechanism.keep + at])), Number(BigInt(at) / BigInt(other)));
        }
      }
    }
  }
});

test("forced-response: each step decides exactly at its weights", () => {
  const forced = [2, QUARTER, UNIT - QUARTER - 2];
  const mechanism = new mechanisms.ForcedResponse(2 ** 31, forced);
  for (const answer of [0, 1, 2]) {
    let end = 0;
    for (const [option, weight] of forced.entries()) {
      for (const second of [end, end + weight - 1]) {
        assert.equal(mechanism.randomize(answer, tape([2 ** 31 - 1, second])), answer);
        assert.equal(mechanism.randomize(answer, tape([2 ** 31, second])), option);
      }
      end += weight;
    }
    assert.equal(end, UNIT);
  }
  assert.deepEqual(mechanism.support[1], { ifTrue: 0.625, ifOther: 0.125 });
});

test("tick-boxes: every box is turned over by its own word and by nothing else", () => {
  const keep = 3 * QUARTER;
  for (const ticked of [[], [0], [3, 1], [0, 1, 2, 3]]) {
    const truth = [0, 1, 2, 3].map((option) => (ticked.includes(option) ? "1" : "0"));
    for (let turned = 0; turned < 16; turned++) {
      const words = [0, 1, 2, 3].map((option) => ((turned >> option) & 1 ? keep : keep - 1));
      const wanted = truth.map((bit, option) => ((turned >> option) & 1 ? String(1 - Number(bit)) : bit));
      assert.equal(new mechanisms.TickBoxes(4, keep).randomize(ticked, tape(words)), wanted.join(""));
    }
  }
});

test("mean: every step adds the same, and the two ends mirror each other", () => {
  const mechanism = new mechanisms.OneBitMean(-3, 5, QUARTER / 4);
  const ends = Array.from({ length: 9 }, (_, n) => mechanism.least + n * mechanism.slope);
  ends.forEach((end, n) => {
    assert.deepEqual([end - 1, end].map((word) => mechanism.randomize(n - 3, tape([word]))), [1, 0]);
  });
  assert.equal(ends[0] + ends[8], UNIT);
  assert.deepEqual(mechanism.support[1], { ifTrue: 0.75, ifOther: 0.25 });
});

test("piecewise: weights are mixtures of those of the two knots around an answer", () => {
  const slopes = [[-QUARTER / 4, QUARTER / 4, 0], [0, -QUARTER / 4, QUARTER / 4]];
  const mechanism = new mechanisms.Piecewise([-4, 0, 6], [2 * QUARTER, QUARTER, QUARTER], slopes);
  const wanted = {
    "-4": [8, 4, 4],
    "-3": [7, 5, 4],
    0: [4, 8, 4],
    1: [4, 7, 5],
    5: [4, 3, 9],
    6: [4, 2, 10],
  };
  for (const [answer, sixteenths] of Object.entries(wanted)) {
    const found = weightsByEnumeration(mechanism, Number(answer));
    assert.deepEqual([0, 1, 2].map((report) => found.get(report) / (UNIT / 16)), sixteenths);
  }
  assert.ok(mechanism.epsilon >= Math.log(4) && mechanism.epsilon < Math.log(4) + 1e-14);
  assert.deepEqual(mechanism.ratio.map(Number).map((each) => each / (UNIT / 16)), [8, 2]);
  assert.deepEqual([-1, 0, 2, 3, "1"].map((report) => mechanism.makes(report)), [false, true, true, false, false]);
});

/** Weights of all reports, found at the words where the report changes. */
function weightsByEnumeration(mechanism, answer) {
  const weights = new Map();
  let start = 0;
  while (start < UNIT) {
    const report = mechanism.randomize(answer, tape([start]));
    let [last, beyond] = [start, UNIT]; // the report of `last` is this one, that of `beyond` is not
    while (beyond - last > 1) {
      const middle = Math.floor((last + beyond) / 2);
      if (mechanism.randomize(answer, tape([middle])) === report) last = middle;
      else beyond = middle;
    }
    assert.ok(!weights.has(report));
    weights.set(report, beyond - start);
    start = beyond;
  }
  return weights;
}

const TAILS = [1_500_000_000, 1_000_000_000, 400_000_000, 399_999_999, 7, 5, 3, 1];
const ROWS = [
  new mechanisms.Geometric(-2, 6, TAILS),
  new mechanisms.DiscreteLaplace(-1, 3, 4, TAILS),
  new mechanisms.DiscreteLaplace(5, 6, 0, [1]),
  new mechanisms.Exponential([[UNIT - 3, 1, 2], [1, UNIT - 2, 1], [2 ** 31, QUARTER, QUARTER]]),
];
for (const mechanism of ROWS) {
  test(`${mechanism.name} from ${mechanism.lo} to ${mechanism.hi}: every report has exactly its weight`, () => {
    const { name, lo, hi, excess = 0, tails } = mechanism;
    const tables = [];
    for (let answer = lo; answer <= hi; answer++) tables.push(weightsByEnumeration(mechanism, answer));
    const reports = Array.from({ length: hi - lo + 1 + 2 * excess }, (_, n) => lo - excess + n);
    tables.forEach((weights, n) => {
      assert.deepEqual([...weights.keys()], reports);
      if (name === "exponential") assert.deepEqual([...weights.values()], [...mechanism.weights[n]]);
      // By the definition of the tails: noise of at least d, upwards and downwards.
      for (const [d, tail] of (tails ?? []).entries()) {
        const [above, below] = [lo + n + d + 1, lo + n - d - 1];
        const total = (far) => reports.filter(far).reduce((sum, report) => sum + weights.get(report), 0);
        if (above <= hi + excess) assert.equal(total((report) => report >= above), tail);
        if (below >= lo - excess) assert.equal(total((report) => report <= below), tail);
      }
    });
    const ratios = reports.map((report) => {
      const column = tables.map((weights) => weights.get(report));
      return Math.max(...column) / Math.min(...column);
    });
    assert.ok(Math.abs(mechanism.epsilon - Math.log(Math.max(...ratios))) < 1e-12);
    const [more, less] = mechanism.ratio;
    assert.equal(Number(more) / Number(less), Math.max(...ratios));
  });
}

/** All texts of k characters with w ones, in lexicographic order of the sets. */
function subsets(k, w) {
  const all = Array.from({ length: 2 ** k }, (_, n) => n.toString(2).padStart(k, "0"));
  return all.filter((text) => text.replaceAll("0", "").length === w).reverse();
}

test("subset: unranking goes through all subsets, each once and in order", () => {
  for (let n = 1; n <= 8; n++) {
    for (let size = 0; size <= n; size++) {
      const all = subsets(n, size);
      assert.deepEqual(all.map((_, rank) => unrank(n, size, BigInt(rank)).map(Number).join("")), all);
    }
  }
});

/** The words from which `below` reads a number. */
const wordsOf = (draw, count) => Array.from({ length: count }, (_, n) => Number((draw >> BigInt(32 * n)) & 0xffffffffn));

test("subset: every subset is reached by exactly its weight, for every answer", () => {
  const inside = 3 * UNIT + 1;
  for (let k = 2; k <= 8; k++) {
    for (let w = 1; w < k; w++) {
      const mechanism = new mechanisms.Subset(k, w, inside);
      for (let answer = 0; answer < k; answer++) {
        const holds = (text) => text[answer] === "1";
        const all = subsets(k, w).sort((a, b) => Number(holds(b)) - Number(holds(a))); // stable: those that hold it first
        const total = all.reduce((sum, text) => sum + BigInt(holds(text) ? inside : UNIT), 0n);
        const count = Math.ceil((total - 1n).toString(2).length / 32);
        let start = 0n;
        for (const text of all) {
          const end = start + BigInt(holds(text) ? inside : UNIT);
          for (const draw of [start, end - 1n]) {
            assert.equal(mechanism.randomize(answer, tape(wordsOf(draw, count))), text);
          }
          start = end;
        }
        assert.equal(start, total);
        // What lies beyond is drawn again, as a whole.
        assert.equal(mechanism.randomize(answer, tape([...wordsOf(total, count), ...wordsOf(0n, count)])), all[0]);
      }
    }
  }
});

test("below: low word first, high bits dropped, all words drawn again", () => {
  const three = 3n * 2n ** 32n;
  assert.equal(below(three, tape([5, 3, 5, 1])), 2n ** 32n + 5n);
  assert.equal(below(three, tape([5, 0xfffffffc])), 5n);
  assert.equal(below(2n ** 64n, tape([UNIT - 1, UNIT - 1])), 2n ** 64n - 1n);
  assert.equal(below(2n ** 32n, tape([UNIT - 1])), 2n ** 32n - 1n);
  const counts = [0, 0, 0];
  for (let word = 0; word < 4; word++) counts[Number(below(3n, tape([word, 2])))]++;
  assert.deepEqual(counts, [1, 1, 2]); // the word 3 is refused, and 2 comes after it
});

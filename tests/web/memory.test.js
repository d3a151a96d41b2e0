import assert from "node:assert/strict";
import { test } from "node:test";

import { Memory } from "../../client/deniable_web/index.js";
import { fakeStorage } from "./helpers.js";

const blocked = () => {
  throw new DOMException("blocked", "SecurityError");
};
const full = { getItem: () => null, setItem: blocked, removeItem: blocked };
const PLACES = { storage: () => fakeStorage(), "blocked storage": () => null, "full storage": () => full };

for (const [name, make] of Object.entries(PLACES)) {
  const fresh = () => {
    const storage = make();
    return new Memory(storage ? () => storage : blocked, new Map());
  };

  test(`${name}: a hundred asks give one draw`, () => {
    const memory = fresh();
    let draws = 0;
    const texts = Array.from({ length: 100 }, () => memory.once("s", () => `report ${++draws}`));
    assert.equal(draws, 1);
    assert.deepEqual(new Set(texts), new Set(["report 1"]));
  });

  test(`${name}: a report is pending until a collector has it, and surveys stand apart`, () => {
    const memory = fresh();
    assert.equal(memory.recall("s"), null);
    memory.markSent("s", "https://a.example"); // nothing to mark
    assert.equal(memory.recall("s"), null);
    memory.once("s", () => "report");
    assert.deepEqual(memory.recall("s"), { report: "report", sent: [] });
    memory.markSent("s", "https://a.example");
    memory.markSent("s", "https://a.example");
    memory.markSent("s", "https://b.example");
    assert.deepEqual(memory.recall("s"), { report: "report", sent: ["https://a.example", "https://b.example"] });
    assert.equal(memory.recall("t"), null);
  });
}

test("a draw that throws keeps nothing", () => {
  const memory = new Memory(fakeStorage, new Map());
  assert.throws(() => memory.once("s", blocked));
  assert.equal(memory.recall("s"), null);
});

test("what is stored outlives the page, and says so", () => {
  const storage = fakeStorage();
  const first = new Memory(() => storage, new Map());
  assert.equal(first.lasts, true);
  first.once("s", () => "report");
  assert.equal(new Memory(() => storage, new Map()).once("s", () => "another"), "report");
  assert.deepEqual([...storage.items.keys()], ["deniable:s"]);
  assert.equal(new Memory(blocked, new Map()).lasts, false);
});

test("two tabs: the second takes the report of the first", () => {
  const storage = fakeStorage();
  const [one, two] = [new Memory(() => storage, new Map()), new Memory(() => storage, new Map())];
  assert.equal(two.recall("s"), null);
  one.once("s", () => "first");
  assert.equal(two.once("s", () => "second"), "first");
});

test("what somebody else wrote under the key is not taken for a report", () => {
  const storage = fakeStorage();
  const memory = new Memory(() => storage, new Map());
  for (const text of ["", "{", "null", "1", "[]", '{"report":1,"sent":[]}', '{"report":"r"}']) {
    storage.setItem("deniable:s", text);
    assert.equal(memory.recall("s"), null);
  }
});

test("a shared device keeps several reports below a survey, and forgets each when it is told", () => {
  for (const make of Object.values(PLACES)) {
    const storage = make();
    const memory = new Memory(storage ? () => storage : blocked, new Map());
    memory.once("s:1", () => "one");
    memory.once("s:2", () => "two");
    memory.once("s", () => "own");
    memory.once("t:3", () => "other");
    assert.deepEqual(new Set(memory.below("s")), new Set(["s:1", "s:2"]));
    memory.forget("s:1");
    assert.equal(memory.recall("s:1"), null);
    assert.equal(memory.recall("s:2").report, "two");
  }
});

for (const [name, make] of Object.entries(PLACES)) {
  test(`${name}: the ledger adds up a collector's other surveys of 90 days`, () => {
    const storage = make();
    const memory = new Memory(storage ? () => storage : blocked, new Map());
    const charge = (collector, id, epsilon, day) => memory.charge(collector, { id, epsilon }, day);
    charge("https://a.example", "s", 1, "2026-11-01");
    charge("https://a.example", "s", 1, "2026-11-02"); // sent again, charged once
    charge("https://a.example", "t", 2, "2026-11-03");
    charge("https://b.example", "u", 4, "2026-11-03");
    assert.equal(memory.spent("https://a.example", "new", "2026-11-03"), 3);
    assert.equal(memory.spent("https://a.example", "s", "2026-11-03"), 2);
    assert.equal(memory.spent("https://c.example", "s", "2026-11-03"), 0);
    assert.equal(memory.spent("https://a.example", "new", "2027-01-30"), 3); // 89 days later
    assert.equal(memory.spent("https://a.example", "new", "2027-01-31"), 2);
    assert.equal(memory.spent("https://a.example", "new", "2027-02-01"), 0);
  });
}

test("a ledger that somebody else wrote refuses rather than allows", () => {
  const storage = fakeStorage();
  const memory = new Memory(() => storage, new Map());
  storage.setItem("deniable-ledger", '{"c":{"s":["2026-11-01","x"]}}');
  assert.ok(!(memory.spent("c", "t", "2026-11-02") <= 8));
  storage.setItem("deniable-ledger", '{"c":{"s":null}}');
  assert.throws(() => memory.spent("c", "t", "2026-11-02"));
});

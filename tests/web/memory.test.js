import assert from "node:assert/strict";
import { test } from "node:test";

import { Memory } from "../../client/deniable_web/index.js";
import { fakeStorage } from "./helpers.js";

const blocked = () => {
  throw new DOMException("blocked", "SecurityError");
};
const full = { ...fakeStorage(), setItem: blocked };
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

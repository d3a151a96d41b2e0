import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { START, Walk } from "../../client/deniable_web/walk.js";

/** A browser's history, whose entries hold states, and the events of a window. */
function window() {
  const events = new EventTarget();
  const entries = /** @type {any[]} */ ([null]);
  let at = 0;
  const history = {
    entries,
    get state() {
      return entries[at];
    },
    pushState(/** @type {any} */ state) {
      entries.splice(++at, Infinity, state);
    },
    replaceState(/** @type {any} */ state) {
      entries[at] = state;
    },
    go(/** @type {number} */ by) {
      at = Math.max(0, Math.min(entries.length - 1, at + by));
      events.dispatchEvent(Object.assign(new Event("popstate"), { state: entries[at] }));
    },
    back() {
      history.go(-1);
    },
  };
  return { history, events, addEventListener: events.addEventListener.bind(events) };
}

/** @type {ReturnType<typeof window>} */
let browser;
let shown = /** @type {(number | string)[]} */ ([]);

beforeEach(() => {
  browser = window();
  shown = [];
  Object.assign(globalThis, { history: browser.history, addEventListener: browser.addEventListener });
});
afterEach(() => {
  for (const name of ["history", "addEventListener"]) Reflect.deleteProperty(globalThis, name);
});

/** A walk at the first question. */
function begun(isHome = true, mayAsk = true) {
  const gone = new AbortController();
  const walk = new Walk({ isHome, mayAsk }, () => shown.push("start"), gone.signal);
  walk.follow((place) => shown.push(place));
  walk.begin(() => {});
  return { walk, gone };
}

/** Whether the browser asks before it leaves. */
function asks() {
  const event = Object.defineProperty(new Event("beforeunload", { cancelable: true }), "returnValue", { writable: true, value: "" });
  return !browser.events.dispatchEvent(event);
}

test("nothing is written into the history before somebody starts", () => {
  const walk = new Walk({ isHome: true, mayAsk: true }, () => {}, new AbortController().signal);
  assert.equal(walk.place, START);
  assert.deepEqual(browser.history.entries, [null]);
});

test("entries hold a random name and how many places and entries come before, and nothing else", () => {
  const { walk } = begun();
  for (const place of [1, 2, 0]) walk.go(place);
  const names = new Set(browser.history.entries.map(({ deniable }) => deniable));
  assert.equal(names.size, 1);
  assert.match([...names][0], /^[0-9a-f]{16}$/);
  assert.deepEqual(browser.history.entries.map(({ deniable, ...rest }) => rest), [0, 1, 2, 3, 4].map((at) => ({ at, n: at })));
});

test("Back and Forward show the places in the order in which somebody came to them", () => {
  const { walk } = begun();
  for (const place of [1, 2, 0, 2]) walk.go(place);
  shown.length = 0;
  for (const by of [-1, -1, -1, -1, -1, 2, 3]) browser.history.go(by);
  assert.deepEqual(shown, [0, 2, 1, 0, "start", 1, 2]);
  browser.history.go(-3);
  walk.go(2); // another way: what came after is gone
  assert.equal(browser.history.entries.length, 4);
  walk.back();
  assert.equal(walk.place, 1);
});

test("an entry of another run leads to the first screen, and the way goes on from there", () => {
  browser.history.entries[0] = { deniable: "0123456789abcdef", at: 3 };
  browser.history.pushState(null);
  const { walk } = begun();
  walk.go(1);
  browser.history.go(-3);
  assert.equal(walk.place, START);
  walk.go(0);
  walk.back();
  assert.deepEqual(shown.slice(-3), ["start", 0, "start"]);
});

test("without a history of its own the same way is walked, and no history is touched", () => {
  const { walk } = begun(false);
  for (const place of [1, 2, 0]) walk.go(place);
  shown.length = 0;
  for (let n = 0; n < 4; n++) walk.back();
  assert.deepEqual(shown, [2, 1, 0, "start"]);
  walk.end();
  assert.deepEqual(browser.history.entries, [null]);
});

test("where the review sends back to a question, the entry leads there", () => {
  const { walk } = begun();
  walk.go(1);
  walk.turn(0);
  assert.equal(walk.place, 0);
  walk.back();
  browser.history.go(1);
  assert.deepEqual(shown, [1, 0, 0]);
});

test("once answers are forgotten, no entry leads to where they stood", () => {
  const { walk } = begun();
  for (const place of [1, 2]) walk.go(place);
  walk.forget();
  assert.equal(walk.place, 0);
  walk.go(1);
  browser.history.go(-1);
  assert.equal(walk.place, 0);
  browser.history.go(-1);
  assert.equal(walk.place, START);
});

test("after Send the history is where the survey began, and nothing is shown any more", () => {
  const { walk } = begun();
  for (const place of [1, 2]) walk.go(place);
  shown.length = 0;
  walk.end();
  assert.equal(browser.history.state, null);
  for (const by of [1, 1, -1]) browser.history.go(by);
  assert.deepEqual(shown, []);
});

test("after Send the history is told the same, whether the receipt stands there before the history has moved or not", () => {
  const told = [false, true].map((isGone) => {
    browser = window();
    Object.assign(globalThis, { history: browser.history, addEventListener: browser.addEventListener });
    const { walk, gone } = begun();
    walk.go(1);
    const calls = /** @type {any[]} */ ([]);
    Object.assign(browser.history, { replaceState: (/** @type {any} */ state) => calls.push((browser.history.entries[0] = state)) });
    if (isGone) gone.abort();
    walk.end();
    return calls;
  });
  assert.deepEqual(told[0], told[1]);
});

test("an element that is gone follows the history no longer", () => {
  const { walk, gone } = begun();
  walk.go(1);
  walk.touched(true);
  gone.abort();
  shown.length = 0;
  browser.history.go(-1);
  assert.deepEqual(shown, []);
  assert.equal(asks(), false);
});

test("the browser asks before it leaves only while something would be lost, and where it may", () => {
  const { walk } = begun();
  assert.equal(asks(), false);
  walk.touched(true);
  walk.touched(true);
  assert.equal(asks(), true);
  walk.touched(false);
  assert.equal(asks(), false);
  walk.touched(true);
  walk.end();
  assert.equal(asks(), false);
  const { walk: other } = begun(false, false);
  other.touched(true);
  assert.equal(asks(), false);
});

for (const forgets of [false, true]) {
  test(`whoever leaves quickly is asked nothing, and leaves from where the survey began${forgets ? ", also after answers were forgotten" : ""}`, () => {
    const left = /** @type {string[]} */ ([]);
    Object.assign(globalThis, { location: { replace: (/** @type {string} */ url) => left.push(url) } });
    const { walk } = begun();
    for (const place of [1, 2]) walk.go(place);
    if (forgets) {
      walk.forget();
      walk.go(1);
    }
    walk.touched(true);
    walk.leave("https://elsewhere.example/");
    assert.equal(asks(), false);
    assert.deepEqual(left, ["https://elsewhere.example/"]);
    assert.equal(browser.history.entries.indexOf(browser.history.state), 0);
    Reflect.deleteProperty(globalThis, "location");
  });
}

test("after a reload one step back leaves the survey, however far it had gone", () => {
  browser.history.entries.unshift("before");
  browser.history.go(1);
  const { walk } = begun();
  for (const place of [1, 2]) walk.go(place);
  browser = Object.assign(window(), { history: browser.history }); // a new document, whose history is the old one
  Object.assign(globalThis, { addEventListener: browser.addEventListener });
  new Walk({ isHome: true, mayAsk: true }, () => shown.push("start"), new AbortController().signal);
  browser.history.go(-1);
  assert.equal(browser.history.state, "before");
});

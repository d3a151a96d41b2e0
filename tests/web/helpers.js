/* What the tests share. They run with: node --test tests/web/*.test.js */

import { readFileSync } from "node:fs";
import { dumps } from "../../client/deniable_web/strict-json.js";

/** @param {string} name */
export const vectors = (name) => JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), "utf8"));

/** @param {string} text */
export const bytes = (text) => new TextEncoder().encode(text);

/** A source of chosen words that says how many were drawn, and fails when more are asked for. @param {number[]} words */
export function tape(words) {
  const left = [...words];
  const word = () => {
    if (!left.length) throw new Error("drew more words than the vector holds");
    return /** @type {number} */ (left.shift());
  };
  return Object.assign(word, { left });
}

/** A Storage that a Map plays; like a real one it lists its keys as its own properties. */
export function fakeStorage() {
  const items = new Map();
  const methods = {
    items,
    getItem: (/** @type {string} */ key) => items.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void items.set(key, String(value)),
    removeItem: (/** @type {string} */ key) => void items.delete(key),
  };
  return new Proxy(methods, {
    ownKeys: () => [...items.keys()],
    getOwnPropertyDescriptor: (_, key) => (items.has(key) ? { enumerable: true, configurable: true, value: items.get(key) } : undefined),
  });
}

/** An object as surveys are published: with sorted keys, also of the objects in it. */
export const written = (/** @type {any} */ value) => dumps(sortedWhole(value));

const sortedWhole = (/** @type {any} */ value) =>
  Array.isArray(value) ? value.map(sortedWhole)
  : value !== Object(value) ? value
  : Object.fromEntries(Object.keys(value).sort().map((key) => [key, sortedWhole(value[key])]));

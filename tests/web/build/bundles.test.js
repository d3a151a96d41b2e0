import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";

import { transform } from "../../../client/deniable_web/node_modules/esbuild/lib/main.js";
import { BUNDLES, outputs } from "../../../client/deniable_web/build.mjs";

const FOLDER = new URL("../../../client/deniable_web/", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER), "utf8");

/** What the sources make, built once for all tests that look at it. */
let building = /** @type {Promise<Map<string, Uint8Array>> | undefined} */ (undefined);
const made = () => (building ??= outputs());
const madeBundle = async (/** @type {string} */ file) => String((await made()).get(`dist/${file}`));

/** In bytes, as they are sent. A survey's script has more, for questions that share one epsilon and for blind tokens. */
const LARGEST = { "deniable.js": 30_000, "deniable-question.js": 13_000 };

test("bundles are at most 30 and 13 kB as they are sent, and little more by any gzip", () => {
  assert.deepEqual(Object.keys(LARGEST), Object.keys(BUNDLES));
  for (const [file, most] of Object.entries(LARGEST)) {
    const [code, sent] = [file, `${file}.gz`].map((name) => readFileSync(new URL(`dist/${name}`, FOLDER)));
    assert.ok(sent.length <= most, `${file}: ${sent.length} bytes`);
    assert.ok(gunzipSync(sent).equals(code));
    assert.ok(gzipSync(code, { level: 9 }).length <= 1.03 * most);
  }
});

test("the bundles' syntax is that of the oldest browsers that the documentation names", async () => {
  for (const file of Object.keys(BUNDLES)) {
    const code = await madeBundle(file);
    const target = ["chrome103", "firefox101", "safari16.4"];
    const as = async (/** @type {string | string[]} */ target) => (await transform(code, { target, format: "esm" })).code;
    assert.equal(await as(target), await as("esnext"), `${file}: esbuild had to write something in older words`);
  }
});

test("the committed bundles and their hashes are what the sources make", async () => {
  for (const [path, bytes] of await made()) {
    assert.ok(Buffer.from(bytes).equals(readFileSync(new URL(path, FOLDER))), `${path}: run npm run build`);
  }
  const { integrity } = JSON.parse(read("dist/manifest.json"));
  assert.deepEqual(Object.keys(integrity), Object.keys(BUNDLES));
  for (const [file, hash] of Object.entries(integrity)) {
    const digest = createHash("sha384").update(readFileSync(new URL(`dist/${file}`, FOLDER))).digest("base64");
    assert.equal(hash, `sha384-${digest}`);
  }
});

test("nobody can name what is in a bundle", async () => {
  for (const file of Object.keys(BUNDLES)) assert.doesNotMatch(await madeBundle(file), /\bexport\b/);
});

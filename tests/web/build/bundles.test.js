import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { transform } from "../../../client/deniable_web/node_modules/esbuild/lib/main.js";
import { BESIDE, BUNDLES, HOSTS, outputs } from "../../../client/deniable_web/build.mjs";

const FOLDER = new URL("../../../client/deniable_web/", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER), "utf8");

/** What the sources make, built once for all tests that look at it. */
let building = /** @type {Promise<Map<string, Uint8Array>> | undefined} */ (undefined);
const made = () => (building ??= outputs());
const madeBundle = async (/** @type {string} */ file) => String((await made()).get(`dist/${file}`));

const SCRIPTS = [...Object.keys(BUNDLES), ...Object.keys(BESIDE)];

/** The most bytes of each script by `gzip -9`. The first two are surveys up to Start, the last one is the rest. */
const LARGEST = /** @type {Record<string, number>} */ ({
  "deniable.js": 30_000,
  "deniable-place.js": 30_000,
  "deniable-question.js": 23_000,
  "deniable-told.js": 21_000,
  "deniable-answering.js": 13_000,
});

test("bundles are small", () => {
  for (const file of SCRIPTS) {
    const { length } = gzipSync(readFileSync(new URL(`dist/${file}`, FOLDER)), { level: 9 });
    assert.ok(length <= LARGEST[file], `${file}: ${length} bytes`);
  }
});

test("plugins for hosts are at most 3 kB gzipped, import nothing and name the version of the package", () => {
  const { version } = JSON.parse(read("package.json"));
  const { hosts } = JSON.parse(read("dist/manifest.json"));
  assert.deepEqual(Object.keys(hosts), Object.keys(HOSTS));
  for (const [file, hash] of Object.entries(hosts)) {
    const code = readFileSync(new URL(`dist/hosts/${file}`, FOLDER));
    assert.ok(gzipSync(code, { level: 9 }).length <= 3000, file);
    assert.equal(hash, `sha384-${createHash("sha384").update(code).digest("base64")}`);
    assert.doesNotMatch(read(`../hosts/${file}`), /^import /m, file);
  }
  assert.match(read("../hosts/jspsych.js"), new RegExp(`version: "${version}"`));
});

test("what the sources freeze is frozen in the bundles, and every message of an error is there", async () => {
  for (const file of Object.keys(BUNDLES)) {
    const code = await madeBundle(file);
    assert.match(code, /Object\.freeze\(/, file);
    assert.match(code, /catalogues: cannot be reached/, file);
    assert.match(code, /answer: must be one that its question allows/, file);
  }
});

test("the bundles' syntax is that of the oldest browsers that the documentation names", async () => {
  for (const file of SCRIPTS) {
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
  assert.deepEqual(Object.keys(integrity), SCRIPTS);
  for (const [file, hash] of Object.entries(integrity)) {
    const digest = createHash("sha384").update(readFileSync(new URL(`dist/${file}`, FOLDER))).digest("base64");
    assert.equal(hash, `sha384-${digest}`);
  }
});

test("the same sources make the same bytes in any folder", () => {
  const modules = fileURLToPath(new URL("node_modules", FOLDER));
  const built = ["a", "another folder, deeper/b"].map((name) => {
    const folder = mkdtempSync(join(tmpdir(), "deniable-"));
    const copy = join(folder, name);
    cpSync(fileURLToPath(new URL("../hosts", FOLDER)), join(copy, "..", "hosts"), { recursive: true });
    cpSync(fileURLToPath(FOLDER), copy, { recursive: true, filter: (path) => path !== modules && !path.includes("/dist/") });
    symlinkSync(modules, join(copy, "node_modules"));
    execFileSync(process.execPath, ["build.mjs"], { cwd: copy });
    const files = SCRIPTS.map((file) => readFileSync(join(copy, "dist", file)));
    rmSync(folder, { recursive: true });
    return files;
  });
  const committed = SCRIPTS.map((file) => readFileSync(new URL(`dist/${file}`, FOLDER)));
  for (const files of built) files.forEach((bytes, n) => assert.ok(bytes.equals(committed[n])));
});

test("the first scripts of a survey hold the hash of the second, and neither holds code of the other", async () => {
  const { integrity } = JSON.parse(read("dist/manifest.json"));
  const second = await madeBundle("deniable-answering.js");
  for (const file of ["deniable.js", "deniable-place.js"]) {
    const first = await madeBundle(file);
    assert.ok(first.includes(`"${integrity["deniable-answering.js"]}"`));
    for (const part of ["must be signed by its issuer", "message/bhttp request", "retry-after", "stepMost", ".stars label"]) {
      assert.ok(second.includes(part), part);
      assert.ok(!first.includes(part), part);
    }
    for (const part of ["customElements", "survey: must be as published", "answers: must be to every question"]) {
      assert.ok(first.includes(part), part);
      assert.ok(!second.includes(part), part);
    }
  }
});

test("the second script is one function of what it is given, and says nothing before it is called", async () => {
  const second = await madeBundle("deniable-answering.js");
  const { default: answering, ...more } = await import(`data:text/javascript,${encodeURIComponent(second)}`);
  assert.deepEqual(more, {});
  const { given } = await import("../../../client/deniable_web/given.js");
  assert.ok(Object.isFrozen(given));
  assert.deepEqual(Object.keys(answering(given)), ["Visit"]);
});

test("nobody can name what is in a bundle", async () => {
  for (const file of Object.keys(BUNDLES)) {
    const code = await madeBundle(file);
    assert.match(code, /customElements/, "this is its text");
    assert.doesNotMatch(code, /\bexport\b/);
  }
});

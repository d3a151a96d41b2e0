import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { transform } from "../../client/deniable_web/node_modules/esbuild/lib/main.js";
import { CLIENT } from "../../client/deniable_web/index.js";
import { BUNDLES, INNER, bundle, outputs } from "../../client/deniable_web/build.mjs";
import { ownNames } from "../../client/deniable_web/names.mjs";
import { catalogues, problems, written } from "../../client/deniable_web/catalogues.mjs";
import { vectors } from "./helpers.js";

const FOLDER = new URL("../../client/deniable_web/", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER), "utf8");
const FILES = ["", "catalogues/", "mechanisms/"].flatMap((folder) =>
  readdirSync(new URL(folder || ".", FOLDER)).filter((name) => name.endsWith(".js")).map((name) => folder + name),
);
const withoutComments = (/** @type {string} */ source) =>
  source.replace(/\/\*[^]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "").replace(/\s*\n\s*/g, "\n");

/** A module and everything that it loads. */
function loadedBy(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, target] of read(path).matchAll(/ from "([^"]+)"/g)) {
    assert.match(target, /^\.\.?\//, `${path} imports what is not its own: ${target}`);
    loadedBy(new URL(target, `x:/${path}`).pathname.slice(1), found);
  }
  return found;
}

test("a page loads only modules of this folder", () => {
  const modules = [...loadedBy("define.js")];
  assert.ok(modules.every((path) => FILES.includes(path)) && modules.includes("mechanisms/k-ary.js"));
});

test("each bundle is at most 13 kB, minified and gzipped", async () => {
  for (const file of Object.keys(BUNDLES)) {
    const size = gzipSync(await bundle(file), { level: 9 }).length;
    assert.ok(size <= 13_000, `${file}: ${size} bytes`);
  }
});

test("the bundles' syntax is that of the oldest browsers that the documentation names", async () => {
  for (const file of Object.keys(BUNDLES)) {
    const code = (await bundle(file)).toString();
    const target = ["chrome103", "firefox101", "safari16.4"];
    const as = async (/** @type {string | string[]} */ target) => (await transform(code, { target, format: "esm" })).code;
    assert.equal(await as(target), await as("esnext"), `${file}: esbuild had to write something in older words`);
  }
});

test("the committed bundles and their hashes are what the sources make", async () => {
  for (const [path, made] of await outputs()) {
    assert.ok(Buffer.from(made).equals(readFileSync(new URL(path, FOLDER))), `${path}: run npm run build`);
  }
  const { integrity } = JSON.parse(read("dist/manifest.json"));
  assert.deepEqual(Object.keys(integrity), Object.keys(BUNDLES));
  for (const [file, hash] of Object.entries(integrity)) {
    const digest = createHash("sha384").update(readFileSync(new URL(`dist/${file}`, FOLDER))).digest("base64");
    assert.equal(hash, `sha384-${digest}`);
  }
});

test("every language has every sentence, short enough, without a word that misleads, under its hash", () => {
  assert.deepEqual(problems(), []);
  for (const [path, text] of written()) assert.equal(read(path), text);
  assert.deepEqual(Object.keys(catalogues()), ["ar", "de", "en", "es", "fr"]);
  const { en, de } = catalogues();
  const { send, ...without } = de;
  const card = { ...en, process: "word ".repeat(120) };
  for (const [bad, what] of [
    [without, '"send": is missing'],
    [{ ...de, more: "x" }, '"more": is used nowhere'],
    [{ ...de, progress: "{all}" }, '"progress": must hold {n}'],
    [{ ...de, sent: "Sie bleiben anonym." }, '"sent": holds a word that misleads'],
    [{ ...de, lang: "fr" }, '"lang": must be "de"'],
    [{ ...de, dir: "up" }, '"dir": must be "ltr" or "rtl"'],
    [{ ...de, send: " " }, '"send": must be a text'],
  ]) {
    assert.deepEqual(problems({ en, de: bad }), [`de.json: ${what}`]);
  }
  assert.match(problems({ en: card })[0], /consent card: must be at most 120 words, got 1\d\d/);
});

test("names that bundles shorten are no names of catalogues, of what stands in braces there, of surveys, reports, records or elements", async () => {
  const { MECHANISMS } = await import("../../client/deniable_web/index.js");
  // A mechanism takes its weights by their place: only there the published names stand, as texts.
  const weights = new Set([...MECHANISMS.values()].flatMap(({ published }) => published));
  const published = vectors("surveys").flatMap(({ document }) => document.match(/"[a-z]+"(?=:)/g) ?? []);
  const keys = published.map((key) => key.slice(1, -1)).filter((key) => !weights.has(key));
  const sentences = Object.values(catalogues()).flatMap(Object.values).join();
  const placeholders = [...sentences.matchAll(/{(\w+)}/g)].map(([, name]) => name);
  const report = ["id", "cohort", "values"];
  const record = ["reports", "report", "to", "noisy", "told"];
  const events = ["survey", "height", "deniable", "detail"];
  const elements = ["src", "name", "isolated", "kiosk", "value", "type", "checkValidity", "reportValidity", "connectedCallback"];
  const known = [...Object.keys(catalogues().en), ...placeholders, ...keys, ...report, ...record, ...events, ...elements];
  assert.deepEqual(known.filter((name) => INNER.test(name)), []);
  for (const file of Object.keys(BUNDLES)) assert.doesNotMatch((await bundle(file)).toString(), /\bexport\b/, "nobody can name what is in it");
});

test("bundles shorten a name only where TypeScript knows each of its places to be ours", () => {
  const folder = mkdtempSync(join(tmpdir(), "names-")) + "/";
  const namesIn = (/** @type {string} */ source) => {
    writeFileSync(`${folder}tsconfig.json`, JSON.stringify({ compilerOptions: { checkJs: true, strict: true, noEmit: true }, include: ["*.js"] }));
    writeFileSync(`${folder}source.js`, `export {};\nconst ours = { mine: 1, inner: { deep: 2 } };\n${source}`);
    return ownNames(folder).join(" ");
  };
  try {
    for (const [source, names] of [
      ["ours.mine;", "deep inner mine"],
      ["const { mine, inner: { deep } } = ours; ours.inner.deep = mine + deep;", "deep inner mine"],
      ["const more = Object.freeze({ ...ours, other: 3 }); more.other;", "deep inner mine other"],
      ["JSON.stringify(ours);", ""],
      ["JSON.stringify([ours.inner]);", "inner mine"],
      ["postMessage(ours.inner);", "inner mine"],
      ["/** @param {object} any */ const read = (any) => any; read({ ...ours, mine: 2 });", ""],
      ["/** @type {Record<string, unknown>} */ const all = ours; all.more = 1;", ""],
      ["/** @type {any} */ (globalThis).mine;", "deep inner"],
      ["/** @type {{ mine: number }} */ const known = JSON.parse('');", "deep inner"],
      ["/** @param {{ deep: number }} known */ const read = (known) => known.deep; read(JSON.parse(''));", "inner mine"],
      ["const { mine } = JSON.parse('');", "deep inner"],
      ["for (const key of ['mine']) /** @type {any} */ (ours)[key];", ""],
      ["for (const key in ours) key;", ""],
      ["Object.keys(ours);", ""],
      ["Reflect.get(ours.inner, 'deep');", "inner mine"],
      ["'deep' in ours.inner;", "inner mine"],
      ["const quoted = { 'mine': 1 };", "deep inner"],
      ["const node = { deep: document.title, title: 1 };", "deep inner mine"],
      ["class Own { #mine = 1; deep = 2; field = this.#mine; }", "deep field inner mine"],
      ["class Box extends HTMLElement { title = ''; value = 1; own = 2; connectedCallback() {} }", "deep inner mine own"],
    ]) {
      assert.deepEqual([source, namesIn(source)], [source, names]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("no module can run markup, need an inline style, log, set a cookie, or draw from a weak generator", () => {
  const never = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\.style\b|"style"|console\.|cookie|Math\.random|sendBeacon|XMLHttpRequest|import\((?!"\.\/[a-z]{2}\.js"\))/;
  for (const path of FILES) assert.doesNotMatch(withoutComments(read(path)), never, path);
});

test("every module is type-checked", () => {
  for (const path of FILES) assert.ok(read(path).startsWith("//@ts-check\n"), path);
});

test("no text for respondents holds a word that misleads or frightens", () => {
  const odds = vectors("surveys").flatMap((vector) => vector.odds ?? []).flat();
  for (const text of [...Object.values(catalogues().en), ...odds]) assert.doesNotMatch(text, /epsilon|differential|anonym|guarantee|\blies?\b/i);
});

test("one version in the package and on the receipt", () => {
  assert.equal(CLIENT, `deniable-web ${JSON.parse(read("package.json")).version}`);
});

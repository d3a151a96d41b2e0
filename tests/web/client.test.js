import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { CLIENT } from "../../client/deniable_web/index.js";
import { catalogues, gaps, pageSentences, problems, written } from "../../client/deniable_web/catalogues.mjs";
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

test("every language has every sentence, with when it is shown and why it is true, short enough and without a word that misleads", () => {
  assert.deepEqual(problems(), []);
  assert.deepEqual(gaps(), []);
  assert.deepEqual(gaps(pageSentences()), []);
  for (const [path, text] of written()) assert.equal(read(path), text);
  assert.deepEqual(Object.keys(catalogues()), ["ar", "de", "en", "es", "fr"]);
  assert.deepEqual(gaps({ send: { when: "Below", why: "", en: "Send" } }), [
    '"send": must say in whole sentences when it is shown and why it is true',
  ]);
  const { en, de } = catalogues();
  const { send, ...without } = de;
  const card = { ...en, process: "word ".repeat(100) };
  for (const [bad, what] of [
    [without, '"send": is missing'],
    [{ ...de, more: "x" }, '"more": is used nowhere'],
    [{ ...de, step: "{all}" }, '"step": must hold {all},{n}'],
    [{ ...de, sent: "Sie bleiben anonym." }, '"sent": holds a word that misleads'],
    [{ ...de, send: " " }, '"send": must be a text'],
  ]) {
    assert.deepEqual(problems({ en, de: bad }), [`de.json: ${what}`]);
  }
  assert.match(problems({ en: card })[0], /what stands before Start: must be at most 110 words, got 1\d\d/);
});

test("no module can run markup, need an inline style, log, set a cookie, or draw from a weak generator", () => {
  const never = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\.style\b|"style"|console\.|cookie|Math\.random|sendBeacon|XMLHttpRequest|import\((?!"\.\/[a-z]{2}\.js"\))/;
  for (const path of FILES) assert.doesNotMatch(withoutComments(read(path)).replace(path === "beside.js" ? "(await import(href))" : "", ""), never, path);
});

test("the one module that runs another script has the browser compare its hash", () => {
  const code = withoutComments(read("beside.js"));
  assert.match(code, /new URL\(NAME, import\.meta\.url\)/, "from where the bundle itself came");
  const compared = /h\("link", \{ rel: "modulepreload", href, integrity, [^]*h\("script", \{ type: "module", src: href, integrity, [^]*await import\(href\)/;
  assert.match(code, compared, "in browsers that know no modulepreload, too");
});

test("only a question type's descriptor and the mechanisms name it", async () => {
  const { QUESTION_TYPES } = await import("../../client/deniable_web/question-types.js");
  const names = [...QUESTION_TYPES.keys()].filter((name) => name !== "number").join("|"); // which JavaScript and HTML have too
  const naming = new RegExp(`["'\`](${names})["'\`]|\\b(type|kind) [!=]==? |[!=]==? (type|kind)\\b`);
  assert.match('type === "number"', naming);
  const others = FILES.filter((path) => path !== "question-types.js" && !/^(mechanisms|catalogues)\//.test(path));
  for (const path of others) assert.doesNotMatch(withoutComments(read(path)), naming, path);
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

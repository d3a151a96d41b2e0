import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";

import { transform } from "../../client/deniable_web/node_modules/esbuild/lib/main.js";
import { CLIENT } from "../../client/deniable_web/index.js";
import { BUNDLES, INNER, outputs, together } from "../../client/deniable_web/build.mjs";
import { ownNames } from "../../client/deniable_web/names.mjs";
import { catalogues, problems, written } from "../../client/deniable_web/catalogues.mjs";
import { bytes, tape, vectors } from "./helpers.js";

const FOLDER = new URL("../../client/deniable_web/", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER), "utf8");
const FILES = ["", "catalogues/", "mechanisms/"].flatMap((folder) =>
  readdirSync(new URL(folder || ".", FOLDER)).filter((name) => name.endsWith(".js")).map((name) => folder + name),
);
const withoutComments = (/** @type {string} */ source) =>
  source.replace(/\/\*[^]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "").replace(/\s*\n\s*/g, "\n");

/** What the sources make, built once for all tests that look at it. */
let building = /** @type {Promise<Map<string, Uint8Array>> | undefined} */ (undefined);
const made = () => (building ??= outputs());
const madeBundle = async (/** @type {string} */ file) => String((await made()).get(`dist/${file}`));

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

/** In bytes, as they are sent. A survey's script has more, for questions that share one epsilon and for blind tokens. */
const LARGEST = { "deniable.js": 15_000, "deniable-question.js": 12_200 };

test("bundles are at most 15.0 and 12.2 kB as they are sent, and little more by any gzip", () => {
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

test("every language has every sentence, short enough, without a word that misleads, under its hash", () => {
  assert.deepEqual(problems(), []);
  for (const [path, text] of written()) assert.equal(read(path), text);
  assert.deepEqual(Object.keys(catalogues()), ["ar", "de", "en", "es", "fr"]);
  const { en, de } = catalogues();
  const { send, ...without } = de;
  const card = { ...en, process: "word ".repeat(100) };
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

test("names that bundles shorten are no names of catalogues, of what stands in braces there, of reports, records or elements", async () => {
  const sentences = Object.values(catalogues()).flatMap(Object.values).join();
  const placeholders = [...sentences.matchAll(/{(\w+)}/g)].map(([, name]) => name);
  const report = ["id", "cohort", "values", "credential"];
  const record = ["reports", "report", "to", "noisy", "told", "tokens", "message", "salt", "inverse", "blinded", "signature"];
  const events = ["survey", "height", "deniable", "detail"];
  const elements = ["src", "name", "isolated", "kiosk", "value", "type", "checkValidity", "reportValidity", "connectedCallback"];
  const asking = ["invitation", "blinded"];
  const known = [...Object.keys(catalogues().en), ...placeholders, ...report, ...record, ...asking, ...events, ...elements];
  assert.deepEqual(known.filter((name) => INNER.test(name)), []);
  for (const file of Object.keys(BUNDLES)) assert.doesNotMatch(await madeBundle(file), /\bexport\b/, "nobody can name what is in it");
});

/** What is read, sent and kept, as texts: of the sources, or of what a bundle makes of them. */
const ENDS = `
  import { encodeReport, randomize } from "./device.js";
  import { drawQuestions } from "./group.js";
  import { Memory } from "./memory.js";
  import { nothing } from "./store.js";
  import { parseSurvey } from "./survey.js";

  export const read = async (bytes) => {
    const { id, questions, units } = await parseSurvey(bytes);
    return JSON.stringify([id, questions.map(({ id, type }) => [id, type]), units.map(({ key, sent, mechanism }) => [key, sent, mechanism.cost])]);
  };

  export const draw = async (bytes, answers, cohort, word, id, asked) =>
    encodeReport(randomize(await parseSurvey(bytes), answers, { cohort, word, id, asked }));

  export const keep = async (bytes, answers, word) => {
    const survey = await parseSurvey(bytes);
    const state = nothing();
    const memory = new Memory({ lasts: true, run: async (act) => act(state) });
    const asked = await memory.asked(survey, () => drawQuestions(survey, word));
    const given = Object.fromEntries(Object.entries(answers).filter(([id]) => asked.has(id)));
    const draw = (isKept) => randomize(survey, given, { word, id: "0".repeat(32), isKept, asked });
    await memory.once(survey, "https://a.example", draw, undefined, "2026-11-25");
    await memory.markSent(survey.id, "https://a.example");
    return JSON.stringify(state);
  };
`;

test("with short names every survey, report and record is what it is without", async () => {
  const asModule = (/** @type {string} */ code) => import(`data:text/javascript,${encodeURIComponent(code)}`);
  const short = await asModule(await together(ENDS));
  const long = await asModule(ENDS.replace(/"\.\/(.*?)"/g, (_, path) => `"${new URL(path, FOLDER)}"`));
  for (const { document, id, name } of vectors("surveys")) {
    if (id === null) await assert.rejects(short.read(bytes(document)), name);
    else assert.equal(await short.read(bytes(document)), await long.read(bytes(document)), name);
  }
  const { document, vectors: people } = vectors("reports");
  for (const { answers, cohort, words, id, report, asked, document: own, name } of people) {
    const drawn = short.draw(bytes(own ?? document), answers, cohort, tape(words), id, asked);
    if (report === null) await assert.rejects(drawn, name);
    else assert.equal(await drawn, report, name);
  }
  const [affair] = vectors("memory").surveys;
  const kept = await short.keep(bytes(affair), { affair: "yes" }, () => 7);
  assert.equal(kept, await long.keep(bytes(affair), { affair: "yes" }, () => 7));
  const drawn = bytes(vectors("memory").surveys.find((each) => each.includes('"title":"Drawn"')));
  const three = { affair: "yes", tax: "no", theft: "yes" };
  const drawing = await short.keep(drawn, three, () => 6);
  assert.equal(drawing, await long.keep(drawn, three, () => 6));
  assert.match(drawing, /"noisy":{"\w{26}draw":"\d{3}","\w{26}":"\[[01nul,]+\]"}/);
  assert.match(kept, /^{"reports":{"\w{26}":{"report":"{\\"id\\":\\"0{32}\\",\\"cohort\\":null,\\"values\\":{.*}}","to":{"https:\/\/a\.example":true}}},"noisy":{.*},"told":{.*}}$/);
});

test("bundles shorten a name only where TypeScript knows each of its places to be ours", () => {
  const folder = mkdtempSync(join(tmpdir(), "names-")) + "/";
  const namesIn = (/** @type {string} */ source) => {
    writeFileSync(`${folder}tsconfig.json`, JSON.stringify({ compilerOptions: { checkJs: true, strict: true, noEmit: true }, include: ["*.js"] }));
    writeFileSync(`${folder}source.js`, `export {};\nconst ours = { mine: 1, inner: { deep: 2 } };\n${source}`);
    return ownNames(folder).names.join(" ");
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

test("two names that one object may have are never the same short name", () => {
  const folder = mkdtempSync(join(tmpdir(), "names-")) + "/";
  const shortIn = (/** @type {string} */ source) => {
    writeFileSync(`${folder}tsconfig.json`, JSON.stringify({ compilerOptions: { checkJs: true, strict: true, noEmit: true }, include: ["*.js"] }));
    writeFileSync(`${folder}source.js`, `export {};\n${source}`);
    const { names, short } = ownNames(folder);
    assert.deepEqual(Object.keys(short).sort(), names);
    return short;
  };
  const apart = [
    "const one = { first: 1, second: 2 };",
    "const one = { first: 1 }; const more = { ...one, second: 2 };",
    "/** @param {{ kind: 1, first: number } | { kind: 2, second: number }} one */ const read = (one) => (one.kind === 1 ? one.first : one.second);",
    "/** @param {{ second: number, first?: number }} one */ const read = (one) => one.first; const own = { second: 2 }; read(own);",
    "class One { first = 1; } class More extends One { second = 2; }",
    "class One { first = 1; second() {} }",
    "/** @param {{ first: number } & { second: number }} both */ const read = ({ first, second }) => first + second;",
  ];
  try {
    for (const source of apart) {
      const { first, second } = shortIn(source);
      assert.ok(first && second && first !== second, source);
    }
    const { first, second } = shortIn("const one = { first: 1 }; const other = { second: 2 };");
    assert.equal(first, second, "they never meet");
    assert.notEqual(shortIn("const one = { first: 1 }; JSON.stringify({ t: 1 });").first, "t", "somebody else's");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("no module can run markup, need an inline style, log, set a cookie, or draw from a weak generator", () => {
  const never = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\.style\b|"style"|console\.|cookie|Math\.random|sendBeacon|XMLHttpRequest|import\((?!"\.\/[a-z]{2}\.js"\))/;
  for (const path of FILES) assert.doesNotMatch(withoutComments(read(path)), never, path);
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

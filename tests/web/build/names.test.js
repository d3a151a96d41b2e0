import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { INNER, together } from "../../../client/deniable_web/build.mjs";
import { catalogues } from "../../../client/deniable_web/catalogues.mjs";
import { ownNames } from "../../../client/deniable_web/names.mjs";
import { bytes, tape, vectors } from "../helpers.js";

const FOLDER = new URL("../../../client/deniable_web/", import.meta.url);

test("names that bundles shorten are no names of catalogues, of what stands in braces there, of reports, records or elements", () => {
  const sentences = Object.values(catalogues()).flatMap(Object.values).join();
  const placeholders = [...sentences.matchAll(/{(\w+)}/g)].map(([, name]) => name);
  const report = ["id", "cohort", "values", "credential"];
  const record = ["reports", "report", "to", "noisy", "told", "tokens", "message", "salt", "inverse", "blinded", "signature"];
  const events = ["survey", "height", "deniable", "detail"];
  const elements = ["src", "name", "isolated", "kiosk", "value", "type", "checkValidity", "reportValidity", "connectedCallback"];
  const asking = ["invitation", "blinded"];
  const known = [...Object.keys(catalogues().en), ...placeholders, ...report, ...record, ...asking, ...events, ...elements];
  assert.deepEqual(known.filter((name) => INNER.test(name)), []);
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
    await memory.once(survey, "https://a.example", draw, undefined, undefined, "2026-11-25");
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

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { bytesOf } from "../../client/deniable_web/randomness.js";
import { ReportError, SurveyError, encodeReport, parseSurvey, submit } from "../../client/deniable_web/index.js";
import { exported, seal, setup } from "../../client/deniable_web/hpke.js";
import { sealReport } from "../../client/deniable_web/sealing.js";
import { bytes, vectors } from "./helpers.js";
import { hex, pairOf } from "./keys.js";

const { subtle } = globalThis.crypto;
for (const vector of vectors("standards/hpke").hpke) {
  test(`RFC 9180: ${vector.name}`, async () => {
    const { pkRm, info, pt, aad, pkEm, ct } = vector;
    const sealed = await seal(bytesOf(pkRm), bytesOf(info), bytesOf(pt), await pairOf(vector), bytesOf(aad));
    assert.equal(hex(sealed), pkEm + ct);
    const context = await setup(bytesOf(pkRm), bytesOf(info), await pairOf(vector));
    for (const { context: label, value } of vector.exports) {
      assert.equal(hex(await exported(context, Buffer.from(label, "hex").toString(), 32)), value);
    }
  });
}

const KEYS = await Promise.all(
  [1, 2].map(async () => {
    const { publicKey } = await subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    return hex(new Uint8Array(await subtle.exportKey("raw", publicKey)));
  }),
);
const QUESTION = { id: "q", mechanism: { keep: 3139872686, name: "warner" }, options: ["no", "yes"], text: "Q?", type: "yes-no" };

/** A published survey with these keys in the order of the document. */
const documentOf = (sealed, more = {}) => {
  const fields = { closes: "2026-12-06", deniable: 2, ...more, questions: [QUESTION], ...(sealed && { sealed }), title: "T" };
  return JSON.stringify(Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))));
};
const SEALED = { first: "2026-11-23", keys: KEYS, size: 128 };
const PLACE = { place: ["https://place.example"] };

test("a survey may publish keys and places, and nothing that is none", async () => {
  const { sealed, places } = await parseSurvey(bytes(documentOf(SEALED, PLACE)));
  assert.deepEqual({ ...sealed, keys: [...sealed.keys] }, SEALED);
  assert.deepEqual([...places], PLACE.place);
  for (const wrong of [
    documentOf(null, PLACE), // the place would read each report
    documentOf({ ...SEALED, size: 100 }),
    documentOf({ ...SEALED, keys: [] }),
    documentOf({ ...SEALED, keys: [KEYS[0], KEYS[0]] }),
    documentOf({ ...SEALED, keys: [KEYS[0].replace(/^04/, "02")] }),
    documentOf({ ...SEALED, keys: [KEYS[0], "00".repeat(32)] }),
    documentOf({ ...SEALED, more: 1 }),
    documentOf({ ...SEALED, first: "2026-11-22" }), // no key for the last day
    documentOf(SEALED, { closes: undefined }),
    documentOf(SEALED, { opens: "2026-11-22" }),
    documentOf(SEALED, { place: [] }),
  ]) {
    await assert.rejects(parseSurvey(bytes(wrong)), SurveyError);
  }
});

test("places are origins as browsers write them", async () => {
  const { valid, refused } = JSON.parse(await readFile(new URL("../data/place_origins.json", import.meta.url), "utf8"));
  for (const place of valid) {
    assert.deepEqual([...(await parseSurvey(bytes(documentOf(SEALED, { place: [place] })))).places], [place]);
    assert.equal(new URL(place).origin, place);
  }
  for (const place of Object.keys(refused)) {
    await assert.rejects(parseSurvey(bytes(documentOf(SEALED, { place: [place] }))), SurveyError, place);
  }
});

test("a report is sealed to the key of the week, and as long whatever it says", async () => {
  const survey = await parseSurvey(bytes(documentOf(SEALED)));
  const days = ["2026-11-01", "2026-11-29", "2026-11-30", "2027-01-01"];
  const made = await Promise.all(days.map((day, n) => sealReport(survey, "x".repeat(n + 1), Date.parse(day))));
  assert.deepEqual(made.map(([week]) => week), [0, 0, 1, 1]);
  assert.deepEqual(new Set(made.map(({ length }) => length)), new Set([1 + 65 + 128 + 16]));
  await assert.rejects(sealReport(survey, "x".repeat(129)), RangeError);
});

test("what is sealed is sent as it is, again in the same bytes, and says no right in its head", async () => {
  const survey = await parseSurvey(bytes(documentOf(SEALED)));
  const text = encodeReport({ id: "00".repeat(16), cohort: null, values: { q: 1 }, credential: "11".repeat(16) });
  const asked = [];
  const fetch = async (url, { body, headers }) => {
    asked.push([url, hex(body), headers]);
    return new Response('{"status":"stored"}', { status: asked.length === 1 ? 503 : 201 });
  };
  await submit(survey, "https://place.example/via/collector.example", text, { fetch, wait: async () => {} });
  const [[url, body, headers], again] = asked;
  assert.equal(url, `https://place.example/via/collector.example/api/v1/surveys/${survey.id}/sealed`);
  assert.deepEqual(again, [url, body, headers]);
  assert.deepEqual(headers, { "Content-Type": "application/octet-stream" });
  assert.ok(!body.includes("11".repeat(16)));
  const no = async () => new Response('{"detail":"no"}', { status: 422 });
  await assert.rejects(submit(survey, "https://place.example", text, { fetch: no }), ReportError);
});

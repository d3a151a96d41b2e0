import assert from "node:assert/strict";
import { test } from "node:test";

import { encodeRequest, parseRequest, parseResponse } from "../../client/deniable_web/binary-http.js";
import { byGateway, encapsulate } from "../../client/deniable_web/oblivious.js";
import { bytesOf } from "../../client/deniable_web/randomness.js";
import { vectors } from "./helpers.js";
import { hex, pairOf } from "./keys.js";

const { oblivious, binary, invalid } = vectors("standards/oblivious");

for (const { name, message, is_written: isWritten, control, status, early, fields, content, trailers } of binary) {
  test(`RFC 9292: ${name}`, () => {
    const found = control ? parseRequest(bytesOf(message)) : parseResponse(bytesOf(message));
    const said = control ? { control } : { status, early };
    assert.deepEqual({ ...found, content: hex(found.content) }, { ...said, fields, content, trailers });
    if (control && isWritten) assert.equal(hex(encodeRequest(control, fields, Buffer.from(content, "hex"))), message);
  });
}

test("RFC 9292: messages that are none", () => {
  for (const { name, message } of invalid) {
    for (const parse of [parseRequest, parseResponse]) assert.throws(() => parse(bytesOf(message)), `${name}`);
  }
});

test("lengths of every size are written as they are read", () => {
  for (const size of [0, 63, 64, 16383, 16384, 70000]) {
    const content = new Uint8Array(size).fill(7);
    const message = encodeRequest(["POST", "https", "a.example", "/"], [["x", "y"]], content, 1024);
    assert.equal(message.length % 1024, 0);
    assert.deepEqual(parseRequest(message).content, content);
  }
});

for (const vector of oblivious) {
  test("RFC 9458, appendix A", async () => {
    const pair = await pairOf({ skEm: vector.skE, pkEm: vector.pkE });
    const { message, open } = await encapsulate(vector.identifier, bytesOf(vector.pkR), bytesOf(vector.request), pair);
    assert.equal(hex(message), vector.encapsulated_request);
    assert.equal(hex(await open(bytesOf(vector.encapsulated_response))), vector.response);
    const changed = bytesOf(vector.encapsulated_response);
    changed[20] ^= 1;
    await assert.rejects(open(changed));
  });
}

test("what a relay answers itself is an answer, and it is sent nothing but the encapsulated request", async () => {
  const [{ pkR }] = oblivious;
  const survey = { id: "a".repeat(26), sealed: { first: "2026-11-23", keys: [pkR], size: 64 } };
  const way = "https://place.example/via/collector.example/one";
  const asked = [];
  const fetch = async (url, init) => {
    asked.push([url, init]);
    return new Response('{"detail":"later"}', { status: 429, headers: { "Retry-After": "7" } });
  };
  const secret = "11".repeat(16);
  const ask = byGateway(survey, way, fetch);
  const said = { method: "POST", headers: { "Content-Type": "application/json", Authorization: `Invitation ${secret}` }, body: `{"a":"${secret}"}` };
  const answer = await ask(`${way}/api/v1/surveys/${survey.id}/tokens`, { ...said, credentials: "same-origin" });
  assert.equal(answer.status, 429);
  const [[url, { method, headers, body, credentials }]] = asked;
  assert.deepEqual([url, method, credentials], [`${way}/api/v1/surveys/${survey.id}/gateway`, "POST", "same-origin"]);
  assert.deepEqual(headers, { "Content-Type": "message/ohttp-req" });
  assert.equal(body.length, 7 + 32 + 1024 + 16);
  assert.ok(!Buffer.from(body).includes(secret));
});

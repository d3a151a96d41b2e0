import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import {
  CollectorError,
  ReportConflict,
  ReportError,
  SurveyClosed,
  SurveyError,
  fetchSurvey,
  hindrance,
  parseLink,
  parseSurvey,
  submit,
} from "../../client/deniable_web/index.js";
import { bytes, vectors } from "./helpers.js";

const { document, vectors: people } = vectors("reports");
const survey = await parseSurvey(bytes(document));
const TEXT = people[0].report;
const COLLECTOR = "https://collector.example";

/** A fetch that answers from a list, and remembers what was asked. */
function fakeFetch(...answers) {
  const calls = [];
  const fetch = async (url, init) => {
    calls.push({ url, ...init });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    if (answer instanceof Error) throw answer;
    const { status, body = status < 202 ? '{"status":"stored"}' : "{}", type = "application/json", headers = {} } = answer;
    return new Response(body, { status, headers: { "content-type": type, ...headers } });
  };
  return { fetch, calls };
}

/** Send, and note how long each wait was asked to be. */
async function send(...answers) {
  const { fetch, calls } = fakeFetch(...answers);
  const waits = [];
  const wait = async (seconds) => waits.push(seconds);
  const result = await submit(survey, COLLECTOR, TEXT, { fetch, wait }).catch((error) => error);
  return { result, calls, waits };
}

for (const [credential, head] of [
  ["00".repeat(16), "Invitation 374708fff7719dd5979ec875d56cd2286f6d3cf7ec317a3b25632aab28ec37bb"],
  ["0002" + "fb".repeat(352), `PrivateToken token="AAL7${"-_v7".repeat(117)}"`],
]) {
  test(`${head.slice(0, 12)}: the right that a body bears is named in the head, and not to a collector that does not let it`, async () => {
    const said = [];
    const fetch = async (_url, { headers }) => {
      said.push(headers.Authorization);
      if (said.length === 1) throw new TypeError("an older collector refuses the header of another site");
      return new Response('{"status":"stored"}', { status: said.length === 2 ? 503 : 201 });
    };
    await submit(survey, COLLECTOR, JSON.stringify({ credential }), { fetch, wait: async () => {} });
    assert.deepEqual(said, [head, undefined, head]);
  });
}

test("links give collector, survey and cohort; the query never does", () => {
  const id = survey.id;
  const cases = [
    [`https://c.example/s/${id}`, undefined, ["https://c.example", null]],
    [`https://c.example/s/${id}/#cohort=web`, undefined, ["https://c.example", "web"]],
    [`https://c.example/s/${id}?cohort=web`, undefined, ["https://c.example", null]],
    [`https://c.example:8443/api/v1/surveys/${id}#cohort=a%20b`, undefined, ["https://c.example:8443", "a b"]],
    [`https://c.example/embed/${id}#cohort=web&host=https%3A%2F%2Fx.example`, undefined, ["https://c.example", "web"]],
    [`https://c.example/some/path/s/${id}`, undefined, ["https://c.example/some/path", null]],
    [`/s/${id}#cohort=web`, "http://127.0.0.1:8000/s/x", ["http://127.0.0.1:8000", "web"]],
  ];
  for (const [link, base, [collector, cohort]] of cases) {
    assert.deepEqual(parseLink(link, base), { collector, survey: id, cohort, invitation: null });
  }
});

test("an invitation stands in the fragment alone; what is none counts as if it were not there", () => {
  const own = "0123456789abcdef".repeat(2);
  const read = (/** @type {string} */ end) => parseLink(`https://c.example/s/${survey.id}${end}`).invitation;
  for (const end of [`#invitation=${own}`, `#cohort=web&invitation=${own}`, `#invitation=${own}&invitation=x`]) assert.equal(read(end), own);
  const none = ["", `?invitation=${own}`, "#invitation=", "#invitation", "#invitation=null", `#invitation=${own}0`, `#invitation=${own.slice(1)}`];
  const almost = [own.toUpperCase(), `${own}%0A`, `%20${own}`, own.replace("f", "g"), own.replace("0", "٠")];
  for (const end of [...none, ...almost.map((each) => `#invitation=${each}`), `#invitation=x&invitation=${own}`]) {
    assert.equal(read(end), null, end);
  }
});

test("what is no link to a survey is refused", () => {
  const id = survey.id;
  for (const link of ["", "nonsense", `/s/${id}`, `ftp://c/s/${id}`, `javascript:/s/${id}`, `https://c/s/${id}x`, `https://c/x/${id}`]) {
    assert.throws(() => parseLink(link), SurveyError, link);
  }
});

test("a survey is fetched plainly and checked", async () => {
  const { fetch, calls } = fakeFetch({ status: 200, body: document });
  const fetched = await fetchSurvey(`${COLLECTOR}/s/${survey.id}#cohort=web`, { fetch });
  assert.equal(fetched.id, survey.id);
  const [{ url, credentials, redirect, referrerPolicy, method }] = calls;
  assert.deepEqual([url, method], [`${COLLECTOR}/api/v1/surveys/${survey.id}`, undefined]);
  assert.deepEqual([credentials, redirect, referrerPolicy], ["omit", "error", "no-referrer"]);
});

test("an altered, missing or unreachable survey is an error of its kind", async () => {
  const cases = [
    [{ status: 200, body: document.replace("affair since", "affair  since") }, SurveyError],
    [{ status: 200, body: "<html>" }, SurveyError],
    [{ status: 404 }, SurveyError],
    [{ status: 500 }, CollectorError],
    [{ status: 206, body: document }, CollectorError],
    [new TypeError("failed to fetch"), CollectorError],
  ];
  for (const [answer, kind] of cases) {
    await assert.rejects(fetchSurvey(`${COLLECTOR}/s/${survey.id}`, fakeFetch(answer)), kind);
  }
});

for (const [status, again] of [[201, false], [200, true]]) {
  test(`${status}: a receipt with nothing that could be looked up`, async () => {
    const { result, calls, waits } = await send({ status });
    assert.deepEqual(Object.keys(result), ["survey", "collector", "client", "stored", "again"]);
    assert.deepEqual([result.survey, result.collector, result.stored, result.again], [survey.id, COLLECTOR, true, again]);
    assert.equal(result.client, "deniable-web 0.1.0");
    assert.ok(!JSON.stringify(result).includes(people[0].id));
    assert.deepEqual([calls.length, waits.length], [1, 0]);
    const [{ url, method, credentials, redirect, referrerPolicy, headers, body }] = calls;
    assert.deepEqual([method, url], ["POST", `${COLLECTOR}/api/v1/surveys/${survey.id}/reports`]);
    assert.deepEqual([credentials, redirect, referrerPolicy], ["omit", "error", "no-referrer"]);
    assert.deepEqual(headers, { "Content-Type": "application/json" });
    assert.equal(body, TEXT);
  });
}

for (const [status, kind] of [[404, ReportError], [409, ReportConflict], [410, SurveyClosed], [413, ReportError], [422, ReportError]]) {
  test(`${status}: refused with the collector's sentence, and not tried again`, async () => {
    const problem = { status, body: '{"detail":"Because."}', type: "application/problem+json" };
    const { result, calls } = await send(problem);
    assert.equal(result.constructor, kind);
    assert.equal(result.message, "Because.");
    assert.equal(calls.length, 1);
  });
}

for (const trouble of [429, 502, 503, 504, 507, "network"]) {
  const answer = trouble === "network" ? new TypeError("failed to fetch") : { status: trouble };
  test(`${trouble}: the same bytes again, then an error`, async () => {
    const { result, calls, waits } = await send(answer);
    assert.equal(result.constructor, CollectorError);
    assert.deepEqual([calls.length, waits.length], [4, 3]);
    assert.deepEqual(new Set(calls.map((call) => call.body)), new Set([TEXT]));
    assert.ok(waits[0] >= 0.5 && waits[1] > waits[0] && waits[2] > waits[1] && waits[2] < 3);
  });

  test(`${trouble}, then stored`, async () => {
    const { result, calls } = await send(answer, answer, { status: 201 });
    assert.equal(result.stored, true);
    assert.deepEqual(calls.map((call) => call.body), [TEXT, TEXT, TEXT]);
  });
}

test("Retry-After is waited for, up to a limit", async () => {
  const busy = (seconds) => ({ status: 503, headers: { "retry-after": seconds } });
  assert.deepEqual((await send(busy("7"), { status: 201 })).waits, [7]);
  const tooLong = await send(busy("3600"), { status: 201 });
  assert.deepEqual([tooLong.result.constructor, tooLong.calls.length, tooLong.result.seconds], [CollectorError, 1, 3600]);
  const date = new Date(Date.now() + 3600_000).toUTCString();
  const { result } = await send(busy(date), { status: 201 });
  assert.ok(result.seconds > 3500 && result.seconds <= 3600, "a date, too");
  for (const nonsense of ["soon", "-7", "", "NaN"]) assert.equal((await send(busy(nonsense), { status: 201 })).result.stored, true);
  assert.equal((await send(busy("1e999"))).result.seconds, 1e9, "no date is further away");
  assert.ok((await send(busy("Fri, 20 Nov 2026 00:00:00 GMT"), { status: 201 })).waits[0] < 1);
});

const INVITED = { id: survey.id, access: "invited", isLive: false };
const MINE = { collector: COLLECTOR, invitation: "ab".repeat(16) };
const state = (word) => ({ status: 200, body: JSON.stringify({ state: word }) });

test("what a collector says before Start: of the survey, then of the invitation's hash, which it is told alone", async () => {
  for (const [states, found] of [
    [["open", "unused"], undefined], [["open", "used"], "used"], [["open", "unknown"], "unknown"], [["open", "untold"], undefined],
    [["closed"], "closed"], [["early"], "early"],
  ]) {
    const { fetch, calls } = fakeFetch(...states.map(state), new Error("asked too much"));
    assert.equal(await hindrance(INVITED, MINE, { fetch }), found);
    assert.equal(calls.length, states.length);
    const sent = calls.map(({ url, method = "GET", body = "" }) => [method, url.slice(`${COLLECTOR}/api/v1/surveys/${survey.id}`.length), body]);
    const hash = createHash("sha256").update(Buffer.from(MINE.invitation, "hex")).digest("hex");
    const both = [["GET", "/state", ""], ["POST", "/invitations/state", JSON.stringify({ hash })]];
    assert.deepEqual(sent, both.slice(0, states.length));
  }
});

test("an open survey, one with live results and one by token never show the collector an invitation before Start", async () => {
  for (const change of [{ access: "open" }, { isLive: true }, { access: "unlinkable" }]) {
    const { fetch, calls } = fakeFetch(state("open"));
    assert.equal(await hindrance({ ...INVITED, ...change }, MINE, { fetch }), undefined);
    assert.equal(calls.length, 1);
  }
});

test("where a collector does not say it, or is too old to, people are asked all the same", async () => {
  const silent = [new TypeError("network"), { status: 404 }, { status: 429 }, { status: 500 }, { status: 200, body: "<html>" },
    { status: 200, body: "null" }, { status: 200, body: '{"state":{}}' }, { status: 403, body: '{"state":"closed"}' }];
  for (const answer of silent) {
    const { fetch, calls } = fakeFetch(answer, new Error("asked too much"));
    assert.equal(await hindrance(INVITED, MINE, { fetch }), undefined);
    assert.equal(calls.length, 1);
  }
});

test("an answer that no collector gives is taken neither for success nor for a refusal", async () => {
  const others = [400, 403, 404, 409, 410, 413, 422].map((status) => ({ status, body: "<html>", type: "text/html" })); // a proxy's
  const bodies = ["<html>", "{}", "null", "[]", "1", "", '{"login":"/"}', '{"status":"unknown"}', '{"status":{}}'];
  const same = bodies.map((body) => ({ status: 200, body }));
  const known = [[403, '{"message":"forbidden"}'], [500, '{"status":"stored"}'], [404, '{"status":"known"}'], [500, '{"signature":1}']];
  const wrong = known.map(([status, body]) => ({ status, body }));
  for (const answer of [...others, ...same, ...wrong, { status: 202 }, { status: 400 }, { status: 500 }]) {
    const { result, calls } = await send(answer);
    assert.equal(result.constructor, CollectorError);
    assert.equal(calls.length, 1);
  }
});

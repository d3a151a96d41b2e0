import assert from "node:assert/strict";
import { test } from "node:test";

import { BudgetError, Memory, SurveyError, UnusableMemory, parseLink, parseSurvey } from "../../client/deniable_web/index.js";
import { differences, fakeStore } from "./device-steps.js";
import { bytes, vectors } from "./helpers.js";

const HERE = "https://a.example";
const DAY = "2026-11-25";
const content = vectors("memory");
const SURVEYS = await Promise.all(content.surveys.map((document) => parseSurvey(bytes(document))));
const titled = (title) => SURVEYS.find((each) => each.title === title);
const ONE = titled("One");

/** A draw, another one each time. */
let drawn = 0;
const drawOf = (survey, value = drawn % 2) => () => ({
  id: String(++drawn).padStart(32, "0"),
  cohort: null,
  values: Object.fromEntries(survey.questions.map(({ id, type }) => [id, type === "ticks" ? "11" : value])),
});
const never = () => assert.fail("must not be drawn");

test("questions have the keys of the vectors, each of a group that of the group", async () => {
  const keysOf = async (/** @type {any} */ { questions, keyed }) => {
    const units = await keyed();
    const keyOf = (/** @type {string} */ id) => units.find(({ members }) => members.some((each) => each.id === id)).key;
    return Object.fromEntries(questions.map(({ id }) => [id, keyOf(id)]));
  };
  assert.deepEqual(await Promise.all(SURVEYS.map(keysOf)), content.keys);
});

content.sequences.forEach((steps, n) => {
  test(`memory: sequence ${n}`, async () => assert.deepEqual(await differences(content.surveys, steps), []));
});

for (const { name, steps } of vectors("ledger")) {
  test(`ledger: ${name}`, async () => assert.deepEqual(await differences(content.surveys, steps), []));
}

for (const vector of vectors("links")) {
  test(`link: ${vector.link}`, () => {
    if (vector.read === null) {
      assert.throws(() => parseLink(vector.link), SurveyError);
    } else {
      const { collector, survey, cohort } = parseLink(vector.link);
      assert.deepEqual({ collector, survey, cohort, origin: new URL(collector).origin }, vector.read);
    }
  });
}

test("a hundred asks at once, from as many tabs, give one draw", async () => {
  const store = fakeStore();
  const asks = Array.from({ length: 100 }, () => new Memory(store).once(ONE, HERE, drawOf(ONE)));
  assert.equal(new Set(await Promise.all(asks)).size, 1);
});

test("tabs that ask for different surveys at once never pass the budget together", async () => {
  const store = fakeStore();
  const surveys = SURVEYS.filter(({ title }) => title.startsWith("Sum"));
  const asks = await Promise.allSettled(surveys.map((each) => new Memory(store).once(each, HERE, drawOf(each))));
  const refused = asks.filter(({ status }) => status === "rejected"); // whichever came last
  assert.deepEqual([asks.length, refused.length], [6, 4]);
  for (const each of refused) assert.ok(each.reason instanceof BudgetError);
});

test("one value of a question, whether its survey or its question in a form came first", async () => {
  const [question] = await ONE.keyed();
  for (const isFormFirst of [true, false]) {
    const memory = new Memory(fakeStore());
    const inForm = () => memory.value(question, HERE, () => 1);
    const inSurvey = async () => JSON.parse(await memory.once(ONE, HERE, drawOf(ONE, 0))).values.affair;
    const values = isFormFirst ? [await inForm(), await inSurvey()] : [await inSurvey(), await inForm()];
    assert.deepEqual(values, isFormFirst ? [1, 1] : [0, 0]);
    assert.deepEqual((await memory.look(ONE, HERE)).totals, [1, 1]);
    assert.equal(await memory.value(question, HERE), values[0]);
  }
  assert.equal(await new Memory(fakeStore()).value(question, HERE), undefined);
});

test("three waves of a panel: one permanent value, a draw of its own for each, one charge", async () => {
  const store = fakeStore();
  const memory = new Memory(store);
  const waves = ["Panel, first wave", "Panel, second wave", "Panel, third wave, with more"].map(titled);
  const texts = [];
  for (const wave of waves) texts.push(await memory.once(wave, HERE, drawOf(wave, 0)));
  const { noisy, told } = JSON.parse(store.text);
  const units = await Promise.all(waves.map((wave) => wave.keyed()));
  const [question] = units[0];
  assert.deepEqual(noisy[question.key], 0);
  for (const [n, wave] of units.entries()) {
    const asked = wave.filter(({ key }) => key === question.key);
    const { values } = JSON.parse(texts[n]);
    for (const { members: [{ id }], sent } of asked) assert.equal(values[id], noisy[sent]); // also where it stands twice
    assert.equal(new Set(asked.map(({ sent }) => sent)).size, 1);
  }
  assert.equal(new Set(units.map((wave) => wave.find(({ key }) => key === question.key).sent)).size, 3);
  assert.deepEqual(told[HERE][question.key][1], 3e6);
  assert.deepEqual((await memory.look(waves[1], HERE)).totals, [4, 4]); // and 1 for the question that the third has more
  for (const [n, wave] of waves.entries()) assert.equal(await memory.once(wave, "https://b.example", never), texts[n]);
});

test("waves are drawn: many of one permanent value are not all alike", async () => {
  const memory = new Memory(fakeStore());
  const [wave] = await titled("Panel, first wave").keyed();
  const values = [];
  for (let n = 0; n < 100; n++) values.push(await memory.value({ ...wave, sent: wave.key + n }, HERE, () => 2));
  assert.equal(new Set(values).size, 3); // fails once in 10**6 runs
});

test("one wave's value, whether its survey or its question in a form came first; the next wave asks", async () => {
  const [first, third] = [titled("Panel, first wave"), titled("Panel, third wave, with more")];
  const [asked] = await first.keyed();
  const [, next] = await third.keyed();
  for (const isFormFirst of [true, false]) {
    const memory = new Memory(fakeStore());
    const inForm = () => memory.value(asked, HERE, () => 1);
    const inSurvey = async () => JSON.parse(await memory.once(first, HERE, drawOf(first, 1))).values.leave;
    const values = isFormFirst ? [await inForm(), await inSurvey()] : [await inSurvey(), await inForm()];
    assert.equal(values[0], values[1]);
    assert.equal(await memory.value(asked, HERE), values[0]);
    assert.equal(await memory.value(next, HERE), undefined);
  }
});

test("a kiosk draws both steps and keeps neither", async () => {
  const store = fakeStore();
  const wave = titled("Panel, first wave");
  const kept = [];
  const draw = (isKept) => (kept.push(isKept), drawOf(wave, 2)());
  const text = await new Memory(store).once(wave, HERE, draw, "somebody");
  assert.deepEqual([kept, JSON.parse(text).values.leave, JSON.parse(store.text).noisy], [[false], 2, {}]);
});

test("what is drawn on a shared device is nobody else's: no value, no ledger, forgotten when told", async () => {
  const store = fakeStore();
  const memory = new Memory(store);
  const own = await memory.once(ONE, HERE, drawOf(ONE));
  const texts = [];
  for (const person of ["1", "2"]) texts.push(await memory.once(ONE, HERE, drawOf(ONE), person));
  assert.equal(new Set([own, ...texts]).size, 3);
  assert.equal(await memory.once(ONE, HERE, never, "1"), texts[0]);
  const seen = await memory.look(ONE, HERE, true);
  assert.deepEqual(seen.waiting, [`${ONE.id}:1`, `${ONE.id}:2`]);
  assert.equal(seen.kept, own);
  await memory.forget(`${ONE.id}:1`);
  await assert.rejects(memory.recall(`${ONE.id}:1`, ONE), UnusableMemory);
  assert.equal(await memory.recall(`${ONE.id}:2`, ONE), texts[1]);
  assert.equal(Object.keys(JSON.parse(store.text).told[HERE]).length, 1);
});

const UNLINKABLE = await (async () => {
  const { cohorts, deniable, ...others } = JSON.parse(ONE.document);
  const issuer = { key: vectors("standards/blind_rsa").privacy_pass[0].pkS };
  return parseSurvey(bytes(JSON.stringify({ access: "unlinkable", cohorts, deniable, issuer, ...others })));
})();
const tokenOf = (n) => ({ message: `0002${String(n).padStart(64, "0")}${"ab".repeat(64)}`, salt: "", inverse: "", blinded: String(n) });
const reportOf = (n) => () => {
  const { message } = tokenOf(n);
  return { id: message.slice(4, 36), cohort: null, values: { affair: 1 }, credential: message + "0".repeat(512) };
};

test("a hundred tabs that buy a token at once ask for one; what was signed is kept; with the report it is gone", async () => {
  const store = fakeStore();
  const id = `${UNLINKABLE.id}:1`;
  const asks = Array.from({ length: 100 }, (_, n) => new Memory(store).token(id, (kept = tokenOf(n)) => kept));
  const [first, ...others] = await Promise.all(asks);
  for (const other of others) assert.deepEqual(other, first);
  const memory = new Memory(store);
  await memory.token(id, (kept) => kept && { ...kept, signature: "ff" });
  assert.equal((await memory.token(id, (kept = tokenOf(7)) => kept)).signature, "ff");
  const text = await memory.once(UNLINKABLE, HERE, reportOf(Number(first.blinded)));
  assert.deepEqual(JSON.parse(store.text).tokens, {});
  for (const name of [id, `${UNLINKABLE.id}:2`]) assert.equal(await memory.token(name, never), undefined);
  assert.equal(await memory.once(UNLINKABLE, HERE, never), text);
  assert.equal((await memory.look(UNLINKABLE, HERE)).kept, text);
  assert.deepEqual(await memory.token(id, (kept = tokenOf(8)) => kept, true), tokenOf(8), "somebody else at a shared device");
});

test("a token that cannot be kept is not asked for, and one that was kept before a crash is asked for again", async () => {
  const store = fakeStore();
  store.fault = "write";
  await assert.rejects(new Memory(store).token("s", () => tokenOf(1)), UnusableMemory);
  assert.equal(store.text, undefined);
  store.fault = "crash";
  await assert.rejects(new Memory(store).token("s", () => tokenOf(2)), /crash/);
  store.fault = null;
  assert.deepEqual(await new Memory(store).token("s", (kept = tokenOf(3)) => kept), tokenOf(2));
});

test("each invitation has a token, which a report takes with it; nobody else's goes", async () => {
  const store = fakeStore();
  const memory = new Memory(store);
  const names = ["1", "2"].map((invitation) => `${UNLINKABLE.id}:${invitation}`);
  for (const [n, name] of names.entries()) await memory.token(name, () => tokenOf(`${n + 1}${"0".repeat(63)}`));
  await memory.once(UNLINKABLE, HERE, reportOf(`1${"0".repeat(63)}`), "person");
  assert.deepEqual(Object.keys(JSON.parse(store.text).tokens), [names[1]]);
  await memory.token(names[0], (kept) => kept && { ...kept, signature: "ff" }); // another tab, late
  assert.deepEqual(Object.keys(JSON.parse(store.text).tokens), [names[1]]);
});

test("a report that has not arrived at a collector takes the invitation of the link, and nothing else changes", async () => {
  const { issuer, ...rest } = JSON.parse(UNLINKABLE.document);
  const invited = await parseSurvey(bytes(JSON.stringify({ ...rest, access: "invited" })));
  const memory = new Memory(fakeStore());
  const [one, two] = ["1", "2"].map((digit) => digit.repeat(32));
  const draw = () => ({ ...reportOf(1)(), credential: one });
  const first = await memory.once(invited, HERE, draw, "", one);
  const second = await memory.once(invited, HERE, never, "", two);
  assert.deepEqual([first.includes(one), second], [true, first.replace(one, two)]);
  assert.equal(await memory.once(invited, HERE, never, "", null), second);
  await memory.markSent(invited.id, HERE);
  assert.equal(await memory.once(invited, HERE, never, "", one), second, "it has arrived as it is");
  assert.equal((await memory.look(invited, HERE)).kept, second);
  const elsewhere = await memory.once(invited, "https://b.example", never, "", one);
  assert.equal(elsewhere, second, "another collector gets what has arrived, whatever its link says");
  assert.equal((await memory.look(invited, "https://b.example")).hasArrived, true);
  const token = await memory.once(UNLINKABLE, HERE, reportOf(1), "", one);
  assert.equal(JSON.parse(token).credential, reportOf(1)().credential, "a token is no invitation");
  const open = await memory.once(ONE, HERE, drawOf(ONE), "", one);
  assert.ok(!open.includes(one));
});

test("a device whose clock was once at 2099 is not locked out for ever, though it only looks", async () => {
  const store = fakeStore();
  const sums = SURVEYS.filter(({ title }) => title.startsWith("Sum"));
  const memory = () => new Memory(store);
  for (const survey of sums.slice(0, 2)) await memory().once(survey, HERE, drawOf(survey), "", null, "2099-01-01");
  await assert.rejects(memory().look(sums[2], HERE, false, DAY), BudgetError);
  const { text } = store;
  await assert.rejects(memory().look(sums[2], HERE, false, "2027-02-22"), BudgetError);
  assert.equal(store.text, text, "its entries are dated once");
  assert.deepEqual((await memory().look(sums[2], HERE, false, "2027-02-23")).totals, [3, 3]);
});

test("a kept report whose credential is not its survey's is damaged", async () => {
  const store = fakeStore();
  await new Memory(store).once(UNLINKABLE, HERE, reportOf(1));
  const { text } = store;
  for (const [a, b] of [[/,\\"credential\\":\\"\w+\\"/, ""], [/0002/, "0001"], [/(0{64})\\"\}/, '\\"}']]) {
    store.text = text.replace(a, b);
    assert.notEqual(store.text, text);
    await assert.rejects(new Memory(store).look(UNLINKABLE, HERE), UnusableMemory);
  }
});

test("a browser is asked to keep what is kept, when somebody pressed Send on a device of their own, and never before", async () => {
  const store = fakeStore();
  let asked = 0;
  store.stay = () => void asked++;
  const memory = new Memory(store);
  await memory.look(ONE, HERE);
  await memory.value((await ONE.keyed())[0], HERE);
  await memory.asked(titled("Drawn"));
  await memory.once(ONE, HERE, drawOf(ONE), "somebody at a kiosk");
  await assert.rejects(memory.once(titled("Two"), HERE, () => { throw new RangeError("draw"); }), RangeError);
  assert.equal(asked, 0);
  await memory.once(ONE, HERE, drawOf(ONE));
  assert.equal(asked, 1);
  await memory.value((await titled("Two").keyed())[0], HERE, () => 1);
  assert.equal(asked, 2);
});

test("a draw that throws keeps and charges nothing", async () => {
  const store = fakeStore();
  const fails = () => {
    throw new RangeError("draw");
  };
  await assert.rejects(new Memory(store).once(ONE, HERE, fails), RangeError);
  assert.equal(store.text, undefined);
});

test("what is damaged is refused and never drawn again", async () => {
  const good = fakeStore();
  const [two, other] = [titled("Two"), titled("Other ticks")];
  await new Memory(good).once(two, HERE, drawOf(two));
  const kept = JSON.parse(good.text);
  const [key] = Object.keys(kept.noisy);
  const report = kept.reports[two.id];
  const damaged = {
    null: null,
    "a text": "memory",
    "a list": [],
    "no reports": { ...kept, reports: undefined },
    "no values": { ...kept, noisy: null },
    "no ledger": { ...kept, told: 1 },
    "a report that is a number": { ...kept, reports: { [two.id]: { ...report, report: 1 } } },
    "a report without its collectors": { ...kept, reports: { [two.id]: { report: report.report } } },
    "no report": { ...kept, reports: { [two.id]: null } },
    "a text that is no report": { ...kept, reports: { [two.id]: { ...report, report: "{" } } },
    "a report with spaces": { ...kept, reports: { [two.id]: { ...report, report: report.report.replaceAll(",", ", ") } } },
    "a report of another survey": { ...kept, reports: { [two.id]: { ...report, report: report.report.replace("affair", "affairs") } } },
    "a report of an older version": { ...kept, reports: { [two.id]: { ...report, report: report.report.replace("values", "answers") } } },
    "a report that lacks a value": { ...kept, reports: { [two.id]: { ...report, report: report.report.replace(/"affair":.,/, "") } } },
    "a value that is an object": { ...kept, noisy: Object.fromEntries(Object.keys(kept.noisy).map((each) => [each, {}])) },
    "values that no mechanism makes": { ...kept, noisy: Object.fromEntries(Object.keys(kept.noisy).map((each) => [each, 7])) },
    "a report of a value that no mechanism makes": {
      ...kept, reports: { [two.id]: { ...report, report: report.report.replace(/"affair":./, '"affair":2') } },
    },
    "ticks as a number": {
      ...kept, reports: { [two.id]: { ...report, report: report.report.replace('"drugs":"11"', '"drugs":11') } },
    },
    "an id that is none": { ...kept, reports: { [two.id]: { ...report, report: report.report.replace(/"id":".{32}"/, '"id":"zz"') } } },
    "a cohort of nobody": {
      ...kept, reports: { [two.id]: { ...report, report: report.report.replace('"cohort":null', '"cohort":"other"') } },
    },
    "a cost that is no number": { ...kept, told: { [HERE]: { [key]: [DAY, null], more: [DAY, []] } } },
    "a cost below 0": { ...kept, told: { [HERE]: { [key]: [DAY, -8e6] } } },
    "a day that is none": { ...kept, told: { [HERE]: { [key]: ["Jan 1 1999", 9e6] } } },
    "no entry": { ...kept, told: { [HERE]: { [key]: null } } },
  };
  for (const [name, state] of Object.entries(damaged)) {
    const store = fakeStore();
    store.text = JSON.stringify(state);
    const refused = (/** @type {Error} */ error) => error instanceof UnusableMemory || error instanceof BudgetError;
    // Either what is kept is whole, whatever else is damaged, or it is refused.
    const again = await new Memory(store).once(two, HERE, never).catch((error) => assert.ok(refused(error), name));
    if (again) assert.equal(again, report.report, name);
    store.text = JSON.stringify(state);
    const next = await new Memory(store).once(other, HERE, drawOf(other)).catch((error) => assert.ok(refused(error), name));
    assert.ok(!again || !next, `${name}: must be refused`);
    store.text = JSON.stringify(state);
  }
});

test("a report that an older version kept is not sent, and its value not drawn again", async () => {
  const store = fakeStore();
  const memory = new Memory(store);
  const newer = titled("The same under another title and id");
  const older = (await memory.once(ONE, HERE, drawOf(ONE, 1))).replace("values", "answers");
  const state = JSON.parse(store.text);
  state.reports = { [ONE.id]: { ...state.reports[ONE.id], report: older }, [`${ONE.id}:1`]: { report: older, to: { [HERE]: false } } };
  store.text = JSON.stringify(state);
  await assert.rejects(memory.look(ONE, HERE), UnusableMemory);
  await assert.rejects(memory.once(ONE, HERE, never), UnusableMemory);
  await assert.rejects(memory.recall(`${ONE.id}:1`, ONE), UnusableMemory);
  assert.deepEqual(JSON.parse(store.text), state);
  assert.equal(JSON.parse(await memory.once(newer, HERE, drawOf(newer, 0))).values.liaison, 1);
  assert.deepEqual((await memory.look(newer, HERE)).totals, [1, 1]);
});

test("a report that cannot be kept is neither charged nor known to anybody", async () => {
  const store = fakeStore();
  store.fault = "write";
  await assert.rejects(new Memory(store).once(ONE, HERE, drawOf(ONE)), UnusableMemory);
  assert.equal(store.text, undefined);
});

/* What stands around the questions: contact, layout, thanks, completion and look. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { completionOf } from "../../client/deniable_web/completion.js";
import { english } from "../../client/deniable_web/english.js";
import { parseSurvey, translate } from "../../client/deniable_web/index.js";
import { bytes, tape, vectors, written } from "./helpers.js";

const all = vectors("surveys");
const named = (/** @type {string} */ name) => parseSurvey(bytes(all.find((/** @type {any} */ each) => each.name === name).document));
const plain = JSON.parse(all.find((/** @type {any} */ { id, document }) => id && JSON.parse(document).title === "T").document);

/** The plain survey with these keys, in a reader's languages. @param {object} keys @param {string[]} languages */
const viewWith = async (keys, ...languages) => translate(await parseSurvey(bytes(written({ ...plain, ...keys }))), languages, english);

test("a survey without them has none of them, and asks in steps", async () => {
  const view = await viewWith({});
  const { contact, layout, thanks, completion, look } = view;
  assert.deepEqual({ contact, layout, thanks, completion, look }, { contact: null, layout: "steps", thanks: null, completion: null, look: null });
  assert.equal(completionOf(view), null);
});

test("a view has the reader's language", async () => {
  const survey = await named("good: Texts in several languages");
  const read = (/** @type {string[]} */ ...languages) => {
    const { contact, thanks, completion, look } = translate(survey, languages, english);
    return [contact, thanks, completion?.text, look?.logo?.text];
  };
  assert.deepEqual(read("de-AT", "de"), ["Fragen an ethik@uni.example", "Danke", "Zurück", "Institut"]);
  assert.deepEqual(read("fr"), ["Questions à ethique@uni.example", "Thanks", "Go back", "Institute"]);
  assert.deepEqual(read(), ["Ask ethics@uni.example", "Thanks", "Go back", "Institute"]);
  assert.deepEqual(translate(survey, ["de"], english).look, {
    accent: "#0b5d82",
    accentDark: "#4885a1",
    logo: { type: "image/png", data: survey.look?.logo?.data, text: "Institut" },
  });
});

test("contact, layout and thanks are as they were written", async () => {
  const { contact, layout, thanks } = translate(await named("good: Contact, page and thanks"), ["de"], english);
  assert.deepEqual([contact, layout, thanks], ["ethics@uni.example", "page", "Ta.\n\nBye"]);
});

test("nothing of it is a part of the question", async () => {
  const keys = async (/** @type {object} */ more) => (await (await viewWith(more)).keyed()).map(({ key, sent }) => [key, sent]);
  const expected = await keys({});
  for (const { id, document } of all) {
    const { contact, layout, thanks, completion, look } = id ? JSON.parse(document) : {};
    if (contact || layout || thanks || completion || look) {
      assert.deepEqual(await keys({ contact, layout, thanks, completion, look }), expected);
    }
  }
});

test("they are frozen", async () => {
  const { completion, look } = await named("good: Texts in several languages");
  for (const each of [completion, look, look?.logo]) assert.ok(each && Object.isFrozen(each));
});

test("a common code is the same for everybody, and stands in the link", async () => {
  const completion = { code: "C-0_d", link: "https://panel.example/{code}?x#y", text: "Back" };
  const view = await viewWith({ completion });
  for (let n = 0; n < 2; n++) {
    assert.deepEqual(completionOf(view, tape([])), { text: "Back", link: "https://panel.example/C-0_d?x#y", code: "C-0_d" });
  }
});

test("what is left out of a completion is null", async () => {
  const back = async (/** @type {object} */ completion) => completionOf(await viewWith({ completion }), tape([]));
  assert.deepEqual(await back({ link: "https://panel.example/" }), { text: null, link: "https://panel.example/", code: null });
  assert.deepEqual(await back({ code: "x" }), { text: null, link: null, code: "x" });
});

for (const { name, completion, words, personal } of vectors("completions")) {
  test(`completion: ${name}`, async () => {
    const word = tape(words);
    assert.deepEqual(completionOf(await viewWith({ completion }), word), personal);
    assert.equal(word.left.length, 0);
  });
}

test("a drawn code has its length, stands in the link, and is another one each time", async () => {
  const view = await viewWith({ completion: { code_length: 20, link: "https://panel.example/?c={code}" } });
  const codes = Array.from({ length: 50 }, () => {
    const { link, code } = completionOf(view) ?? assert.fail();
    assert.match(code ?? "", /^[2-9A-HJKMNP-Z]{20}$/);
    assert.equal(link, `https://panel.example/?c=${code}`);
    return code;
  });
  assert.equal(new Set(codes).size, 50); // two alike: a probability below 1e-26
});

test("every character of a drawn code has the same number of words, and what is beyond the last is drawn again", async () => {
  const view = await viewWith({ completion: { code_length: 6 } });
  const drawn = (/** @type {number[]} */ words) => {
    const word = tape(words);
    const { code } = completionOf(view, word) ?? assert.fail();
    assert.equal(word.left.length, 0);
    return code ?? "";
  };
  // The low five bits of a word are looked at: 31 of their 32 values are characters, each of them another one.
  const characters = Array.from({ length: 31 }, (_, low) => drawn([low, 0, 0, 0, 0, 0])[0]);
  assert.equal(characters.join(""), "23456789ABCDEFGHJKMNPQRSTUVWXYZ");
  for (const high of [0, 5, 2 ** 27 - 1]) {
    assert.equal(drawn([31 + high * 32, 1 + high * 32, 0, 31, 0, 0, 31, 31, 0, 30]), "32222Z");
  }
});

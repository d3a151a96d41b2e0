import assert from "node:assert/strict";
import { test } from "node:test";

import { reached } from "../../client/deniable_web/dom.js";

/** What somebody can press in a text, and where it leads. */
const ways = (/** @type {string} */ text) => reached(text).flatMap(([each, href]) => (href ? [[each, href]] : []));

test("numbers to call and addresses of the web are reached by a press, as far as they go", () => {
  const called = [
    ["Day and night: 0800 555 0199.", "0800 555 0199", "tel:08005550199"],
    ["Call +44 20 7946 0000, or write.", "+44 20 7946 0000", "tel:+442079460000"],
    ["01 42 34 56 78", "01 42 34 56 78", "tel:0142345678"],
    ["Rufen Sie 030-1234567 an", "030-1234567", "tel:0301234567"],
    ["Telefonseelsorge: 0800/1110111", "0800/1110111", "tel:08001110111"],
    ["0800 / 111 0 111, gratis", "0800 / 111 0 111", "tel:08001110111"],
    ["Samaritans: 116 123 (free)", "116 123", "tel:116123"],
    ["a space that does not break: 0800\xa0555\xa00199", "0800\xa0555\xa00199", "tel:08005550199"],
    ["See https://help.example/0800-5550199.", "https://help.example/0800-5550199", "https://help.example/0800-5550199"],
  ];
  for (const [text, each, href] of called) assert.deepEqual(ways(text), [[each, href]], text);
  assert.deepEqual(ways("0800 555 0199\n0800 555 0198").length, 2);
});

test("days, times, shares and other numbers are no numbers to call", () => {
  const others = [
    ...["09/12/2026", "2026-01-09", "09.12.2026", "08:30", "0900 - 1700", "0.125", "0,125", "1 000 000 people", "room 0123", "0 to 100"],
    ...["116 people", "-0123456", "x0123456", "0123456x", "12.0123456", "2026-0123456"],
  ];
  for (const text of others) assert.deepEqual(ways(text), [], text);
  assert.equal(reached("0800 555 0199, or 09/12/2026").map(([each]) => each).join(""), "0800 555 0199, or 09/12/2026", "nothing is lost");
});

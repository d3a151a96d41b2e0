//@ts-check
/* What people see: each screen a function from what is known to a node. None keeps anything. */

import { weakProtection } from "./ceiling.js";
import { CLIENT } from "./collector.js";
import { bar, h } from "./dom.js";
import { isWhole } from "./mechanisms/base.js";
import { messages as m } from "./messages.js";
import { odds, oddsSentences, wholeOdds } from "./odds.js";

/**
 * @typedef {import("./survey.js").Survey} Survey
 * @typedef {import("./survey.js").Question} Question
 * @typedef {import("./dom.js").Children} Children
 */

const p = (/** @type {string} */ text, style = "") => h("p", { class: style }, text);

/** Texts of a survey: their own direction, their own line breaks. @param {string} text */
const own = (text) => h("span", { class: "text", dir: "auto" }, text);

/** The heading of a screen takes the focus when the screen comes up. @param {string | Node} text */
const heading = (text) => h("h1", { tabindex: "-1", part: "title" }, text);

/** @param {[string, string | Node][]} pairs */
const pairs = (pairs) =>
  h("dl", {}, ...pairs.map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text))));

const card = (/** @type {Children} */ ...children) => h("div", { class: "card stack", part: "card" }, ...children);
const fold = (/** @type {string} */ title, /** @type {Children} */ ...children) =>
  h("details", {}, h("summary", {}, title), ...children);
const button = (/** @type {string} */ text, /** @type {(event: Event) => void} */ click) =>
  h("button", { type: "button", part: "button", click }, text);

/** @param {Question} question */
const oddsOf = ({ mechanism }) =>
  odds(mechanism).map(({ sentence, share }) => h("div", {}, share && bar(share), p(sentence, "quiet")));

const box = (/** @type {Children} */ ...children) => h("div", { class: "box", part: "odds" }, ...children);
const quiet = (/** @type {Iterable<string>} */ sentences) => Array.from(sentences, (each) => p(each, "quiet"));

export const loading = () => card(h("p", { role: "status" }, m.loading));

/**
 * @param {Survey} survey
 * @param {{ cohort: string | null, isEmbedded: boolean, isFleeting: boolean, start: () => void }} how
 */
export function consent(survey, { cohort, isEmbedded, isFleeting, start }) {
  const [least] = [...survey.questions].sort((a, b) => b.mechanism.epsilon - a.mechanism.epsilon);
  const whole = wholeOdds(survey);
  return card(
    heading(own(survey.title)),
    survey.organiser && h("p", { class: "quiet" }, m.askedBy, own(survey.organiser)),
    survey.about && h("p", {}, own(survey.about)),
    weakProtection(survey) ? p(m.weak, "box bad") : p(m.consequence, "lead"),
    p(m.process + (cohort === null ? "" : m.cohort(cohort))),
    pairs([
      [m.cannot, `${m.cannotText}.`],
      [m.can, m.canText + (isEmbedded ? m.canSite : "") + "."],
    ]),
    whole.length ? box(p(m.oddsLeast, "quiet"), oddsOf(least)[0], ...quiet(whole)) : box(...oddsOf(least)),
    isFleeting && p(m.fleeting, "box"),
    button(m.start, start),
    p(m.nothingYet, "quiet"),
  );
}

/**
 * All questions on one page. The form has no action, its button starts disabled, and options carry numbers: markup
 * alone can send nothing.
 * @param {Survey} survey @param {(answers: Record<string, unknown>) => void} send
 */
export function questions(survey, send) {
  const summary = h("div", {});
  const isOne = survey.questions.length === 1;
  const sets = survey.questions.map((question, n) => fieldset(question, isOne ? "" : `${n + 1}. `));
  const submit = h("button", { disabled: true, part: "button" }, m.send);
  const form = h(
    "form",
    { novalidate: true, autocomplete: "off", part: "form" },
    card(heading(own(survey.title)), p(m.truthfully), p(m.nothingYet, "quiet")),
    summary,
    ...sets,
    card(p(m.final), submit),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // An object without prototype, so that a question called "constructor" is one like any other.
    const answers = Object.create(null);
    survey.questions.forEach((question, n) => (answers[question.id] = given(question, sets[n])));
    const missing = sets.filter((set, n) => {
      const question = survey.questions[n];
      return mark(set, question, answers[question.id] === undefined);
    });
    if (missing.length) {
      const alert = complaint(missing);
      summary.replaceChildren(alert);
      alert.focus();
      return;
    }
    form.reset();
    send(answers);
  });
  submit.disabled = false; // only now can pressing it do anything
  return form;
}

/**
 * What somebody gave as an answer, undefined where it is none yet.
 * @param {Question} question @param {HTMLFieldSetElement} set
 */
function given({ type, options, mechanism: { lo, hi } }, set) {
  if (type === "number") {
    const number = set.querySelector("input")?.valueAsNumber; // an empty field is NaN, not 0
    return isWhole(number, lo, hi) ? number : undefined;
  }
  const chosen = Array.from(set.querySelectorAll("input:checked"), (input) => {
    return options[Number(/** @type {HTMLInputElement} */ (input).value)];
  });
  return type === "ticks" ? chosen : chosen[0];
}

/** @param {Question} question @param {string} number */
function fieldset(question, number) {
  const { id, type, mechanism: { lo, hi } } = question;
  const hint = type === "ticks" ? m.ticks : type === "number" ? m.range(lo, hi) : "";
  const options = question.options.map((option, n) => {
    const label = type === "yes-no" ? m.yesNo[option] : option;
    const input = h("input", { type: type === "ticks" ? "checkbox" : "radio", name: id, value: String(n) });
    return h("label", { part: "option" }, input, own(label));
  });
  const field = h("input", {
    type: "number",
    name: id,
    inputmode: lo < 0 ? "text" : "numeric", // some keypads for numbers have no minus
    min: String(lo),
    max: String(hi),
    step: "1",
    autocomplete: "off",
    "aria-labelledby": `text-${id}`,
    part: "number",
    keydown: (event) => event.key === "Enter" && event.preventDefault(), // would press Send, which is final
  });
  const set = h(
    "fieldset",
    { class: "card", part: "card question" },
    h("legend", { id: `text-${id}`, part: "question-text" }, number, own(question.text)),
    hint && h("p", { class: "quiet", id: `hint-${id}` }, hint),
    h("div", { class: `options ${type}` }, ...(type === "number" ? [field] : options)),
    fold(m.oddsOf, box(...oddsOf(question))),
  );
  mark(set, question, false);
  return set;
}

/**
 * Say in the question's own place that it has no answer, or no longer.
 * @param {HTMLFieldSetElement} set @param {Question} question @param {boolean} isMissing
 */
function mark(set, { id, type, mechanism: { lo, hi } }, isMissing) {
  set.querySelector(".missing")?.remove();
  if (isMissing) {
    const text = type === "number" ? m.missingNumber(lo, hi) : m.missing;
    set.querySelector(".options")?.before(h("p", { class: "missing", id: `missing-${id}` }, text));
  }
  const described = type === "number" ? set.querySelector("input") : set; // what has the focus when it is read
  described?.setAttribute("aria-describedby", Array.from(set.querySelectorAll("p[id]"), (note) => note.id).join(" "));
  if (described !== set) described?.setAttribute("aria-invalid", String(isMissing));
  return isMissing;
}

/** @param {HTMLFieldSetElement[]} missing */
function complaint(missing) {
  const links = missing.map((set) => {
    const click = () => set.querySelector("input")?.focus();
    const text = set.querySelector("legend")?.textContent ?? "";
    return h("li", {}, h("button", { type: "button", class: "link", click }, text));
  });
  return h(
    "div",
    { role: "alert", tabindex: "-1", class: "card bad stack", part: "card error" },
    h("h2", {}, m.missingSome),
    p(m.missingWhy),
    h("ul", {}, ...links),
  );
}

export const sending = () => card(h("p", { role: "status", tabindex: "-1" }, m.sending));

/** @param {Survey} survey @param {string} report @param {boolean} isOld */
export function receipt(survey, report, isOld) {
  const hasYes = survey.questions.some((question) => question.type === "yes-no");
  const each = box(...quiet(new Set(survey.questions.flatMap(oddsSentences))));
  const whole = wholeOdds(survey);
  return card(
    heading(isOld ? m.sentBefore : m.sent),
    p(m.notKept, "lead"),
    p(hasYes ? m.sentYes : m.sentOther),
    ...(whole.length ? [box(...quiet(whole)), fold(m.oddsEach, each)] : [each]),
    pairs([
      [m.survey, h("code", {}, survey.id)],
      [m.client, h("code", {}, CLIENT)],
    ]),
    fold(m.json, h("pre", { class: "box" }, h("code", {}, report))),
  );
}

/**
 * Everything that ends or interrupts: a heading, sentences, perhaps a way on.
 * @param {string} title @param {string[]} sentences
 * @param {{ detail?: string, again?: () => void }} [more]
 */
export const notice = (title, sentences, { detail, again } = {}) =>
  card(
    heading(title),
    ...sentences.map((sentence) => p(sentence)),
    detail && fold(m.details, p(detail, "quiet")),
    again && button(m.again, again),
  );

/** @param {Survey} survey @param {string} today as in "2026-11-20" */
export function notOpen({ opens, closes }, today) {
  const spell = (/** @type {string} */ day) =>
    new Date(day).toLocaleDateString(m.locale, { dateStyle: "long", timeZone: "UTC" });
  if (opens && today < opens) return notice(m.early, [m.earlyText(spell(opens))]);
  if (closes && today > closes) return notice(m.closed, [m.closedText(spell(closes))]);
  return null;
}

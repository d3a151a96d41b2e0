//@ts-check
/* What people see: each screen a function from what is known to a node. None keeps anything. */

import { weakProtection } from "./ceiling.js";
import { CLIENT } from "./collector.js";
import { bar, h } from "./dom.js";
import { messages as m } from "./messages.js";
import { oddsSentences, wholeOdds } from "./odds.js";

/**
 * @typedef {import("./survey.js").Survey} Survey
 * @typedef {import("./survey.js").Question} Question
 */

const p = (/** @type {string} */ text, style = "") => h("p", { class: style }, text);

/** Texts of a survey: their own direction, their own line breaks. @param {string} text */
const own = (text) => h("span", { class: "text", dir: "auto" }, text);

/** The heading of a screen takes the focus when the screen comes up. @param {string | Node} text */
const heading = (text) => h("h1", { tabindex: "-1", part: "title" }, text);

/** @param {[string, string | Node][]} pairs */
const pairs = (pairs) =>
  h("dl", {}, ...pairs.map(([term, text]) => h("div", {}, h("dt", {}, term), h("dd", {}, text))));

const card = (/** @type {Node[]} */ ...children) => h("div", { class: "card stack", part: "card" }, ...children);
const fold = (/** @type {string} */ title, /** @type {Node[]} */ ...children) =>
  h("details", {}, h("summary", {}, title), ...children);
const button = (/** @type {string} */ text, /** @type {(event: Event) => void} */ click) =>
  h("button", { type: "button", part: "button", click }, text);

/** @param {Question} question */
function odds(question) {
  const { support } = question.mechanism;
  const shares = question.type === "yes-no" ? [support[1].ifTrue, support[1].ifOther] : [support[0].ifTrue];
  return oddsSentences(question).map((sentence, n) => h("div", {}, bar(shares[n]), p(sentence, "quiet")));
}

const box = (/** @type {Node[]} */ ...children) => h("div", { class: "box", part: "odds" }, ...children);
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
    ...(survey.organiser ? [h("p", { class: "quiet" }, m.askedBy, own(survey.organiser))] : []),
    ...(survey.about ? [h("p", {}, own(survey.about))] : []),
    weakProtection(survey) ? p(m.weak, "box bad") : p(m.consequence, "lead"),
    p(m.process + (cohort === null ? "" : m.cohort(cohort))),
    pairs([
      [m.cannot, `${m.cannotText}.`],
      [m.can, m.canText + (isEmbedded ? m.canSite : "") + "."],
    ]),
    whole.length ? box(p(m.oddsLeast, "quiet"), odds(least)[0], ...quiet(whole)) : box(...odds(least)),
    ...(isFleeting ? [p(m.fleeting, "box")] : []),
    button(m.start, start),
    p(m.nothingYet, "quiet"),
  );
}

/**
 * All questions on one page. The form has no action, its button starts disabled, and options carry numbers: markup
 * alone can send nothing.
 * @param {Survey} survey @param {(answers: Record<string, string>) => void} send
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
    const chosen = sets.map((set) => set.querySelector("input:checked"));
    const missing = sets.filter((set, n) => mark(set, !chosen[n]));
    if (missing.length) {
      const alert = complaint(missing);
      summary.replaceChildren(alert);
      alert.focus();
      return;
    }
    // An object without prototype, so that a question called "constructor" is one like any other.
    const answers = Object.create(null);
    survey.questions.forEach(({ id, options }, n) => {
      answers[id] = options[Number(/** @type {HTMLInputElement} */ (chosen[n]).value)];
    });
    form.reset();
    send(answers);
  });
  submit.disabled = false; // only now can pressing it do anything
  return form;
}

/** @param {Question} question @param {string} number */
function fieldset(question, number) {
  const options = question.options.map((option, n) => {
    const label = question.type === "yes-no" ? m.yesNo[option] : option;
    const input = h("input", { type: "radio", name: question.id, value: String(n) });
    return h("label", { part: "option" }, input, own(label));
  });
  return h(
    "fieldset",
    { class: "card", part: "card question" },
    h("legend", { part: "question-text" }, number, own(question.text)),
    h("div", { class: "options" }, ...options),
    fold(m.oddsOf, box(...odds(question))),
  );
}

/**
 * Say in the question's own place that it has no answer.
 * @param {HTMLFieldSetElement} set @param {boolean} isMissing
 */
function mark(set, isMissing) {
  set.querySelector(".missing")?.remove();
  set.removeAttribute("aria-describedby");
  if (isMissing) {
    const id = `missing-${set.querySelector("input")?.name}`;
    set.querySelector("legend")?.after(h("p", { class: "missing", id }, m.missing));
    set.setAttribute("aria-describedby", id);
  }
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
    p(hasYes ? m.sentYes : m.sentOption),
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
    ...(detail ? [fold(m.details, p(detail, "quiet"))] : []),
    ...(again ? [button(m.again, again)] : []),
  );

/** @param {Survey} survey @param {string} today as in "2026-11-20" */
export function notOpen({ opens, closes }, today) {
  const spell = (/** @type {string} */ day) =>
    new Date(day).toLocaleDateString(m.locale, { dateStyle: "long", timeZone: "UTC" });
  if (opens && today < opens) return notice(m.early, [m.earlyText(spell(opens))]);
  if (closes && today > closes) return notice(m.closed, [m.closedText(spell(closes))]);
  return null;
}

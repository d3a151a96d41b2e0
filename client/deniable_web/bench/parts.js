//@ts-check
/* The parts of the bench: each shows what /bench/figures says, in its words. */

import { computed } from "@preact/signals";
import { h } from "preact";

import { busy, figures, questions, settings, tryOut } from "./state.js";

/** @typedef {import("./state.js").Survey} Survey */
/** @typedef {import("./state.js").Question} Question */
/** @typedef {{ question: import("@preact/signals").Signal<Question> }} One */

const whole = new Intl.NumberFormat("en");
const points = (/** @type {number} */ share) => (share >= 0.5 ? "over\u00a0±50" : `±${share < 0.02 ? (100 * share).toFixed(1) : Math.round(100 * share)}`);
const times = (/** @type {number | null} */ factor) => (factor && Number.isFinite(factor) ? `${factor < 10 ? factor.toFixed(1) : Math.round(factor)}\u00a0times` : "–");
const line = (/** @type {number | null} */ number) => number && h("span", { class: "line" }, `line ${number}`);

/** Why the file as it is now is no survey. @param {{ problem: import("./state.js").Trouble | null, isOld: boolean }} props */
export const Problem = ({ problem, isOld }) =>
  h(
    "div",
    { role: "alert", class: problem ? "problem card" : "" },
    problem && [
      h("h2", null, problem.line ? `Line ${problem.line}` : "The file"),
      h("p", null, problem.text),
      problem.lines.length > 0 &&
        h(
          "pre",
          { tabIndex: 0, "aria-label": "Lines of the file" },
          problem.lines.map(({ number, text }) => h(number === problem.line ? "mark" : "span", { key: number }, `${String(number).padStart(4)}  ${text}\n`)),
        ),
      isOld && h("p", { class: "quiet" }, "What you see is the last version that was sound."),
    ],
  );

/** @param {{ survey: Survey }} props */
export const Outlook = ({ survey }) =>
  h("section", { class: "outlook" }, h("p", { class: "lead" }, survey.outlook), h("a", { class: "down", href: "#preview" }, "To the preview"), h("p", { class: "quiet", role: "status" }, busy));

/** The epsilon that the slider shows: what somebody tries, or else what the file says. @param {Survey["epsilon"]} epsilon @param {number | null} tried */
const shownOf = ({ written, whole: epsilon }, tried) => Number(tried ?? written ?? epsilon);

/**
 * What a key moves: the slider's own value and the two texts that say it. They are signals, which change an attribute and a text
 * where they stand, so that a key draws nothing anew; what stands around them waits for figures.
 */
const shown = computed(() => (figures.value ? shownOf(figures.value.epsilon, settings.value.epsilon) : 0));
const shownText = computed(() => `epsilon ${shown.value.toFixed(2)}`);
const labelText = computed(() => (figures.value?.epsilon.written ? `Epsilon of the whole survey: ${shown.value.toFixed(2)}` : `Epsilon of the whole survey: ${shown.value.toFixed(2)}, by its coins`));
const people = computed(() => settings.value.respondents);

/** @param {{ survey: Survey }} props */
export const Protection = ({ survey }) => {
  const { written, whole: epsilon, is_tried: isTried } = survey.epsilon;
  const say = `Somebody who thinks an answer as likely as not guesses it rightly at most ${survey.right} times in 100 after seeing all that a person sends.`;
  return h(
    "section",
    { class: "card", "aria-labelledby": "protection" },
    h("h2", { id: "protection" }, "Protection and precision"),
    h(
      "div",
      { class: "tries" },
      h(
        "div",
        { class: "pick" },
        h("label", { for: "people" }, "People who will answer"),
        h("input", {
          id: "people",
          type: "number",
          min: 2,
          max: 10000000,
          value: people,
          onInput: (/** @type {any} */ { target }) => target.validity.valid && target.value && tryOut({ respondents: Number(target.value) }),
        }),
      ),
      h(
        "div",
        { class: "pick slide" },
        h("label", { for: "epsilon" }, labelText),
        h("input", {
          id: "epsilon",
          type: "range",
          min: 0.25,
          max: 8,
          step: 0.25,
          value: shown,
          disabled: !written,
          "aria-valuetext": shownText,
          onInput: (/** @type {any} */ { target }) => tryOut({ epsilon: Number(target.value) }),
        }),
        h("span", { class: "ends" }, h("span", null, "more protection"), h("span", null, "more precision")),
      ),
    ),
    isTried &&
      h(
        "p",
        { class: "tried" },
        `These are the figures of epsilon ${epsilon.toFixed(2)}; the file says ${Number(written).toFixed(2)} and was not changed. `,
        h("button", { type: "button", onClick: () => tryOut({ epsilon: null }) }, "Back to the file"),
      ),
    h("p", null, say),
    h(Table, { survey }),
  );
};

/** The columns of the figures, and what stands in them. @type {[string, (question: Question) => string][]} */
const COLUMNS = [
  ["Asked of", ({ asked }) => (asked < 1 ? `${Math.round(100 * asked)} %` : "all")],
  ["Known within", ({ figures }) => points(figures.half_width)],
  ["Asked directly", ({ figures }) => points(figures.half_width_directly)],
  ["People for ±5", ({ figures }) => whole.format(figures.people)],
  ["Price", ({ figures }) => times(figures.times)],
  ["Right guesses", ({ right }) => `${right} in 100`],
];

/** Half width, people and price of each question; the roles keep it a table where a phone lays it out as a list. @param {{ survey: Survey }} props */
const Table = ({ survey }) =>
  h(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": "Figures of each question" },
    h("p", { class: "quiet", id: "of" }, `For ${whole.format(survey.respondents)} people and a share of 50 %.${survey.questions.some(({ figures }) => figures.statistic === "mean") ? " The width of a mean is in percent of its range." : ""}`),
    h(
      "table",
      { role: "table", "aria-describedby": "of" },
      h(
        "thead",
        { role: "rowgroup" },
        h("tr", { role: "row" }, ["Question", ...COLUMNS.map(([name]) => name)].map((name) => h("th", { scope: "col", role: "columnheader", key: name }, name))),
      ),
      h(
        "tbody",
        { role: "rowgroup" },
        questions.value.map((question) => h(Row, { question, key: question.peek().id })),
      ),
    ),
    h("p", { class: "quiet" }, "Price: 19 times means 19 times as many people as with truthful direct answers."),
  );

/** @param {One} props */
const Row = ({ question: { value: question } }) =>
  h(
    "tr",
    { role: "row" },
    h("th", { scope: "row", role: "rowheader" }, question.id),
    COLUMNS.map(([name, say]) => h("td", { role: "cell", "data-name": name, key: name }, say(question))),
  );

const NAMES = { error: "Nobody can answer it", warning: "Warning", note: "Note" };

/** @param {{ survey: Survey }} props */
export const Findings = ({ survey }) =>
  h(
    "section",
    { class: "card", "aria-labelledby": "findings" },
    h("h2", { id: "findings" }, "To look at"),
    survey.findings.length === 0
      ? h("p", null, "Nothing needs a change.")
      : h("ul", { class: "findings" }, survey.findings.map(({ kind, text, line: at }) => h("li", { class: kind, key: text }, h("strong", null, `${NAMES[kind]} `), line(at), ` ${text}`))),
    survey.around.map((each) => h("p", { class: "quiet", key: each }, each)),
  );

/** What each question is, and what its mechanisms would cost. @param {{ survey: Survey }} props */
export const Questions = ({ survey }) =>
  h(
    "section",
    { class: "card", "aria-labelledby": "questions" },
    h("h2", { id: "questions" }, "Question by question"),
    questions.value.map((question) => h(Detail, { question, key: question.peek().id })),
    survey.whole.map((each) => h("p", { key: each }, each)),
    h("p", { class: "quiet" }, `Survey ${survey.id}, ${whole.format(survey.bytes)} bytes when published.`),
  );

/** @param {One} props */
const Detail = ({ question: { value: question } }) => {
  const { id, type, text, line: at, lines, costs } = question;
  return h(
    "details",
    null,
    h("summary", null, h("strong", null, id), ` (${type}) `, line(at), h("span", { class: "asks", dir: "auto" }, text)),
    h("ul", null, lines.map((each) => h("li", { key: each }, each))),
    costs.length > 0 &&
      h(
        "table",
        null,
        h("caption", null, "People whom each mechanism takes at this epsilon, as a multiple of the first"),
        h("tbody", null, costs.map(({ label, times: factor }) => h("tr", { key: label }, h("th", { scope: "row" }, label ?? "no mechanism fewer than"), h("td", null, times(factor))))),
      ),
  );
};

/** Who is asked what, what drawing costs, and what can be crossed. @param {{ survey: Survey }} props */
export const Groups = ({ survey }) =>
  h(
    "section",
    { class: "card", "aria-labelledby": "asked" },
    h("h2", { id: "asked" }, "Who is asked what"),
    survey.groups.length === 0 && h("p", null, "Everybody is asked every question."),
    survey.groups.map(({ heading, lines }) => h("div", { key: heading }, h("p", null, heading), h("ul", null, lines.map((each) => h("li", { key: each }, each))))),
    survey.crossings.length === 0
      ? h("p", null, "No two questions can be crossed.")
      : h(
          "table",
          null,
          h("caption", null, `How well a cell of two questions that are crossed is known with ${whole.format(survey.respondents)} people`),
          h("tbody", null, survey.crossings.map(({ of, half_width: width }) => h("tr", { key: of.join() }, h("th", { scope: "row" }, of.join(" and ")), h("td", null, points(width))))),
        ),
  );

//@ts-check
/*
 * The questions, one at a time or all on a page, then the answers once more, then Send. The form has no action: without this
 * script it sends nothing. Answers are in its inputs alone.
 */

import { ask } from "./ask.js";
import { tellsUse } from "./collector.js";
import { bar, button, card, h, heading, link, minor, own, p, quiet } from "./dom.js";
import { fill, numbered } from "./messages.js";

/**
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./survey.js").View} View
 * @typedef {import("./ask.js").Asked} Asked
 * @typedef {import("./walk.js").Walk} Walk
 */

/**
 * @param {Messages} m @param {View} view @param {(answers: Record<string, unknown>) => void} send
 * @param {Walk} walk where somebody is on the way: at a question by its number, or behind the last one at the review
 */
export function questions(m, view, send, walk) {
  const all = view.questions.length;
  const isStepped = view.layout === "steps" && all > 1;
  const last = isStepped ? all : 1; // the place of the review
  /** @type {Asked[]} */
  const asked = [];
  const next = () => {
    const n = asked.length;
    asked.push(ask(m, view.questions[n], !isStepped && all > 1 ? `${n + 1}. ` : "", isStepped));
    return asked[n].set;
  };
  const review = h("div", { class: "review" });
  const isHere = () => !form.hidden;
  let isChanging = false; // whether the review is where the next step leads

  /** Show the place of a walk; what it is called from has moved the focus, or wants it moved. @param {number} place */
  const show = (place) => {
    review.replaceChildren();
    form.hidden = place >= last;
    if (form.hidden) {
      if (asked.length === all && !asked.some((each) => each.check())) return showReview();
      return show(last - 1); // by Forward, after an answer was taken back
    }
    if (isStepped) steps(place);
    else count();
  };
  walk.follow((place) => {
    isChanging = false;
    show(place);
    if (!isHere()) return focusOn(review);
    if (isStepped) asked[place].begin();
    else focusOn(form);
  });

  const summary = h("div", { role: "alert", class: "bad" });
  /** What the summary lists: questions without an answer, each with its line. @type {[Asked, Element][]} */
  let missing = [];
  /** What has been mended is no longer listed. */
  const mend = () => {
    missing = missing.filter(([each, line]) => each.answer() === undefined || line.remove());
    if (!missing.length) summary.replaceChildren();
  };
  const done = quiet();
  /**
   * How many are still to answer: unseen, before somebody touched one. It takes its place from the start, because the page
   * around hears of heights, and who ticks nothing touches nothing.
   */
  const count = (isTouched = true) => {
    const n = asked.filter((each) => each.answer() === undefined).length; // ticks need no answer: none is one too
    done.replaceChildren(bar(1 - n / all), numbered(m, m.progress, n));
    done.classList.toggle("unseen", !isTouched);
  };

  const advice = p(m.truthfully);
  const position = h("p", { class: "quiet position" });
  const onward = h("button", { part: "button" }, isStepped ? m.onward : m.review);
  const before = minor(m.back, () => walk.back());
  /** One question, and where it stands among the others. @param {number} place */
  const steps = (place) => {
    asked.forEach(({ set }, n) => (set.hidden = n !== place));
    advice.hidden = place > 0;
    position.replaceChildren(fill(m.step, { n: place + 1, all }), bar((place + 1) / all));
    before.hidden = !place && !walk.hasStart;
    onward.textContent = isChanging || place === all - 1 ? m.review : m.onward;
  };

  const showReview = () => {
    review.replaceChildren(
      card(
        heading(m.yours),
        p(m.yoursText),
        ...asked.map(({ title, words }, n) => {
          const change = minor(m.change, () => {
            walk.go(isStepped ? n : 0);
            isChanging = isStepped;
            onward.textContent = m.review;
            asked[n].focus();
          });
          change.setAttribute("aria-label", fill(m.changeNumber, { n: n + 1 }));
          return h("div", { class: "box given" }, h("div", {}, quiet(own(title)), p(own(words(), "no"))), change);
        }),
        p(m.final),
        h("div", { class: "row" }, button(m.send, submitted), isStepped && minor(m.back, () => walk.back())),
      ),
    );
  };
  const submitted = () => {
    const answers = Object.fromEntries(view.questions.map(({ id }, n) => [id, asked[n].answer()]));
    walk.end();
    form.reset();
    send(answers);
  };

  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault();
    if (asked.length < all) return; // Enter, in the moment before they all stand there
    if (isStepped) {
      const { place } = walk;
      if (asked[place].check()) return asked[place].focus();
      const skipped = asked.findIndex((each) => each.answer() === undefined);
      const isLast = isChanging || place === all - 1;
      return walk.go(!isLast ? place + 1 : skipped < 0 ? last : skipped);
    }
    missing = asked.filter((each) => each.check()).map((each) => [each, h("li", {}, link(own(each.title), each.focus))]);
    count();
    if (missing.length) {
      summary.replaceChildren(card(heading(m.missingSome, "h2"), p(m.missingWhy), h("ul", {}, ...missing.map(([, line]) => line))));
      return focusOn(summary);
    }
    summary.replaceChildren();
    walk.go(last);
  };
  const reset = () => {
    walk.touched(false);
    show(Math.max(0, Math.min(walk.place, last - 1))); // a page that goes away shows no answers when it comes back
    setTimeout(() => count(false)); // once the inputs are empty, nobody has touched one
  };
  const input = () => {
    walk.touched(true);
    mend();
    count();
  };
  /** Digits choose. @param {KeyboardEvent} event */
  const keydown = ({ key, target, ctrlKey, altKey, metaKey }) => {
    const isField = /** @type {HTMLInputElement} */ (target).matches("[type=number], [type=search], select");
    if (isStepped && /^\d$/.test(key) && !isField && !ctrlKey && !altKey && !metaKey) asked[walk.place].press(key);
  };
  const top = isStepped
    ? h("div", { class: "stack" }, h("h1", { class: "quiet" }, own(view.title)), position, advice)
    : card(heading(own(view.title)), advice, !view.issuer && !tellsUse(view) && quiet(m.nothingYet));
  const form = h("form", { novalidate: "", autocomplete: "off", part: "form", input, submit, reset, keydown }, top, summary, next());
  // The first question stands on the screen before a slow phone lays out the others.
  setTimeout(() => {
    while (asked.length < all) form.append(next());
    count(false);
    if (isStepped) {
      form.append(h("div", { class: "row steps" }, onward, before));
      steps(walk.place);
    } else form.append(card(done, onward));
  }, 20);
  if (isStepped) steps(0);
  return h("div", {}, form, review);
}

/** Put the focus on the heading of what came up. @param {ParentNode} place */
export const focusOn = (place) => /** @type {HTMLElement | null} */ (place.querySelector("[tabindex]"))?.focus();

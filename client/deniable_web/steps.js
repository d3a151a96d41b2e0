//@ts-check
/*
 * The questions one at a time, then the answers once more, then Send. The form has no action: without this script it sends
 * nothing. Answers are in its inputs alone, which stay in it while other questions are on the screen. No step knows the answers
 * of the others, and choosing an answer leads nowhere by itself: whoever chose wrongly, or by arrow keys, chooses again.
 */

import { bar, focusOn, h, headInSight, minor, oncePainted, own } from "./dom.js";
import { fill } from "./messages.js";
import { together } from "./grid.js";
import { appliesIn, reviewOf, taken } from "./review.js";

/**
 * @param {import("./messages.js").Messages} m @param {import("./grid.js").Drawn} view
 * @param {import("./walk.js").Walk} walk where somebody is on the way
 * @param {(answers: Record<string, unknown>) => void} send
 * @param {boolean} isWatched whether a page around hears of heights: then all steps take the room of the highest one, so that it
 *   does not hear when somebody goes on
 */
export function steps(m, view, walk, send, isWatched) {
  const { stops } = view;
  const all = stops.length;
  const isFiltered = stops.some(([{ askIf }]) => askIf);
  /** @type {import("./grid.js").Stop[]} */
  const asked = [];
  /** What leads on, of each question. @type {HTMLElement[]} */
  const onward = [];
  let isChecked = false; // whether the review came up: from then on every question leads back to it
  const stage = h("div", { class: isWatched ? "stage even" : "stage" });
  const next = () => {
    const n = asked.length;
    const each = together(m, stops[n], { isStep: true, position: all > 1 ? fill(m.step, { n: n + 1, all }) : "" });
    asked.push(each);
    // Each step has buttons of its own: the second half of a double click finds the first half's button gone.
    onward.push(h("button", { part: "button" }));
    const odds = /** @type {Node} */ (each.set.lastChild); // behind the buttons, where it does not compete with them
    if (each.intro) each.set.prepend(each.intro);
    each.set.append(
      h("div", { class: "row steps", part: "steps" }, onward[n], minor(m.back, () => walk.back())),
      odds,
    );
    each.set.querySelector("legend")?.after(h("p", { class: "promise" }, n ? "" : `${m.honestly} `, m.stays, !n && isFiltered && ` ${m.filtered}`));
    each.set.hidden = n > 0;
    stage.append(each.set);
    name(n);
  };
  const name = (/** @type {number} */ n) => (onward[n].textContent = isChecked || n === all - 1 ? m.review : m.onward);
  const reach = (/** @type {number} */ place) => {
    while (asked.length < Math.min(place + 1, all)) next();
  };
  const applies = () => appliesIn(view, asked);
  /** The first place from this one on that applies: a question, or the review. @param {number} place */
  const following = (place) => {
    const route = applies();
    while (place < all && !route[place]) place++;
    return place;
  };
  /** The first question that applies and has no answer, or -1: by Forward, or after an answer was changed. */
  const unanswered = () => {
    const route = applies();
    return asked.findIndex((each, n) => route[n] && each.answer() === undefined);
  };
  const done = bar(0);
  const head = h("div", { class: "head" }, h("h1", { class: "quiet" }, own(view.title)), all > 1 && done);
  const review = h("div", { class: "review" });

  /** @param {number} place of a question */
  const show = (place) => {
    review.replaceChildren();
    form.hidden = false;
    asked.forEach(({ set }, n) => (set.hidden = n !== place));
    const route = applies();
    const { set, section, intro } = asked[place];
    // A section begins with its first question that applies; where heights are heard of, with each, as high as that one.
    if (!isWatched && asked.slice(0, place).some((each, n) => route[n] && each.section === section)) intro?.remove();
    else if (intro) set.prepend(intro);
    done.value = (place + 0.5) / all; // what is behind somebody, and never nothing
    // How many there are would tell which were skipped.
    const n = route.slice(0, place).filter(Boolean).length + 1;
    if (isFiltered) asked[place].at(fill(m.stepMost, { n, all }));
  };
  walk.follow((to) => {
    reach(to);
    const place = following(to);
    if (place !== to) walk.turn(place); // by Back or Forward, to what an answer has changed
    if (place < all) {
      show(place);
      asked[place].begin();
      headInSight(stepped);
      return;
    }
    const missing = unanswered();
    if (missing >= 0) {
      walk.turn(missing);
      show(missing);
      asked[missing].check();
      return asked[missing].focus();
    }
    form.hidden = isChecked = true;
    done.value = 1;
    onward.forEach((_, n) => name(n));
    const route = applies();
    const places = asked.flatMap((_, n) => (route[n] ? [n] : []));
    review.replaceChildren(
      reviewOf(m, places.map((n) => asked[n]), {
        change: (n) => walk.go(places[n]),
        back: () => walk.back(),
        send: () => send(taken(asked, applies(), walk, form)),
      }),
    );
    focusOn(review);
  });

  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const { place } = walk;
    if (asked[place].check()) return asked[place].focus();
    const missing = unanswered();
    walk.go(!isChecked ? following(place + 1) : missing < 0 ? all : missing);
  };
  const reset = () => {
    if (walk.isEnded) return;
    walk.forget();
    isChecked = false;
    onward.forEach((_, n) => name(n));
    show(0); // a page that goes away shows no answers when it comes back
  };
  const keydown = (/** @type {KeyboardEvent} */ event) => {
    const { key, repeat, ctrlKey, altKey, metaKey } = event;
    const target = /** @type {HTMLElement} */ (event.target);
    const { set, press } = asked[walk.place];
    if (key === "Enter") {
      if (repeat) event.preventDefault(); // a key that is held down skips no question
      else if (target === set) form.requestSubmit();
    }
    const isTyped = ctrlKey || altKey || metaKey || target.matches("[type=number], [type=search]");
    if (/^\d$/.test(key) && !isTyped) press(key);
  };
  const form = h(
    "form",
    { novalidate: "", autocomplete: "off", part: "form", submit, reset, keydown, input: () => walk.touched(true) },
    stage,
  );
  next();
  show(0);
  // The first question stands on the screen before a slow phone lays out the others.
  oncePainted(() => reach(all));
  const stepped = h("div", { class: "stepped" }, head, form, review);
  return stepped;
}

//@ts-check
/*
 * All questions on a page, an error summary, then the answers once more, then Send. The form has no action: without this script
 * it sends nothing. Answers are in its inputs alone.
 */

import { bar, card, focusOn, fold, folds, h, heading, item, link, oncePainted, own, p, quiet, stack } from "./dom.js";
import { together } from "./grid.js";
import { numbered } from "./messages.js";
import { oddsTable } from "./odds-table.js";
import { appliesIn, reviewOf, taken } from "./review.js";

/** @typedef {import("./grid.js").Stop} Asked */

/** The places of the questions, and of the review, on the way. */
const [QUESTIONS, REVIEW] = [0, 1];

/**
 * @param {import("./messages.js").Messages} m @param {import("./grid.js").Drawn} view
 * @param {import("./walk.js").Walk} walk where somebody is on the way
 * @param {(answers: Record<string, unknown>) => void} send
 * @param {boolean} isWatched whether a page around hears of heights: then questions that do not apply keep their room, so that it
 *   does not hear what was chosen
 */
export function page(m, view, walk, send, isWatched) {
  const { stops } = view;
  const all = stops.length;
  const isFiltered = stops.some(([{ askIf }]) => askIf);
  /** @type {Asked[]} */
  const asked = [];
  const next = () => {
    const n = asked.length;
    // Numbers would tell where one is left out.
    asked.push(together(m, stops[n], { number: all > 1 && !isFiltered ? `${n + 1}. ` : "", hasOdds: isFiltered })); // the odds of all stand below the last one
    const { set, section, intro } = asked[n];
    return intro && asked[n - 1]?.section !== section ? stack(intro, set) : set;
  };
  const applies = () => appliesIn(view, asked);
  /** Questions that apply, without an answer. */
  const unanswered = () => {
    const route = applies();
    return asked.filter((each, n) => route[n] && each.answer() === undefined);
  };
  /** Show the questions that apply, and no others. */
  const follow = () => {
    const route = applies();
    asked.forEach(({ set, section, intro }, n) => {
      const isBegun = asked.some((each, n) => route[n] && each.section === section);
      intro?.classList.toggle("unseen", isWatched && !isBegun);
      intro?.toggleAttribute("hidden", !isWatched && !isBegun);
      set.disabled = !route[n];
      set.classList.toggle("unseen", isWatched && !route[n]);
      set.hidden = !isWatched && !route[n];
    });
  };
  const summary = h("div", { role: "alert", class: "card stack bad", "aria-atomic": false });
  /** What the summary lists: questions without an answer, each with its line. @type {[Asked, Element][]} */
  let missing = [];
  /** How many the summary lists. */
  const listed = heading("", "h2");
  /** What has been mended is no longer listed. */
  const mend = () => {
    const left = unanswered();
    missing = missing.filter(([each, line]) => left.includes(each) || line.remove());
    listed.textContent = numbered(m, m.progress, missing.length);
    if (!missing.length) summary.replaceChildren();
  };
  const done = quiet();
  let isTouched = false; // whether somebody has chosen anything
  /**
   * How many still need an answer, and of those that need one how many have it; boxes need none. It is unseen before somebody
   * touched one, and takes its place from the start, because the page around hears of heights, and who ticks nothing touches
   * nothing.
   */
  const count = () => {
    const route = applies();
    const needing = stops.filter(([{ kind }], n) => route[n] && !kind.takesSeveral).length;
    const n = unanswered().length;
    done.replaceChildren(numbered(m, m.progress, n), bar(needing ? 1 - n / needing : 1));
    done.classList.toggle("unseen", !isTouched || !!summary.firstChild); // a list says it already
  };
  const review = h("div", { class: "review" });
  const edit = () => {
    review.replaceChildren();
    form.hidden = false;
  };
  /** Whether something is missing, which the summary then lists. */
  const lacks = () => {
    missing = unanswered().filter((each) => each.check()).map((each) => [each, item(link(own(each.title), each.focus))]);
    summary.replaceChildren();
    if (missing[0]) {
      mend();
      summary.append(listed, p(`${isTouched ? m.missingKept : ""} ${m.missingWhy}`), h("ul", {}, ...missing.map(([, line]) => line)));
      focusOn(summary);
    }
    count();
    return missing.length > 0;
  };
  walk.follow((place) => {
    edit();
    if (place === QUESTIONS) return focusOn(form);
    if (lacks()) return walk.turn(QUESTIONS); // by Forward, after an answer was taken back
    form.hidden = true;
    const route = applies();
    const given = asked.filter((_, n) => route[n]);
    const change = (/** @type {number} */ n) => {
      walk.go(QUESTIONS);
      given[n].focus();
    };
    review.replaceChildren(reviewOf(m, given, { change, send: () => send(taken(asked, applies(), walk, form)) }));
    focusOn(review);
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    // Enter, in the moment before they all stand there
    if (asked.length === all && !lacks()) walk.go(REVIEW);
  };
  const reset = () => {
    if (walk.isEnded) return;
    walk.forget();
    edit(); // a page that goes away shows no answers when it comes back
    isTouched = false;
    setTimeout(() => (follow(), count())); // once the inputs are empty, nobody has touched one
  };
  const input = () => {
    walk.touched((isTouched = true));
    follow();
    mend();
    count();
  };
  const form = h(
    "form",
    { novalidate: "", autocomplete: "off", part: "form", input, submit, reset },
    card(heading(own(view.title)), h("p", {}, m.honestly, " ", m.stays, " ", isFiltered && m.filtered)),
    summary,
    next(),
  );
  // The first question stands on the screen before a slow phone lays out the others.
  oncePainted(() => {
    while (asked.length < all) form.append(next());
    follow();
    count();
    // Together they would tell which questions do not apply.
    form.append(h("div", { class: "stack onward" }, h("button", { part: "button" }, m.review), done, !isFiltered && folds(fold(m.odds, () => oddsTable(m, view.questions)))));
  });
  return h("div", {}, form, review);
}

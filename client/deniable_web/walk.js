//@ts-check
/*
 * The way through a survey as the browser's Back and Forward walk it: the first screen, the questions, the review. Entries of the
 * history hold the number of a place, never an answer. Where the page is somebody else's, its history is left alone, and the
 * buttons of the survey walk by themselves.
 */

import { random } from "./randomness.js";

/** The place of the first screen. */
export const START = -1;

export class Walk {
  /** Where somebody is: a question by its number, or behind the last one the review. */
  place = START;
  /** Whether Back leads to the first screen. */
  hasStart;
  /** What ties entries of the history to this run: after a reload there is nothing to walk. */
  #run = random(8);
  #depth = 0;
  #isEnded = false;
  /** @type {(place: number) => void} */
  #move = () => {};
  /** What brings the questions back to the screen where the first screen took their place. */
  #return = () => {};
  #leave = new AbortController();

  /**
   * @param {boolean} isHome whether the page is the survey's own
   * @param {() => void} start what brings back the first screen @param {AbortSignal} signal
   */
  constructor(isHome, start, signal) {
    this.hasStart = isHome;
    signal.addEventListener("abort", () => this.#leave.abort());
    if (!isHome) return;
    history.replaceState({ deniable: this.#run, place: START, depth: 0 }, "");
    const pop = (/** @type {PopStateEvent} */ { state }) => {
      if (this.#isEnded) return history.replaceState(null, ""); // the entry where the survey began
      if (state?.deniable !== this.#run) return;
      this.#depth = state.depth;
      this.place = state.place;
      if (this.place === START) return start();
      this.#return();
      this.#move(this.place);
    };
    addEventListener("popstate", pop, { signal });
  }

  /** What shows a place. @param {(place: number) => void} move */
  follow(move) {
    this.#move = move;
  }

  /** Go to a place. @param {number} place */
  go(place) {
    this.#push(place);
    this.#return();
    this.#move(place);
  }

  /** Begin at the first question, which the screen shows already. @param {() => void} back what brings the questions back to the screen */
  begin(back) {
    this.#return = back;
    this.#push(0);
  }

  /** @param {number} place */
  #push(place) {
    this.place = place;
    if (this.hasStart) history.pushState({ deniable: this.#run, place, depth: ++this.#depth }, "");
  }

  /** Back to the place before. */
  back() {
    if (this.hasStart) history.back();
    else this.#move((this.place = Math.max(0, this.place - 1)));
  }

  /** Whether something was chosen that would be lost: then the browser asks before it leaves the page. @param {boolean} isTouched */
  touched(isTouched) {
    this.#leave.abort();
    this.#leave = new AbortController();
    if (isTouched && this.hasStart) addEventListener("beforeunload", (event) => event.preventDefault(), { signal: this.#leave.signal });
  }

  /** After Send nothing leads back: the history is again where it began. */
  end() {
    this.#isEnded = true;
    this.touched(false);
    if (this.#depth) history.go(-this.#depth);
    else if (this.hasStart) history.replaceState(null, "");
    this.#depth = 0;
  }

  /** Leave for another page at once, from the entry where the survey began, so that Back does not lead to it. @param {string} url */
  leave(url) {
    this.#isEnded = true;
    this.touched(false);
    if (!this.#depth) return location.replace(url);
    addEventListener("popstate", () => location.replace(url), { once: true });
    history.go(-this.#depth);
  }
}

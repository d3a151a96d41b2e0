//@ts-check
/*
 * The way through a survey, from the first screen over the questions to the review. On the survey's own page the browser's Back
 * and Forward walk it too: entries of the history hold a random name of this run, how many places of it come before and how
 * many entries of this survey, which are more once answers were forgotten; never an answer, and the address stays. Where the page is somebody else's, its history is left alone, and the survey's buttons walk by
 * themselves.
 */

import { random } from "./randomness.js";

/** The place of the first screen; questions are numbered from 0, and the review comes behind the last one. */
export const START = -1;

export class Walk {
  /** The places on the way, in the order in which somebody came to them. */
  #trail = [START];
  /** Which of them is on the screen. */
  #here = 0;
  /** What ties entries of the history to this run: those from before a reload, or before answers were forgotten, lead to no question. */
  #run = random(8);
  /** When the history rests, so that nothing which was asked of it before takes somebody back. @type {Promise<unknown> | undefined} */
  settled;
  /** Whether Send was pressed, or the page left: then nothing leads back. */
  isEnded = false;
  #isHome;
  #mayAsk;
  #signal;
  #start;
  /** @type {(place: number) => void} */
  #move = () => {};
  /** What brings the questions back to the screen where the first screen took their place. */
  #return = () => {};
  /** Ends the question whether to leave. @type {AbortController | undefined} */
  #staying;

  /**
   * @param {{ isHome: boolean, mayAsk: boolean }} how `isHome` where the history is the survey's own; `mayAsk` where the browser
   *   may ask before it leaves the page. In a frame it may not: the page around could try to lead the frame elsewhere, and see
   *   whether something was chosen
   * @param {() => void} start what brings back the first screen @param {AbortSignal} signal
   */
  constructor({ isHome, mayAsk }, start, signal) {
    this.#isHome = isHome;
    this.#mayAsk = mayAsk;
    this.#start = start;
    this.#signal = signal;
    signal.addEventListener("abort", () => this.touched(false));
    if (isHome) this.#leaveOldEntries();
  }

  /** After a reload the entries of the run before lead nowhere: back to where it began, so that one press of Back leaves the survey. */
  #leaveOldEntries() {
    const at = this.#depth;
    if (!history.state?.deniable) return;
    history.replaceState(null, "");
    if (!at) return;
    this.settled = new Promise((done) => {
      addEventListener("popstate", done, { once: true });
      setTimeout(done, 1000); // where a browser has lost these entries
    });
    history.go(-at);
  }

  /** How many entries of the history lie between this one and the one where the survey began, whichever run they are of. */
  get #depth() {
    const { deniable, at } = history.state ?? {};
    return deniable ? at : 0;
  }

  /** Where somebody is. */
  get place() {
    return this.#trail[this.#here];
  }

  #show() {
    if (this.place === START) return this.#start();
    this.#return();
    this.#move(this.place);
  }

  /** What shows a place. @param {(place: number) => void} move */
  follow(move) {
    this.#move = move;
  }

  /** Begin at the first question, which the screen shows already. @param {() => void} back what brings the questions back to the screen */
  begin(back) {
    this.#return = back;
    this.#push(0);
    if (!this.#isHome) return;
    const pop = (/** @type {PopStateEvent} */ { state }) => {
      if (this.isEnded) return this.#rest();
      this.#here = state?.deniable === this.#run && state.n < this.#trail.length ? state.n : 0;
      this.#show();
    };
    addEventListener("popstate", pop, { signal: this.#signal });
  }

  /** Go on to a place. @param {number} place */
  go(place) {
    this.#push(place);
    this.#show();
  }

  /** @param {number} place */
  #push(place) {
    const at = this.#depth;
    const note = (/** @type {"replaceState" | "pushState"} */ how, more = 0) =>
      this.#isHome && history[how]({ deniable: this.#run, at: at + more, n: this.#here }, "");
    note("replaceState"); // the entry of the first screen, or one from before answers were forgotten
    this.#trail.splice(++this.#here, Infinity, place);
    note("pushState", 1);
  }

  /** Another place in this place of the way: the review sends back to what has no answer. @param {number} place */
  turn(place) {
    this.#trail[this.#here] = place;
  }

  /** Back to the place before. */
  back() {
    if (this.#isHome) return history.back();
    this.#here--;
    this.#show();
  }

  /** Whether something was chosen that would be lost: then the browser asks before it leaves the page. @param {boolean} isTouched */
  touched(isTouched) {
    if (isTouched === !!this.#staying) return;
    this.#staying?.abort();
    this.#staying = isTouched ? new AbortController() : undefined;
    if (this.#staying && this.#mayAsk) {
      const ask = (/** @type {BeforeUnloadEvent} */ event) => {
        event.preventDefault();
        event.returnValue = true; // what Chrome 118 and older look at
      };
      addEventListener("beforeunload", ask, { signal: this.#staying.signal });
    }
  }

  /** Answers were forgotten: the way begins anew, and no entry of the history leads to where they stood. */
  forget() {
    this.touched(false);
    this.#run = random(8);
    this.#here = Math.min(this.#here, 1);
    this.#trail = [START, 0].slice(0, this.#here + 1);
  }

  /** After Send nothing leads back: the history is again where the survey began. */
  end() {
    this.isEnded = true;
    this.touched(false);
    if (!this.#isHome) return;
    // Also where another screen has ended this run by then: whoever leaves later must know where the history is.
    addEventListener("popstate", () => this.#rest(), { once: true });
    this.#toBegin();
  }

  /** To the entry where the survey began. */
  #toBegin() {
    const at = this.#depth;
    if (at) history.go(-at); // 0 would load the page again
  }

  /**
   * At an entry of the history after the way has ended, by `end` or by Forward. Two listeners may hear of the same move, where
   * the receipt comes later than the move; the entry where the survey began loses its note once.
   */
  #rest() {
    if (history.state?.at === 0) history.replaceState(null, "");
  }

  /** Leave for another page at once, from the entry where the survey began, so that Back does not lead to it. @param {string} url */
  leave(url) {
    this.isEnded = true;
    this.touched(false);
    if (!this.#depth) return location.replace(url);
    addEventListener("popstate", () => location.replace(url), { once: true });
    this.#toBegin();
  }
}

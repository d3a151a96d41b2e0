//@ts-check
/*
 * <deniable-survey src="https://collector/s/<id>">: a survey in a page, from consent to receipt.
 *
 * The way of an answer: native inputs -> randomize -> report kept -> report sent. The answer ends at `randomize`; what
 * is kept, sent, announced or shown afterwards is made of the report alone. Until this script runs, people see the
 * element's own content, which can send nothing.
 *
 * With the attribute `isolated` the survey runs in a frame of the collector's origin, which the page around it cannot
 * look into; with `kiosk` the device forgets each person. No link can say that: it is for whoever owns the device.
 *
 * Events, none with an answer: deniable-ready, -start, -submit, -complete, -queued, -error, -closed, -resize.
 */

import { Memory, carrying, today } from "./memory.js";
import { CEILING, said, usedOf100, weakness } from "./ceiling.js";
import { newReportId } from "./randomness.js";
import { randomize } from "./device.js";
import { fill, numbered } from "./messages.js";
import { needed } from "./route.js";
import { stopsOf } from "./grid.js";
import { sum } from "./mechanisms/base.js";
import { deliver, hindrance, standingOf, tellsUse } from "./collector.js";
import { buyToken } from "./buying.js";
import { accentSheet } from "./dress.js";
import * as screens from "./screens.js";
import { drawQuestions } from "./group.js";
import { ELSEWHERE, isLeaving, withExit } from "./leaving.js";
import { ReportError } from "./errors.js";
import { ways } from "./ways.js";
import { arranged } from "./arrangement.js";
import { DeniableElement, MINUTE } from "./base-element.js";
import { h } from "./dom.js";
import { steps } from "./steps.js";
import { page } from "./form.js";
import { Walk } from "./walk.js";

/** @typedef {import("./base-element.js").Place} Place */
/** @typedef {import("./survey.js").View} View */
/** @typedef {import("./memory.js").Seen} Seen */

/** For how many milliseconds what a collector said before Start is believed at Start. */
const FRESH = 5000;

/** What is an origin to the letter: scheme, host and port of one page, and no pattern for many. @param {string | null} text */
function originIn(text) {
  try {
    return new URL(text ?? "").origin === text ? text : null;
  } catch {
    return null;
  }
}

export class DeniableSurvey extends DeniableElement {
  #memory = new Memory();
  /** On a shared device, who is answering now: a random name. */
  #person = "";

  /** How weak the protection is, as in ceiling.js. */
  #weak = 0;
  /** Where somebody is between the first screen and Send. @type {Walk | undefined} */
  #walk;
  /** The questions, also while the first screen stands in their place. @type {HTMLElement | undefined} */
  #form;
  /** Whether this is the survey's own page, on somebody's own device: what leads away from the page stands here alone. */
  #isHome = false;

  constructor() {
    super();
    /** @type {number | undefined} */
    let told;
    new ResizeObserver(() => {
      // The height of the review depends on the answers in it, that of errors on what is asked and lacks an answer, and that
      // of the receipt, once somebody looks there at what was sent, on what chance made of them: none of them is told, nor
      // that it has gone.
      if (this.gone && told !== this.offsetHeight && !this.root.querySelector(".review *, .missing:not(:empty), [open] > .said, [open] pre"))
        this.announce("resize", { height: (told = this.offsetHeight) });
    }).observe(this);
  }

  /** @param {AbortSignal} signal */
  async begin(signal) {
    const place = this.place();
    const { collector, more, isOwn } = place;
    const isFramed = isOwn && parent !== window;
    // Only a page that holds the frame can give it that name.
    this.isShared = this.kiosk || (isFramed && window.name === "deniable-kiosk");
    const at = isOwn ? "" : this.getAttribute("place");
    // Where a script is made for its own pages alone, as that of a place, it has no frame for others, and this throws.
    const frame = (/** @type {string | null} */ at = null) => /** @type {NonNullable<typeof ways.frame>} */ (ways.frame)(this, place, signal, at);
    if (!isOwn && (this.isolated || at)) return frame(at);
    this.around = isFramed && originIn(more.get("host"));
    this.#isHome = isOwn && !isFramed && !this.isShared; // also where the survey cannot be shown
    if (this.#isHome) addEventListener("keydown", (event) => isLeaving(event) && this.#leave(), { signal });
    const view = await this.load(place, signal);
    const { places } = view;
    if (view.issuer) ways.tokens?.().catch(() => {}); // with the survey, so that nobody waits for it at Start
    if (view.sealed && !places[0] && !isOwn && !ways.seal) return frame(); // whose page can seal
    if (places[0] && !(this.isPlace && places.includes(location.origin))) {
      // Whoever embeds it shows it where it is answered; on the collector's page, or at another place, one goes there.
      if (!isOwn) return frame(places[0]);
      more.delete("host");
      const go = () => location.assign(`${places[0]}/#${collector}/s/${view.id}#${more}`);
      return this.show(screens.notice(this.words, this.words.elsewhere, fill(this.words.elsewhereText, { place: places[0] }), { next: go, way: this.words.goThere }));
    }
    this.#person = this.isShared ? newReportId() : "";
    const seen = await this.#memory.look(view, collector, this.isShared);
    if (signal.aborted) return;
    const [own] = this.root.adoptedStyleSheets; // without the accent of a survey before
    this.root.adoptedStyleSheets = view.look ? [own, accentSheet(view.look)] : [own];
    if (this.isShared) this.#watch(signal);
    // Somebody's link in the place of another one's changes the fragment alone.
    if (isOwn && !this.isPlace) addEventListener("hashchange", () => this.restart(), { signal });
    // The clock of a device may be wrong: where its day says that nobody can answer, the collector is asked.
    const standing = screens.byDay(view, today());
    const found = standing && (this.isShared || !seen.kept) && (await standingOf(view, place.way));
    if (signal.aborted) return;
    this.#open(view, place, seen, !found || found === standing ? standing : null);
  }

  /** @override @param {Node} screen @param {boolean} [isAsked] */
  show(screen, isAsked) {
    const words = this.words; // there are none before a catalogue is there
    super.show(this.#isHome && words.exit ? withExit(words, () => this.#leave(), screen) : screen, isAsked);
  }

  /** @override */
  clear() {
    super.clear();
    if (this.#form?.isConnected === false) super.clear(this.#form); // while the first screen stands in its place
  }

  /** Another page in the place of this one, at once: for whoever is looked over the shoulder. Nothing is sent or kept. */
  #leave() {
    this.disconnectedCallback();
    document.title = "";
    document.body.hidden = true; // the other page takes a moment
    if (this.#walk) this.#walk.leave(ELSEWHERE);
    else location.replace(ELSEWHERE);
  }

  /** @param {boolean} isOn whether to leave no trace here */
  #trace(isOn) {
    const memory = new Memory();
    this.isTraceless = isOn;
    this.#memory = isOn ? memory.fleeting() : memory;
  }

  /** @param {View} view @param {Place} place @param {Seen} seen @param {ReturnType<typeof screens.byDay>} standing */
  #open(view, place, seen, standing) {
    const m = this.words;
    const { kept, waiting } = seen;
    this.#weak = weakness(view, seen.totals[0]); // once, so that the receipt is as strong as the consent
    const again = (/** @type {string} */ text, /** @type {() => void} */ next, way = m.send) =>
      this.show(screens.notice(m, m.sentBefore, text, { next, way }));
    const closed = screens.notOpen(m, view, standing, place, () => this.restart(true), this.#link(place), this.#isHome);
    if (kept && !this.isShared) {
      if (seen.isSent) this.#receipt(view, place, kept, m.sentBefore);
      else if (seen.isSent === false && (seen.hasArrived || carrying(kept, place.invitation) === kept)) this.#send(view, place, kept, true);
      // To another collector, or under another invitation, the same report goes if somebody wants that.
      else again(m.same, () => this.#answer(view, place));
    } else if (closed) {
      this.show(closed);
      this.announce("closed");
    } else if (this.isShared && (kept || seen.isSame)) {
      again(m.kioskOther, () => this.#open(view, place, { ...seen, kept: undefined, isSame: false }, standing), m.next);
    } else {
      const { length } = view.questions;
      const n = sum(view.units.map(({ draw }) => draw));
      // Of a question that decides whether another applies, nothing may be sent: that one was drawn, and it was not.
      const isAbout = (/** @type {string} */ id) => view.questions.some(({ askIf }) => askIf?.named.includes(id));
      const asksMore = view.units.some(({ members, draw }) => draw < members.length && members.some(({ id }) => isAbout(id)));
      const [own, all] = seen.totals.map((total, n) => usedOf100(total, [CEILING.survey, CEILING.device][n]));
      const keepsDraw = () => (this.isShared || !this.#memory.lasts ? "" : m.drawnKept);
      const picks = () => `${fill(m.drawn, { n, all: length })} ${asksMore ? m.needed : ""} ${keepsDraw()}`;
      const picked = n < length && h("span", {}, picks());
      const notes = [
        this.isShared ? m.kiosk : !this.#memory.lasts && !this.isTraceless && m.fleeting,
        picked,
        seen.isWiped && m.wiped,
        seen.isSame && m.same,
        seen.hasTold && fill(m.told, { own, all }),
        this.isPlace && fill(view.places[0] ? m.atPlace : m.atPlaceSealed, { place: location.host }),
        waiting.length > 0 && numbered(m, m.queue, waiting.length),
      ];
      const { gone } = this;
      const check = () => {
        const checked = hindrance(view, place.way);
        checked.then((why) => why && gone === this.gone && this.#hinder(view, place, why));
        return checked;
      };
      const checked = check();
      const opened = Date.now();
      let isStarted = false;
      let isNoted = false; // whether Start has stored something of this survey already
      const start = () => {
        if (isStarted) return; // two presses can come before the button is gone
        isStarted = true;
        isNoted = this.#memory.lasts && (n < length || !!view.issuer);
        // A survey may be closed, or an invitation used, while its first screen stands open.
        this.#start(view, place, Date.now() - opened < FRESH ? checked : check());
      };
      const trace = !this.isShared && { isOn: this.isTraceless, choose: (/** @type {boolean} */ isOn) => (this.#trace(isOn), picked && picked.replaceChildren(picks())) };
      const kept = () => (this.isShared ? m.kiosk : this.#memory.lasts && !this.isTraceless ? said(this.#weak, m, "answerKept", "answerKeptWeak") : m.answerKeptNone);
      // A token that the device does not keep ends with the page, and nobody signs another one for the same invitation.
      const stop = () => (view.issuer && !this.#memory.lasts ? m.answerStopSpent : m.answerStop);
      const { cohort, isOwn, way } = place;
      // Back from the first question leads here again, with the answers kept, and Start to the questions as they are.
      const first = () => this.show(screens.consent(m, view, { ...how, trace: !isNoted && trace, start: () => this.#walk?.go(0) }), true);
      const mayAsk = parent === window && !this.isShared;
      this.#walk = new Walk({ isHome: this.#isHome, mayAsk }, first, /** @type {AbortController} */ (gone).signal);
      const decline = () => (this.clear(), this.show(screens.notice(m, m.declined, `${m.declinedText} ${this.#isHome ? m.mayClose : ""}`, { name: "bye", next: () => this.restart(true), way: this.isShared ? m.next : m.back }), true));
      const how = { cohort, isVia: way.isVia, isSeen: !isOwn, weak: this.#weak, n, notes, start, decline, kept, stop, trace, canExit: this.#isHome, history: this.#history(place) };
      this.show(screens.consent(m, view, how));
      this.announce("ready");
    }
    this.#sendWaiting(view, place, waiting);
  }

  /** The address of the page on what this device has told, from the survey's own pages. @param {Place} place */
  #history = ({ collector }) => this.#isHome && !this.isPlace && `${collector}/device`;

  /** The survey's address, where its page of results may be offered: from a place or a shared device nothing leads there. @param {Place} place */
  #link = ({ collector, survey }) => !this.isPlace && !this.isShared && `${collector}/s/${survey}`;

  /** Nobody answers for nothing. @param {View} view @param {Place} place @param {import("./collector.js").Hindrance} why */
  #hinder(view, place, why) {
    this.show(screens.hindered(this.words, view, why, this.#link(place)), !!this.root.activeElement);
    this.announce(why === "closed" || why === "early" ? "closed" : "error");
  }

  /**
   * Where somebody walked away, nothing waits for the next person: two minutes, the last half of one with a warning. By the
   * clock, because a device that slept runs no timers.
   * @param {AbortSignal} signal
   */
  #watch(signal) {
    const warning = h("p", { role: "alert", class: "box bad" });
    const me = /** @type {DeniableElement} */ (this);
    const look = (/** @type {Event | undefined} */ event) => {
      const now = Date.now();
      const idle = me.stirred && now - me.stirred;
      if (idle >= 2 * MINUTE) this.restart();
      else if (event) {
        me.stirred = now;
        warning.remove();
      } else if (idle >= 1.5 * MINUTE && !warning.isConnected) {
        // Beside what somebody looks at: the frame of an isolated survey is as high as all of it.
        (this.root.activeElement?.closest(".card") ?? this.root.children[0]).append(warning);
        warning.textContent = this.words.idle; // after it stands there, so that screen readers say it
        warning.scrollIntoView({ block: "nearest" });
      }
    };
    const timer = setInterval(look, 1000); // without an event
    signal.onabort = () => clearInterval(timer);
    for (const event of ["input", "keydown", "pointerdown", "pointermove", "wheel"]) addEventListener(event, look, { signal });
  }

  /**
   * The check comes first, then the token. Which questions are drawn is kept before any of them is shown.
   * @param {View} view @param {Place} place @param {ReturnType<typeof hindrance>} checked
   */
  async #start(view, place, checked) {
    const { gone, words: m } = this;
    const { access, issuer } = view;
    try {
      this.show(screens.wait(m, issuer || (tellsUse(view) && !this.isPlace) ? m.checking : m.moment), true);
      if ((await checked) || gone !== this.gone) return; // a hindrance is on the screen already
      let credential = access === "open" ? undefined : /** @type {string} */ (place.invitation);
      if (issuer) {
        credential = await buyToken(this.#memory, { ...view, issuer }, place.way, this.isShared);
      }
      const asked = this.isShared ? drawQuestions(view) : await this.#memory.asked(view);
      if (gone !== this.gone) return;
      const questions = arranged(view, needed(view.questions, asked));
      const isPage = view.layout === "page";
      const drawn = { ...view, questions, stops: stopsOf(questions, isPage || matchMedia("(min-width: 40rem)").matches) };
      const walk = /** @type {Walk} */ (this.#walk);
      await walk.settled;
      if (gone !== this.gone) return;
      const ask = isPage ? page : steps;
      const send = (/** @type {Record<string, unknown>} */ answers) => this.#answer(view, place, answers, { asked, credential });
      const form = ask(m, drawn, walk, send, !place.isOwn || parent !== window);
      walk.begin(() => form.isConnected || this.show(form));
      this.#form = form;
      this.show(form, true);
      this.announce("start");
    } catch (error) {
      if (gone === this.gone) this.fail(error, issuer ? null : view, () => this.#start(view, place, checked), true, issuer ? m.notAsked : "");
    }
  }

  /**
   * Here the answers end.
   * @param {View} view @param {Place} place @param {Record<string, unknown>} [answers]
   * @param {{ asked?: Set<string>, credential?: string }} [how]
   */
  async #answer(view, place, answers = {}, how) {
    const { gone } = this;
    this.show(screens.wait(this.words), true); // nothing to press while the device remembers
    try {
      let drawn;
      const draw = (/** @type {boolean} */ isKept) => (drawn = randomize(view, answers, { cohort: place.cohort, isKept, ...how }));
      const report = await this.#memory.once(view, place.collector, draw, this.#person, place.invitation);
      // If the page shows another survey by now, what is kept goes out when this one comes up again.
      if (gone !== this.gone) return;
      if (drawn) this.#send(view, place, report, true);
      else this.restart(true); // this device had a report of the survey already
    } catch (error) {
      if (gone === this.gone) this.fail(error, view, () => {});
    }
  }

  /**
   * @param {View} view @param {Place} place @param {string} report
   * @param {unknown} [isAsked] whether somebody did; otherwise nothing moves unless the report arrives
   */
  async #send(view, place, report, isAsked) {
    this.later = null;
    if (isAsked) this.show(screens.wait(this.words), true);
    const { gone } = this;
    this.announce("submit");
    const person = this.#person;
    try {
      await deliver(view, place.way.collector, report);
      // Where this fails, the same report goes once more the next time, and counts once.
      await (person ? this.#memory.forget(`${view.id}:${person}`) : this.#memory.markSent(view.id, place.collector)).catch(() => {});
      if (gone !== this.gone) return; // something else is on the screen by now
      this.#receipt(view, place, report, this.words.done);
    } catch (error) {
      if (gone === this.gone) this.fail(error, view, (isAsked) => this.#send(view, place, report, isAsked), !!isAsked);
    }
  }

  /** Reports of other people at this device, which the network kept back. @param {View} view @param {Place} place */
  async #sendWaiting(view, { way }, /** @type {string[]} */ waiting) {
    for (const key of waiting) {
      try {
        await deliver(view, way.collector, await this.#memory.recall(key, view));
      } catch (error) {
        if (!(error instanceof ReportError)) return; // later, then
      }
      await this.#memory.forget(key);
    }
  }

  /** @param {View} view @param {Place} place @param {string} report @param {string} title */
  #receipt(view, place, report, title) {
    const { collector, invitation } = place;
    const link = `${collector}/s/${view.id}`;
    const isMine = carrying(report, invitation) === report; // the link may be that of another person at this device
    // Nobody asked for the receipt of another day: then the focus stays where it is.
    const isNew = title === this.words.done;
    const how = { title, weak: this.#weak, link, isPlace: this.isPlace, place: this.isPlace && !!view.places[0] && location.host, isMine, isNew, isHome: this.#isHome, history: this.#history(place), next: this.another() };
    this.show(screens.receipt(this.words, view, report, how), isNew || this.isAsked);
    this.announce("complete");
  }
}

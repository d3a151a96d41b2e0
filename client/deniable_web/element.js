//@ts-check
/*
 * <deniable-survey src="https://collector/s/<id>">: a survey in a page, up to Start. From there on `visit.js` has it, which a
 * second script holds, so that the first screen waits for less. Until this script runs, people see the element's own content,
 * which can send nothing.
 *
 * With the attribute `isolated` the survey runs in a frame of the collector's origin, which the page around it cannot
 * look into; with `kiosk` the device forgets each person. No link can say that: it is for whoever owns the device.
 *
 * Events, none with an answer: deniable-ready, -start, -submit, -complete, -queued, -error, -closed, -resize.
 */

import { Memory, carrying, today } from "./memory.js";
import { CEILING, said, usedOf100, weakness } from "./ceiling.js";
import { newReportId } from "./randomness.js";
import { fill, numbered } from "./messages.js";
import { sum } from "./mechanisms/base.js";
import { hindrance, standingOf, stateAt, tellsUse } from "./collector.js";
import { accentSheet } from "./dress.js";
import * as screens from "./screens.js";
import { ELSEWHERE, isLeaving, withExit } from "./leaving.js";
import { ways } from "./ways.js";
import { DeniableElement, MINUTE } from "./base-element.js";
import { band } from "./chance.js";
import { afterwards, button, h, ignore, item, minor, stack } from "./dom.js";
import { css, fields, screens as around } from "./style.js";
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
  /** @override */ static css = css + around + fields;
  #memory = new Memory();
  /** On a shared device, who is answering now: a random name. */
  #person = "";

  /** How weak the protection is, as in ceiling.js. */
  #weak = 0;
  /** Where somebody is between the first screen and Send. @type {Walk | undefined} */
  #walk;
  /** The questions, also while the first screen stands in their place. @type {HTMLElement | undefined} */
  form;
  /** Whether the second script could not be loaded, so that the first screen is not announced as ready. */
  #lacksSecond = false;
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
    const glance = this.#memory.glance(); // first of all, so that the browser does not paint a page without a survey before
    glance.catch(() => {}); // for whoever waits for it
    // With the survey, so that nobody waits for it at Start. Where it cannot be had, Start tries again, and says so.
    this.#lacksSecond = false;
    ways.answering?.().catch(() => {
      if (signal.aborted) return;
      this.#lacksSecond = true;
      this.announce("error");
    });
    this.around = isFramed && originIn(more.get("host"));
    this.#isHome = isOwn && !isFramed && !this.isShared; // also where the survey cannot be shown
    if (this.#isHome) addEventListener("keydown", (event) => isLeaving(event) && this.#leave(), { signal });
    const view = await this.load(place, signal);
    const { places } = view;
    if (view.sealed && !places[0] && !isOwn && !ways.seals) return frame(); // whose page can seal
    if (places[0] && !(this.isPlace && places.includes(location.origin))) {
      // Whoever embeds it shows it where it is answered; on the collector's page, or at another place, one goes there.
      if (!isOwn) return frame(places[0]);
      more.delete("host");
      const go = () => location.assign(`${places[0]}/#${collector}/s/${view.id}#${more}`);
      return this.show(screens.notice(this.words, this.words.elsewhere, fill(this.words.elsewhereText, { place: places[0] }), { next: go, way: this.words.goThere }));
    }
    // The collector is asked as soon as it is known that there is no report yet, before the first screen is made, so that Start waits for less.
    const askFirst = (/** @type {Awaited<typeof glance>} */ { state: { reports } }) => (signal.aborted || view.id in reports ? "" : stateAt(place.way.collector, view.id));
    const asked = this.isShared || !screens.isWhole(view, place) ? undefined : { opened: Date.now(), state: glance.then(askFirst).catch(() => {}) };
    this.#person = this.isShared ? newReportId() : "";
    const seen = await this.#memory.look(view, collector, this.isShared, today(), glance);
    if (signal.aborted) return;
    const [own] = this.root.adoptedStyleSheets; // without the accent of a survey before
    this.root.adoptedStyleSheets = view.look ? [own, accentSheet(view.look)] : [own];
    if (this.isShared) this.#watch(signal);
    // Somebody's link in the place of another one's changes the fragment alone.
    if (isOwn && !this.isPlace) addEventListener("hashchange", () => this.restart(), { signal });
    // The clock of a device may be wrong: where its day says that nobody can answer, the collector is asked.
    const standing = screens.byDay(view, today());
    const found = standing && (this.isShared || !seen.kept) && (await standingOf(view, place.way, asked));
    if (signal.aborted) return;
    this.#open(view, place, seen, !found || found === standing ? standing : null, asked);
  }

  /** @override @param {Node} screen @param {boolean} [isAsked] */
  show(screen, isAsked) {
    const words = this.words; // there are none before a catalogue is there
    super.show(this.#isHome && words.exit ? withExit(words, () => this.#leave(), screen) : this.isShared && parent === window && screen.nodeName !== "IFRAME" ? stack(band(), screen) : screen, isAsked);
  }

  /** @override */
  clear() {
    super.clear();
    if (this.form?.isConnected === false) super.clear(this.form); // while the first screen stands in its place
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

  /**
   * @param {View} view @param {Place} place @param {Seen} seen @param {ReturnType<typeof screens.byDay>} standing
   * @param {{ opened: number, state?: Promise<unknown> }} [asked] when the collector was asked whether the survey is open, and what it says
   */
  #open(view, place, seen, standing, asked = { opened: Date.now() }) {
    const { kept, waiting } = seen;
    this.#weak = weakness(view, seen.totals[0]); // once, so that the receipt is as strong as the consent
    const me = /** @type {DeniableElement} */ (this);
    const { words } = me;
    const m = (me.words = this.#weak > 1 ? { ...words, odds: words.oddsWeak } : words);
    const again = (/** @type {string} */ text, /** @type {() => void} */ next, way = m.send) =>
      this.show(screens.notice(m, m.sentBefore, text, { next, way }));
    const closed = screens.notOpen(m, view, standing, place, () => this.restart(true), this.#link(place), this.#isHome);
    if (kept && !this.isShared) {
      if (seen.isSent) this.#goOn(view, place, (visit) => visit.receipt(kept, m.sentBefore));
      else if (seen.isSent === false && (seen.hasArrived || carrying(kept, place.invitation) === kept)) this.#goOn(view, place, (visit) => visit.send(kept, true), true);
      // To another collector, or under another invitation, the same report goes if somebody wants that.
      else again(m.same, () => this.#goOn(view, place, (visit) => visit.answer()));
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
      const picked = n < length && m.drawn;
      const more = () => `${keepsDraw()} ${asksMore ? m.needed : ""}`.trim();
      const details = picked && item(more());
      const notes = [
        this.isShared ? m.kiosk : !this.#memory.lasts && !this.isTraceless && m.fleeting,
        seen.isSame && m.same,
        seen.hasTold && fill(m.told, { own, all }),
        this.isPlace && fill(view.places[0] ? m.atPlace : m.atPlaceSealed, { place: location.host }),
        waiting.length > 0 && numbered(m, m.queue, waiting.length),
      ];
      const { gone } = this;
      const check = (/** @type {{ state?: Promise<unknown> }} */ how = {}) => {
        const checked = hindrance(view, place.way, how);
        checked.then((why) => why && gone === this.gone && this.#hinder(view, place, why, isStarted));
        return checked;
      };
      const checked = check(asked);
      let isStarted = false;
      let isNoted = false; // whether Start has stored something of this survey already
      const start = async (/** @type {Event} */ { target }) => {
        isStarted = true;
        isNoted = this.#memory.lasts && (n < length || !!view.issuer);
        // A survey may be closed, or an invitation used, while its first screen stands open.
        const hindered = Date.now() - asked.opened < FRESH ? checked : check();
        // What is there already is not waited for: a screen that is gone at once only takes time. Nothing is pressed meanwhile, nor
        // Start twice; with `inert` the browser would style all of the screen anew.
        /** @type {Element} */ (target).closest(".card")?.addEventListener("click", ignore, true);
        this.showSoon(() => screens.wait(m, view.issuer || (tellsUse(view) && !this.isPlace) ? m.checking : m.moment));
        if ((await hindered) || gone !== this.gone) return; // a hindrance is on the screen already
        this.#goOn(view, place, (visit) => visit.start());
      };
      const trace = !this.isShared && { isOn: this.isTraceless, choose: (/** @type {boolean} */ isOn) => (this.#trace(isOn), details && details.replaceChildren(more())) };
      const kept = () => (this.isShared ? m.kiosk : this.#memory.lasts && !this.isTraceless ? said(this.#weak, m, "answerKept", "answerKeptWeak") : m.answerKeptNone);
      // A token that the device does not keep ends with the page, and nobody signs another one for the same invitation.
      const stop = () => (!view.issuer ? m.answerStop : this.#memory.lasts ? m.answerStopToken : m.answerStopSpent);
      const { cohort, isOwn, way } = place;
      // Back from the first question leads here again, with the answers kept, and Start to the questions as they are.
      const first = () => this.show(screens.consent(m, view, { ...how, trace: !isNoted && trace, start: () => this.#walk?.go(0) }), true);
      const mayAsk = parent === window && !this.isShared;
      this.#walk = new Walk({ isHome: this.#isHome, mayAsk }, first, /** @type {AbortController} */ (gone).signal);
      const back = () => this.restart(true);
      const decline = () => (this.clear(), this.show(screens.notice(m, m.declined, `${m.declinedText} ${this.#isHome ? m.mayClose : ""}`, { name: "bye", more: this.isShared ? button(m.next, back) : minor(m.toSurvey, back) }), true));
      const operator = isOwn && this.getAttribute("operator");
      const how = { cohort, operator, isVia: way.isVia, isSeen: !isOwn, weak: this.#weak, n, picked, details, notes, start, decline, kept, stop, trace, canExit: this.#isHome, history: this.#history(place) };
      const screen = screens.consent(m, view, how);
      this.show(screen);
      if (!this.#lacksSecond) this.announce("ready");
      // Marks lie in a store for which a page has to stand still, so the screen is there first, and a press on Start. They say it hardly ever.
      const lookForMarks = async () => {
        if (isStarted || !(await this.#memory.isWiped()) || isStarted || !screen.isConnected) return;
        notes.push(m.wiped);
        this.show(screens.consent(m, view, how));
      };
      if (seen.isNew && !this.isShared) afterwards(() => lookForMarks().catch(() => {}));
    }
    if (waiting[0]) this.#visit(view, place).then((visit) => visit.sendWaiting(waiting), () => {}); // later, then
  }

  /** What the second script makes of a visit. @param {View} view @param {Place} place */
  async #visit(view, place) {
    const { Visit } = await /** @type {NonNullable<typeof ways.answering>} */ (ways.answering)();
    return new Visit(this, { view, place, memory: () => this.#memory, person: this.#person, weak: this.#weak, walk: this.#walk, isHome: this.#isHome, history: this.#history(place) });
  }

  /**
   * Go on with the second script. Where it cannot be had, that is said, and can be tried again.
   * @param {View} view @param {Place} place @param {(visit: import("./visit.js").Visit) => void} next
   * @param {boolean} [isKept] whether a report waits on this device
   */
  async #goOn(view, place, next, isKept) {
    const { gone, words: m } = this;
    try {
      const visit = await this.#visit(view, place);
      if (gone === this.gone) next(visit);
    } catch (error) {
      const again = () => (this.show(screens.wait(m, isKept ? m.sending : m.moment), true), this.#goOn(view, place, next, isKept));
      if (gone === this.gone) this.fail(error, isKept ? view : null, again);
    }
  }

  /** The address of the page on what this device has told, from the survey's own pages. @param {Place} place */
  #history = ({ collector }) => this.#isHome && !this.isPlace && `${collector}/device`;

  /** The survey's address, where its page of results may be offered: from a place or a shared device nothing leads there. @param {Place} place */
  #link = ({ collector, survey }) => !this.isPlace && !this.isShared && `${collector}/s/${survey}`;

  /**
   * Nobody answers for nothing. Whoever pressed Start hears why, though the button has lost the focus by then.
   * @param {View} view @param {Place} place @param {import("./collector.js").Hindrance} why @param {boolean} isStarted
   */
  #hinder(view, place, why, isStarted) {
    this.show(screens.hindered(this.words, view, why, this.#link(place)), isStarted || !!this.root.activeElement);
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
}

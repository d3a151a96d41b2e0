//@ts-check
/*
 * <deniable-survey src="https://collector/s/<id>">: a survey in a page, from consent to receipt.
 *
 * The way of an answer: native inputs -> randomize -> report kept -> report sent. The answer ends at `randomize`; what
 * is kept, sent, announced or shown afterwards is made of the report alone. Until this script runs, people see the
 * element's own content, which can send nothing.
 *
 * With the attribute `isolated` the survey runs in a frame of the collector's origin, which the page around it cannot
 * look into; with `kiosk` the device forgets each person.
 *
 * Events, none with an answer: deniable-ready, -start, -submit, -complete, -queued, -error, -closed, -resize.
 */

import { DeniableElement } from "./base-element.js";
import { checkCeiling } from "./ceiling.js";
import { submit } from "./collector.js";
import { encodeReport, randomize } from "./device.js";
import { h } from "./dom.js";
import { BudgetError, CollectorError, ReportError, SurveyClosed, SurveyError } from "./errors.js";
import { questions } from "./form.js";
import { Memory, today } from "./memory.js";
import { fill } from "./messages.js";
import { newReportId } from "./randomness.js";
import * as screens from "./screens.js";
import { translate } from "./survey.js";

/** @typedef {import("./base-element.js").Place} Place */
/** @typedef {import("./survey.js").View} View */

export class DeniableSurvey extends DeniableElement {
  #memory = new Memory();
  /** What to do when the network is back. @type {(() => void) | null} */
  #again = null;
  /** Under which the draw is kept; on a shared device each person has one. */
  #key = "";
  #isKiosk = false;
  /** The origin around the frame in which this runs. @type {string | null} */
  #host = null;
  #survey = "";

  connectedCallback() {
    const { signal } = (this.gone = new AbortController());
    // On a shared device the back button must not bring back what somebody chose.
    addEventListener("pagehide", () => this.root.querySelector("form")?.reset(), { signal });
    addEventListener("online", () => this.#again?.(), { signal });
    const observer = new ResizeObserver(() => {
      // The height of the review depends on the answers in it: it is not told.
      if (!this.root.querySelector(".review *")) this.announce("resize", { height: this.offsetHeight });
    });
    observer.observe(this);
    signal.addEventListener("abort", () => observer.disconnect());
    this.#load(signal);
  }

  /** @override @param {string} event @param {object} [detail] */
  announce(event, detail) {
    super.announce(event, { survey: this.#survey, ...detail });
    if (this.#host) parent.postMessage({ deniable: event, survey: this.#survey, ...detail }, this.#host);
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    this.#again = null;
    try {
      const place = this.place();
      const { collector, cohort, more, isOwn } = place;
      this.#isKiosk = this.hasAttribute("kiosk") || more.has("kiosk");
      if (!isOwn && this.hasAttribute("isolated")) return this.#frame(place, signal);
      this.#host = isOwn ? more.get("host") : null;
      const survey = await this.load(place);
      if (signal.aborted) return;
      this.#survey = survey.id;
      checkCeiling(survey, this.#isKiosk ? 0 : this.#memory.spent(collector, survey.id));
      if (cohort !== null && !survey.cohorts.includes(cohort)) {
        throw new SurveyError("cohort: must be one of the survey's cohorts");
      }
      this.#key = this.#isKiosk ? `${survey.id}:${newReportId()}` : survey.id;
      this.#open(translate(survey, place.languages, this.words), place);
    } catch (error) {
      if (!signal.aborted) this.#fail(error, null, () => this.#load(signal));
    }
  }

  /** The same survey where this page cannot see it. @param {Place} place @param {AbortSignal} signal */
  #frame({ collector, survey, cohort, languages: [lang] }, signal) {
    const more = new URLSearchParams({ host: location.origin, lang });
    if (cohort !== null) more.set("cohort", cohort);
    if (this.#isKiosk) more.set("kiosk", "");
    const frame = h("iframe", { src: `${collector}/embed/${survey}#${more}`, title: this.title || this.words.survey, part: "frame" });
    const listen = (/** @type {MessageEvent} */ { source, origin, data }) => {
      if (source !== frame.contentWindow || origin !== new URL(collector).origin) return;
      const { deniable, height } = Object(data);
      if (height > 0) frame.height = String(Math.ceil(height));
      this.announce(String(deniable), height > 0 ? { height } : {});
    };
    addEventListener("message", listen, { signal });
    this.#survey = survey;
    this.show(frame);
  }

  /** @param {View} view @param {Place} place */
  #open(view, place) {
    const m = this.words;
    const kept = this.#memory.recall(this.#key);
    const closed = screens.notOpen(m, view, today(), place.cohort);
    const waiting = this.#memory.below(view.id);
    if (kept?.sent.includes(place.collector)) {
      this.#receipt(view, place, kept.report, m.sentBefore);
    } else if (kept) {
      this.#send(view, place, kept.report);
    } else if (closed) {
      this.show(closed);
      this.announce("closed");
    } else {
      const start = () => {
        this.show(questions(m, view, (answers) => this.#answer(view, place, answers)), true);
        this.announce("start");
      };
      const notes = [
        this.#isKiosk ? m.kiosk : !this.#memory.lasts && m.fleeting,
        waiting.length > 0 && fill(m.queue, { n: waiting.length }),
      ];
      this.show(screens.consent(m, view, { cohort: place.cohort, isSeen: !place.isOwn, notes, start }));
      this.announce("ready");
    }
    this.#sendWaiting(view, place, waiting);
  }

  /** Here the answers end. @param {View} view @param {Place} place @param {Record<string, unknown>} answers */
  #answer(view, place, answers) {
    const draw = () => encodeReport(randomize(view, answers, { cohort: place.cohort }));
    const report = this.#memory.once(this.#key, draw);
    if (!this.#isKiosk) this.#memory.charge(place.collector, view);
    return this.#send(view, place, report);
  }

  /** @param {View} view @param {Place} place @param {string} report */
  async #send(view, place, report) {
    this.#again = null;
    this.show(screens.wait(this.words.sending), true);
    this.announce("submit");
    const key = this.#key;
    try {
      await submit(view, place.collector, report);
      if (this.#isKiosk) this.#memory.forget(key);
      else this.#memory.markSent(key, place.collector);
      this.#receipt(view, place, report, this.words.sent);
      this.announce("complete");
    } catch (error) {
      this.#fail(error, view, () => this.#send(view, place, report));
    }
  }

  /** Reports of other people at this device, which the network kept back. @param {View} view @param {Place} place */
  async #sendWaiting(view, { collector }, /** @type {string[]} */ waiting) {
    for (const key of waiting) {
      try {
        await submit(view, collector, this.#memory.recall(key)?.report ?? "");
      } catch (error) {
        if (!(error instanceof ReportError)) return; // later, then
      }
      this.#memory.forget(key);
    }
  }

  /** @param {View} view @param {Place} place @param {string} report @param {string} title */
  #receipt(view, { collector }, report, title) {
    const link = `${collector}/s/${view.id}`;
    this.show(screens.receipt(this.words, view, report, { title, link, next: this.#next() }), true);
  }

  /** On a shared device, the way to the next person. */
  #next = () => this.#isKiosk && (() => this.#load(this.gone.signal));

  /**
   * Every failure has a screen, and none of them sends anything.
   * @param {unknown} error @param {View | null} view null while there is none @param {() => void} again
   */
  #fail(error, view, again) {
    const m = this.words;
    const detail = error instanceof BudgetError ? "" : Object(error).message; // that one speaks of epsilon
    const isClosed = error instanceof SurveyClosed;
    const isNetwork = error instanceof CollectorError;
    const [title, text] =
      error instanceof ReportError ? [isClosed ? m.closed : m.notTaken, m.notKept]
      : error instanceof BudgetError ? [m.refused, m.refusedText]
      : !isNetwork ? [m.altered, m.alteredText]
      : view ? [m.waiting, m.waitingText]
      : [m.unreachable, m.unreachableText];
    this.#again = isNetwork ? again : null;
    this.show(screens.notice(m, title, text, { detail, again: isNetwork && again, next: !!view && this.#next() }), view !== null);
    this.announce(isClosed ? "closed" : isNetwork && view ? "queued" : "error");
  }
}

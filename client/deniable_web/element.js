//@ts-check
/*
 * <deniable-survey src="https://collector/s/<id>">: a survey in a page, from consent to receipt.
 *
 * The way of an answer: native inputs -> randomize -> report kept -> report sent. The answer ends at `randomize`; what
 * is kept, sent, announced or shown afterwards is made of the report alone. Until this script runs, people see the
 * element's own content, which can send nothing.
 *
 * Events, none with an answer: deniable-ready, -start, -submit, -complete, -error, -closed.
 */

import { checkCeiling } from "./ceiling.js";
import { fetchSurvey, parseLink, submit } from "./collector.js";
import { encodeReport, randomize } from "./device.js";
import { BudgetError, CollectorError, ReportError, SurveyClosed, SurveyError } from "./errors.js";
import { Memory } from "./memory.js";
import { messages as m } from "./messages.js";
import * as screens from "./screens.js";
import { css } from "./style.js";

/** @typedef {import("./survey.js").Survey} Survey */
/** @typedef {import("./collector.js").Link} Link */

export class DeniableSurvey extends HTMLElement {
  #root = this.attachShadow({ mode: "open" });
  #memory = new Memory();
  #visit = 0;

  constructor() {
    super();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    this.#root.adoptedStyleSheets = [sheet];
  }

  connectedCallback() {
    this.#load();
    addEventListener("pagehide", this.#forget);
  }

  disconnectedCallback() {
    this.#visit++;
    this.#root.replaceChildren();
    removeEventListener("pagehide", this.#forget);
  }

  /** On a shared device the back button must not bring back what somebody chose. */
  #forget = () => this.#root.querySelector("form")?.reset();

  async #load() {
    const visit = ++this.#visit;
    this.#show(screens.loading());
    try {
      const { link, isEmbedded } = this.#link();
      const survey = await fetchSurvey(link);
      if (visit !== this.#visit) return; // taken out of the page meanwhile
      checkCeiling(survey);
      if (link.cohort !== null && !survey.cohorts.includes(link.cohort)) {
        throw new SurveyError("cohort: must be one of the survey's cohorts");
      }
      this.#open(survey, link, isEmbedded);
    } catch (error) {
      if (visit === this.#visit) this.#fail(error, null, () => this.#load());
    }
  }

  /** The link in `src`; on the survey's own page the fragment of the page belongs to it. */
  #link() {
    const link = parseLink(this.getAttribute("src") ?? "", document.baseURI);
    const isEmbedded = location.origin + location.pathname !== `${link.collector}/s/${link.survey}`;
    const cohort = link.cohort ?? (isEmbedded ? null : parseLink(location.href).cohort);
    return { link: { ...link, cohort }, isEmbedded };
  }

  /** @param {Survey} survey @param {Link} link @param {boolean} isEmbedded */
  #open(survey, link, isEmbedded) {
    const kept = this.#memory.recall(survey.id);
    const closed = screens.notOpen(survey, new Date().toISOString().slice(0, 10));
    const start = () => {
      this.#show(screens.questions(survey, (answers) => this.#answer(survey, link, answers)), true);
      this.#announce("start", survey);
    };
    if (kept?.sent.includes(link.collector)) {
      this.#show(screens.receipt(survey, kept.report, true));
    } else if (kept) {
      const again = () => this.#send(survey, link, kept.report);
      this.#show(screens.notice(m.waiting, [m.waitingText], { again }));
    } else if (closed) {
      this.#show(closed);
      this.#announce("closed", survey);
      return;
    } else {
      const isFleeting = !this.#memory.lasts;
      this.#show(screens.consent(survey, { cohort: link.cohort, isEmbedded, isFleeting, start }));
    }
    this.#announce("ready", survey);
  }

  /** Here the answers end. @param {Survey} survey @param {Link} link @param {Record<string, unknown>} answers */
  #answer(survey, link, answers) {
    const draw = () => encodeReport(randomize(survey, answers, { cohort: link.cohort }));
    return this.#send(survey, link, this.#memory.once(survey.id, draw));
  }

  /** @param {Survey} survey @param {Link} link @param {string} report */
  async #send(survey, link, report) {
    this.#show(screens.sending(), true);
    this.#announce("submit", survey);
    try {
      await submit(survey, link.collector, report);
      this.#memory.markSent(survey.id, link.collector);
      this.#show(screens.receipt(survey, report, false), true);
      this.#announce("complete", survey);
    } catch (error) {
      this.#fail(error, survey, () => this.#send(survey, link, report));
    }
  }

  /**
   * Every failure has a screen, and none of them sends anything.
   * @param {unknown} error @param {Survey | null} survey null while there is none @param {() => void} again
   */
  #fail(error, survey, again) {
    const isClosed = error instanceof SurveyClosed;
    const detail = error instanceof Error ? error.message : "";
    const screen =
      error instanceof ReportError ? screens.notice(isClosed ? m.closed : m.notTaken, [m.notKept], { detail })
      : error instanceof BudgetError ? screens.notice(m.refused, [m.refusedText])
      : !(error instanceof CollectorError) ? screens.notice(m.altered, [m.alteredText], { detail })
      : survey ? screens.notice(m.waiting, [m.waitingText], { detail, again })
      : screens.notice(m.unreachable, [m.unreachableText], { detail, again });
    this.#show(screen, survey !== null);
    this.#announce(isClosed ? "closed" : "error", survey);
  }

  /**
   * @param {Node} screen
   * @param {boolean} [isAsked] whether somebody pressed something, and so expects the focus to move
   */
  #show(screen, isAsked = false) {
    this.#root.replaceChildren(screen);
    if (isAsked) /** @type {HTMLElement | null} */ (this.#root.querySelector("[tabindex]"))?.focus();
  }

  /** @param {string} event @param {Survey | null} survey */
  #announce(event, survey) {
    const detail = Object.freeze(survey ? { survey: survey.id } : {});
    this.dispatchEvent(new CustomEvent(`deniable-${event}`, { bubbles: true, composed: true, detail }));
  }
}

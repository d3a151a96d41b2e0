//@ts-check
/* What both elements do: find the survey of a link, in somebody's language, and show one screen after another. */

// In this order esbuild writes their modules: the style sheet first, and what is alike close together, is smaller by gzip.
import { css } from "./style.js";
import { parseSurvey, translate } from "./survey.js";
import { checkCeiling } from "./ceiling.js";
import { fill, messagesIn, speechless } from "./messages.js";
import { fetchSurvey, fromFragment, parseLink, wayBy } from "./collector.js";
import { contact, notice } from "./screens.js";
import { utf8 } from "./sha.js";
import { BudgetError, CollectorError, NotInvited, ReportConflict, ReportError, SurveyClosed, UnusableMemory } from "./errors.js";
import { focusOn, h, ignore } from "./dom.js";

/** @typedef {import("./survey.js").View} View */
/**
 * @typedef {import("./collector.js").Link & { tongues: string[], read: string[], isOwn: boolean, more: URLSearchParams, way: import("./collector.js").Link & { isVia: boolean } }} Place
 *   `read` are the languages in which the survey's texts are shown; `way` is the link by which its collector is asked: by the
 *   place whose page this is, if it is one
 */

export const MINUTE = 6e4;
/** For how many milliseconds somebody who pressed something waits before a screen says that it takes a moment. */
const SOON = 150;
/** Attributes that are properties too, because frameworks set one or the other: whether it is a text, or a switch. */
const PROPERTIES = { src: true, name: true, isolated: false, kiosk: false };
/** @typedef {keyof typeof PROPERTIES} Property */
/**
 * What a collector, or an issuer, takes offence at.
 * @param {ReportError} error @param {View | null} view @param {import("./messages.js").Messages} m
 */
const refusal = (error, view, m) =>
  error instanceof SurveyClosed ? m.closed
  : error instanceof NotInvited ? m.unknown
  : error instanceof ReportConflict && view?.access !== "open" ? m.usedBefore
  : m.notTaken;

/** A moment as people read it here: its time, and its day where that is another one. @param {number} due @param {string} lang */
const moment = (due, lang) => {
  const isToday = new Date(due).toDateString() === new Date().toDateString();
  return new Date(due).toLocaleString(lang, { dateStyle: isToday ? undefined : "long", timeStyle: "short" });
};

/** @typedef {DeniableElement & { begin: (signal: AbortSignal) => Promise<void> }} Beginning what both elements have */

/** On a server that renders pages there is none, and importing this must not fail there. */
const Base = globalThis.HTMLElement ?? class {};

export class DeniableElement extends Base {
  /** The style sheet of all elements, to which some add more. */
  static css = css;
  static observedAttributes = [...Object.keys(PROPERTIES), "lang", "question", "place"];
  root = this.attachShadow({ mode: "open", delegatesFocus: "formAssociated" in this.constructor });
  /** Aborts what listens and loads when the element leaves its page, or shows another survey. @type {AbortController | undefined} */
  gone;
  words = speechless;
  /** On a shared device, when somebody was last seen to be there, or saw something new; 0 before. */
  stirred = 0;
  /** Whether this device forgets each person. */
  isShared = false;
  /** Whether somebody asked to leave no trace here: then the memory ends with the page. */
  isTraceless = false;
  /** Whether somebody pressed what the next screen comes from. */
  isAsked = false;
  /** What to do when the network is back. @type {((isAsked?: unknown) => void) | null} */
  later = null;
  /** When the collector wants to be asked again; in milliseconds since 1970. */
  due = 0;
  /** The address of the survey, once the link was read. */
  surveyId = "";
  /** The origin around the frame in which this runs. @type {string | null | false} */
  around = false;

  /** The timer of a screen that comes up if nothing else does. @type {ReturnType<typeof setTimeout> | undefined} */
  #soon;
  /** The survey, once it was read: whom to ask, also where this device does not answer it. @type {View | false} */
  #found = false;

  constructor() {
    super();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(new.target.css);
    this.root.adoptedStyleSheets = [sheet];
    this.#ignoreHalfClicks();
  }

  /**
   * Where the first half of a double click, or double tap, brought up another screen, the second one must neither choose nor
   * send anything there.
   */
  #ignoreHalfClicks() {
    /** @type {Element | undefined} */
    let first;
    const look = (/** @type {MouseEvent} */ event) => {
      if (event.detail < 2) first = /** @type {Element} */ (event.target); // 0 by the keyboard
      else if (first && (!first.getClientRects().length || getComputedStyle(first).visibility === "hidden")) ignore(event);
    };
    this.root.addEventListener("click", /** @type {EventListener} */ (look), true);
  }

  connectedCallback() {
    // What was set before this script ran hides the properties below.
    const own = /** @type {{ [name in Property]?: any }} */ (this);
    for (const name of /** @type {Property[]} */ (Object.keys(PROPERTIES))) {
      const given = own[name];
      if (delete own[name] && given) own[name] = given;
    }
    this.restart();
  }

  /** @param {string} _name @param {string | null} [old] @param {string | null} [now] */
  attributeChangedCallback(_name, old, now) {
    if (this.gone && old !== now) this.restart();
  }

  disconnectedCallback() {
    this.gone?.abort();
    this.gone = undefined;
    this.root.replaceChildren();
  }

  /** Begin from the start, with nothing of what was chosen before. @param {boolean} [isAsked] as for `show` */
  async restart(isAsked = false) {
    this.isAsked = isAsked;
    this.stirred = 0;
    this.#found = false;
    this.disconnectedCallback();
    const { signal } = (this.gone = new AbortController());
    // Frameworks set one attribute after the other. And browsers note where a request comes from: with the script's first
    // line on the stack they would parse all of it again for that.
    await 0;
    if (signal.aborted) return;
    // The back button must not bring back what somebody chose.
    addEventListener("pagehide", () => (this.isShared ? this.restart() : this.clear()), { signal });
    addEventListener("online", () => Date.now() >= this.due && this.later?.(), { signal });
    this.later = null;
    try {
      // A place has no survey of its own: the link stands behind the # of its page.
      if (this.isPlace) addEventListener("hashchange", () => this.restart(), { signal });
      if (this.link) await /** @type {Beginning} */ (/** @type {DeniableElement} */ (this)).begin(signal);
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  /** Whether this page is a place, on which people answer the surveys of others. */
  get isPlace() {
    return this.getAttribute("place") === "";
  }

  /** The link to the survey. */
  get link() {
    return this.isPlace ? location.hash.slice(1) : this.src;
  }

  /**
   * The link in `src`, and what its fragment says; on the survey's own pages their fragment belongs to it.
   * @returns {Place}
   */
  place() {
    const { link, isPlace } = this;
    const { collector, survey } = parseLink(link, document.baseURI);
    this.surveyId = survey;
    const here = location.origin + location.pathname;
    const isOwn = isPlace || ["s", "embed"].some((kind) => here === `${collector}/${kind}/${survey}`);
    const { hash } = isOwn && !isPlace ? location : new URL(link, document.baseURI);
    const more = new URLSearchParams(hash.slice(1));
    const spoken = /** @type {HTMLElement | null} */ (isOwn ? null : this.closest("[lang]"));
    // Who wrote the link, or the page around, chose one language; what the survey does not say in it, it says in its own.
    const tongues = this.tongues(more.get("lang"), spoken?.lang);
    const said = { survey, ...fromFragment(more) };
    const way = { ...said, collector: isPlace ? wayBy(location.origin, collector) : collector, isVia: isPlace };
    return { ...said, collector, tongues, read: (more.get("lang") ?? spoken?.lang) ? tongues.slice(0, 2) : tongues, isOwn, more, way };
  }

  /** The languages that somebody reads, the best first, each also without its region. @param {(string | null | undefined)[]} first */
  tongues = (...first) => [...first, ...navigator.languages].flatMap((tag) => (tag ? [tag, tag.split("-")[0]] : []));

  /**
   * The survey, and the words around it, so that a survey that cannot be loaded says so in the right language. Both are
   * taken from the attributes `document` and `catalogue` where a page has them ready, and checked the same.
   * @param {Place} place @param {AbortSignal} signal
   */
  async load(place, signal) {
    const published = this.getAttribute("document");
    const words = messagesIn(place.tongues, this.getAttribute("catalogue"));
    /** @type {import("./survey.js").Survey} */
    let survey;
    try {
      survey = await (published === null ? fetchSurvey(place.way) : parseSurvey(utf8(published), place.survey));
    } finally {
      this.words = await words;
    }
    signal.throwIfAborted();
    const view = (this.#found = translate(survey, place.read, this.words));
    checkCeiling(survey);
    return view;
  }

  /** @param {Node} screen @param {boolean} [isAsked] somebody pressed something, and expects the focus to move */
  show(screen, isAsked = this.isAsked) {
    clearTimeout(this.#soon);
    const { lang, dir } = this.words;
    this.root.replaceChildren(h("div", { lang, dir }, screen));
    for (const link of this.root.querySelectorAll("a")) {
      if (this.isShared) link.removeAttribute("href"); // no way out of a shared device
      else if (parent !== window) link.target = "_blank"; // many pages refuse to stand in a frame, and this one goes on
    }
    if (isAsked) focusOn(this.root);
    this.isAsked = false;
    this.stirred &&= Date.now();
  }

  /** Show what somebody who pressed something sees if nothing else is shown soon. @param {() => Node} make */
  showSoon(make) {
    const { gone } = this;
    this.#soon = setTimeout(() => gone === this.gone && this.show(make(), true), SOON);
  }

  /** On a shared device, the way to the next person. */
  another = () => this.isShared && (() => this.restart(true));

  /**
   * Every failure has a screen, and none of them sends anything.
   * @param {unknown} error @param {View | null} [view] null while there is none
   * @param {(isAsked?: unknown) => void} [again] what tries once more; a report is tried again by itself every minute
   * @param {unknown} [isAsked] otherwise the screen says it already
   * @param {string} [said] instead of that nothing was sent: that nothing was asked, which may be tried again
   */
  fail(error, view = null, again = () => this.restart(true), isAsked = true, said = "") {
    const m = this.words;
    // Those two speak of epsilon, and for programmers.
    const detail = error instanceof BudgetError || error instanceof UnusableMemory ? "" : Object(error).message;
    const isClosed = error instanceof SurveyClosed;
    const isNetwork = error instanceof CollectorError;
    const [title, text] =
      error instanceof ReportError ? [refusal(error, view, m), view ? `${m.tooLate} ${m.notKept}` : m.notKept]
      : error instanceof BudgetError ? [m.refused, m.refusedText]
      : error instanceof UnusableMemory ? [m.refused, m.unusable]
      : !isNetwork ? [m.altered, m.alteredText]
      : view ? [m.waiting, this.isTraceless ? m.waitingTraceless : m.waitingText]
      : [m.unreachable, m.unreachableText];
    this.later = isNetwork ? again : null;
    this.due = isNetwork ? Date.now() + 1000 * error.seconds : 0;
    if (isNetwork && view) this.#comeBack(again);
    const isComing = view && !this.isTraceless;
    const busy = isNetwork && error.seconds ? `${fill(m.busy, { time: moment(this.due, m.lang) })} ${isComing ? m.comesBack : ""}` : "";
    if (isNetwork && !isAsked) {
      const due = this.root.querySelector("[role=status]");
      if (due) due.textContent = busy;
      return;
    }
    const known = view ?? this.#found;
    const ways = {
      name: isNetwork ? "waiting" : isClosed ? "closed" : "refused",
      detail,
      again: (isNetwork || !!said) && again,
      next: !!view && this.another(),
      more: h("p", { role: "status" }, busy),
      ask: known && contact(m, known, view ? m.contactCare : m.contactShows),
    };
    this.show(notice(m, title, said || text || m.unreachableText, ways), !!view || !!said || this.isAsked);
    this.announce(isClosed ? "closed" : isNetwork && view ? "queued" : "error");
  }

  /**
   * Try once more in a minute, or when the collector wants it. In steps of a minute, because a device that sleeps runs no
   * timers, and because timers know no month.
   * @param {() => void} again
   */
  #comeBack(again) {
    setTimeout(() => {
      if (this.later !== again) return;
      if (Date.now() >= this.due) again();
      else this.#comeBack(again);
    }, MINUTE);
  }

  /** Forget what was chosen and not yet mixed. @param {ParentNode} [root] where that is */
  clear(root = this.root) {
    root.querySelector("form")?.reset();
    root.querySelectorAll("[type=search]").forEach((each) => each.dispatchEvent(new Event("input")));
    /** @type {HTMLElement | null} */ (this.root.activeElement)?.blur(); // focus would tell what was chosen
  }

  /** @param {string} event @param {object | false} [detail] never an answer */
  announce(event, detail = {}) {
    const told = Object.freeze({ survey: this.surveyId, ...detail });
    this.dispatchEvent(new CustomEvent(`deniable-${event}`, { bubbles: true, composed: true, detail: told }));
    if (this.around) parent.postMessage({ deniable: event, ...told }, this.around);
  }
}

// elements.d.ts declares them.
for (const [name, isText] of Object.entries(PROPERTIES)) {
  Object.defineProperty(DeniableElement.prototype, name, {
    get() {
      const text = this.getAttribute(name);
      return isText ? (text ?? "") : text !== null && text !== "false"; // the word stands for an attribute that is not there
    },
    set(value) {
      if (isText ? value == null : !value || value === "false") this.removeAttribute(name);
      else this.setAttribute(name, isText ? value : "");
    },
  });
}

/**
 * Make a tag of an element, unless the page has one of that name, or there is no page.
 * @param {string} name @param {CustomElementConstructor} element
 */
export function register(name, element) {
  if (!globalThis.customElements?.get(name)) globalThis.customElements?.define(name, element);
}

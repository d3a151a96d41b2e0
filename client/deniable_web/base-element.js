//@ts-check
/* What both elements do: find the survey of a link, in somebody's language, and show one screen after another. */

import { fetchSurvey, parseLink } from "./collector.js";
import { focusOn } from "./form.js";
import { h } from "./dom.js";
import { messagesIn, speechless } from "./messages.js";
import { utf8 } from "./sha256.js";
import { css } from "./style.js";
import { parseSurvey } from "./survey.js";

/** @typedef {import("./collector.js").Link & { languages: string[], isOwn: boolean, more: URLSearchParams }} Place */

/** On a server that renders pages there is none, and importing this must not fail there. */
const Base = globalThis.HTMLElement ?? class {};

export class DeniableElement extends Base {
  root = this.attachShadow({ mode: "open", delegatesFocus: "formAssociated" in this.constructor });
  /** Aborts what listens and loads when the element leaves its page. */
  gone = new AbortController();
  words = speechless;
  /** The address of the survey, once the link was read. */
  surveyId = "";
  /** The origin around the frame in which this runs. @type {string | null} */
  host = null;

  constructor() {
    super();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    this.root.adoptedStyleSheets = [sheet];
  }

  /** @returns {AbortSignal} that ends when the element leaves its page */
  arrive() {
    const { signal } = (this.gone = new AbortController());
    // On a shared device the back button must not bring back what somebody chose.
    addEventListener("pagehide", () => this.clear(), { signal });
    return signal;
  }

  disconnectedCallback() {
    this.gone.abort();
    this.root.replaceChildren();
  }

  /**
   * The link in `src`, and what its fragment says; on the survey's own pages their fragment belongs to it.
   * @returns {Place}
   */
  place() {
    const { collector, survey } = parseLink(this.getAttribute("src") ?? "", document.baseURI);
    this.surveyId = survey;
    const here = location.origin + location.pathname;
    const isOwn = ["s", "embed"].some((kind) => here === `${collector}/${kind}/${survey}`);
    const { href, hash } = new URL(isOwn ? location.href : this.getAttribute("src") ?? "", document.baseURI);
    const more = new URLSearchParams(hash.slice(1));
    const around = /** @type {HTMLElement | null} */ (isOwn ? null : this.closest("[lang]"));
    const read = [more.get("lang"), around?.lang, ...navigator.languages];
    const languages = read.flatMap((tag) => (tag ? [tag, tag.split("-")[0]] : []));
    return { ...parseLink(href), languages, isOwn, more };
  }

  /**
   * The survey, and the words around it, so that a survey that cannot be loaded says so in the right language. Both are
   * taken from the attributes `document` and `catalogue` where a page has them ready, and checked the same.
   * @param {Place} place
   */
  async load(place) {
    // Browsers note where a request comes from. With the script's first line on the stack they would parse all of it
    // again for that.
    await 0;
    const published = this.getAttribute("document");
    const words = messagesIn(place.languages, this.getAttribute("catalogue"));
    try {
      return await (published === null ? fetchSurvey(place) : parseSurvey(utf8(published), place.survey));
    } finally {
      this.words = await words;
    }
  }

  /** @param {Node} screen @param {boolean} [isAsked] somebody pressed something, and expects the focus to move */
  show(screen, isAsked = false) {
    const { lang, dir } = this.words;
    this.root.replaceChildren(h("div", { lang, dir }, screen));
    if (isAsked) focusOn(this.root);
  }

  /** Forget what was chosen and not yet mixed. */
  clear() {
    this.root.querySelector("form")?.reset();
  }

  /** Frameworks write "false" where they mean that an attribute is not there. @param {string} name */
  says(name) {
    return ![null, "false"].includes(this.getAttribute(name));
  }

  /** @param {string} event @param {object} [detail] never an answer */
  announce(event, detail = {}) {
    const told = Object.freeze({ survey: this.surveyId, ...detail });
    this.dispatchEvent(new CustomEvent(`deniable-${event}`, { bubbles: true, composed: true, detail: told }));
    if (this.host) parent.postMessage({ deniable: event, ...told }, this.host);
  }
}

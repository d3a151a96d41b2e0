//@ts-check
/*
 * Two question types of SurveyJS. `{ type: "deniable" }` is one question: its answer ends on the device, and the survey's
 * data, events and autosave hold what chance made of it, and nothing else. `{ type: "deniable-survey" }` is a whole survey,
 * whose report goes to its collector: the data say whether it was sent.
 *
 * SurveyJS is handed over rather than imported, so that the types are of the very library that a page runs. They are drawn
 * by the renderer of questions of HTML, which every interface of SurveyJS has.
 */

/** @typedef {HTMLElement & { value?: string, validationMessage?: string }} Asked */

const QUESTION = "deniable";
const SURVEY = "deniable-survey";
const PLACE = '<div data-deniable-place=""></div>';

/** Add both question types to a SurveyJS. @param {any} Survey what `import * as Survey from "survey-core"` gives */
export function registerDeniableQuestion(Survey) {
  if (Survey.Serializer.findClass(QUESTION)) return;

  /** What both types are: a question in whose place an element stands. */
  class QuestionOfElement extends Survey.Question {
    /** @type {Asked | undefined} */
    asked;

    /** @param {string} name */
    constructor(name) {
      super(name);
      this.createLocalizableString("html", this).text = PLACE;
    }

    /** The renderer that draws it. */
    getTemplate() {
      return "html";
    }
    get html() {
      return PLACE;
    }
    get processedHtml() {
      return PLACE;
    }
    get locHtml() {
      return this.getLocalizableString("html");
    }
    get renderCssRoot() {
      return "";
    }

    /** @param {HTMLElement} root */
    afterRender(root) {
      super.afterRender(root);
      const place = root?.querySelector("[data-deniable-place]");
      if (!place || place.firstChild || this.isDesignMode) return;
      // On a shared device nothing is remembered, so whoever comes back to the page would draw a second time.
      if (this.isReadOnly || (this.kiosk && !this.isEmpty())) place.textContent = this.isEmpty() ? "" : "\u2713";
      else place.append((this.asked = this.makeElement()));
    }

    /** @param {string} tag @param {Record<string, string>} given its attributes @param {string} fallback */
    element(tag, given, fallback) {
      const asked = /** @type {Asked} */ (document.createElement(tag));
      for (const [key, value] of Object.entries(given)) asked.setAttribute(key, value);
      asked.toggleAttribute("kiosk", !!this.kiosk);
      if (this.survey?.locale) asked.lang = this.survey.locale;
      asked.textContent = fallback;
      return asked;
    }
  }

  class QuestionDeniable extends QuestionOfElement {
    getType() {
      return QUESTION;
    }

    makeElement() {
      const given = { name: this.name, question: this.questionId || this.name, src: this.src };
      const asked = this.element("deniable-question", given, "This question could not be loaded. Nothing was answered.");
      asked.addEventListener("change", () => {
        if (asked.value) this.value = asked.value;
      });
      return asked;
    }

    /** No way on without a value: a blank would tell. */
    hasRequiredError() {
      return this.isEmpty() && !this.isReadOnly;
    }
    /** @param {object[]} errors @param {boolean} isOnValueChanged @param {boolean} fireCallback */
    onCheckForErrors(errors, isOnValueChanged, fireCallback) {
      // Whoever clears the survey's data clears no device: what was drawn stays.
      if (this.isEmpty() && this.asked?.value) this.value = this.asked.value;
      const own = !isOnValueChanged && this.hasRequiredError() && this.asked?.validationMessage;
      if (own) errors.push(new Survey.CustomError(own, this));
      else super.onCheckForErrors(errors, isOnValueChanged, fireCallback);
    }
  }

  class QuestionDeniableSurvey extends QuestionOfElement {
    getType() {
      return SURVEY;
    }

    makeElement() {
      const asked = this.element("deniable-survey", { src: this.src }, "This survey could not be loaded. Nothing was sent.");
      asked.addEventListener("deniable-complete", () => (this.value = "sent"));
      asked.addEventListener("deniable-queued", () => (this.value = "waiting"));
      return asked;
    }
  }

  /** @param {string} type @param {any} made @param {string[]} more */
  const add = (type, made, ...more) => {
    const of = (/** @type {string} */ name) => new made(name);
    Survey.Serializer.addClass(type, ["src", ...more, { name: "kiosk:boolean", default: false }], () => of(""), "question");
    Survey.QuestionFactory.Instance.registerQuestion(type, of);
  };
  add(QUESTION, QuestionDeniable, "questionId");
  add(SURVEY, QuestionDeniableSurvey);
}

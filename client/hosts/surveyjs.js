//@ts-check
/*
 * A question type of SurveyJS, `{ type: "deniable" }`: its answer ends on the device. The survey's data, events and
 * autosave hold what chance made of it, and nothing else.
 *
 * SurveyJS is handed over rather than imported, so that the type is one of the very library that a page runs. It is drawn
 * by the renderer of questions of HTML, which every interface of SurveyJS has.
 */

/** @typedef {HTMLElement & { value?: string, validationMessage?: string }} Asked */

const TYPE = "deniable";
const PLACE = '<div data-deniable-place=""></div>';

/** Add the question type to a SurveyJS. @param {any} Survey what `import * as Survey from "survey-core"` gives */
export function registerDeniableQuestion(Survey) {
  if (Survey.Serializer.findClass(TYPE)) return;

  class QuestionDeniable extends Survey.Question {
    /** @type {Asked | undefined} */
    #asked;

    /** @param {string} name */
    constructor(name) {
      super(name);
      this.createLocalizableString("html", this).text = PLACE;
    }

    getType() {
      return TYPE;
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
      else place.append((this.#asked = this.#element()));
    }

    #element() {
      const asked = /** @type {Asked} */ (document.createElement("deniable-question"));
      const given = { name: this.name, question: this.questionId || this.name, src: this.src };
      for (const [key, value] of Object.entries(given)) asked.setAttribute(key, value);
      asked.toggleAttribute("kiosk", !!this.kiosk);
      if (this.survey?.locale) asked.lang = this.survey.locale;
      asked.textContent = "This question could not be loaded. Nothing was answered.";
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
      if (this.isEmpty() && this.#asked?.value) this.value = this.#asked.value;
      const own = !isOnValueChanged && this.hasRequiredError() && this.#asked?.validationMessage;
      if (own) errors.push(new Survey.CustomError(own, this));
      else super.onCheckForErrors(errors, isOnValueChanged, fireCallback);
    }
  }

  const keys = ["src", "questionId", { name: "kiosk:boolean", default: false }];
  Survey.Serializer.addClass(TYPE, keys, () => new QuestionDeniable(""), "question");
  Survey.QuestionFactory.Instance.registerQuestion(TYPE, (/** @type {string} */ name) => new QuestionDeniable(name));
}

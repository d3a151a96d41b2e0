//@ts-check
/*
 * <deniable-question name="q7" src="https://collector/s/<id>" question="affair">: one question in somebody else's
 * form. The form gets only what chance made of the answer; who stores it estimates from that (`deniable analyze`).
 *
 * It fails closed: until chance was mixed in there is no value, and the form says so instead of going out. It draws
 * once: what was drawn stays, whatever the form, the page or the back button do.
 */

// First, so that all style sheets stand beside each other in the bundle, and pack as well as one.
import { css, fields } from "./style.js";
import { asking } from "./style-asking.js";
import { dealt } from "./arrangement.js";
import { DeniableElement } from "./base-element.js";
import { weakness } from "./ceiling.js";
import { randomizeAnswer } from "./device.js";
import { button, card, h, heading, own, p, quiet } from "./dom.js";
import { SurveyError } from "./errors.js";
import { ask } from "./ask.js";
import { notice, strength } from "./screens.js";
import { FormMemory } from "./form-memory.js";

/** The attribute of the input that is ours. */
const OURS = "data-deniable";

export class DeniableQuestion extends DeniableElement {
  // More room than between the parts of a question, or a button would seem to belong to the question below it.
  /** @override */ static css = `${css}${fields}${asking}:host{margin-block:2rem}`;
  static formAssociated = true;
  internals = this.attachInternals();
  #memory = new FormMemory();

  /** What the form gets: libraries that read a form's inputs one by one find it too. */
  #field = h("input", { type: "hidden", [OURS]: "" });

  constructor() {
    super();
    // Whoever writes this page may change what stands in the element, and does not know of the input.
    new MutationObserver(() => {
      if (this.value && this.#field.parentNode !== this) this.append(this.#field);
    }).observe(this, { childList: true });
  }

  /** What chance made of the answer; empty before. */
  get value() {
    return this.#field.value;
  }
  get type() {
    return this.localName;
  }
  checkValidity() {
    return this.internals.checkValidity();
  }
  reportValidity() {
    return this.internals.reportValidity();
  }

  /** On a shared device the next person answers; on one's own, what was drawn stays. */
  formResetCallback() {
    if (this.kiosk) this.restart();
    else this.clear();
  }
  formAssociatedCallback() {
    this.#follow();
  }
  formDisabledCallback() {
    this.#follow();
  }

  /** @override @param {string} name @param {string | null} [old] @param {string | null} [now] */
  attributeChangedCallback(name, old, now) {
    this.#follow();
    // Once there is a value, neither another name nor another language asks again. Before, without the attribute
    // `question`, the name says which one it is.
    const isName = name === "name";
    if ((isName || name === "lang") && (this.value || (isName && this.hasAttribute("question")))) return;
    super.attributeChangedCallback(name, old, now);
  }

  /** What holds for the element holds for the input that stands for it in the form, and for those in which people choose. */
  #follow() {
    const field = this.#field;
    const form = this.getAttribute("form");
    field.name = this.name;
    field.toggleAttribute("form", form !== null);
    if (form) field.setAttribute("form", form);
    field.disabled = this.matches(":disabled");
    const set = this.root.querySelector("fieldset");
    if (set) set.disabled = field.disabled;
  }

  /** @override @param {boolean} [isAsked] */
  restart(isAsked) {
    this.#field.value = "";
    this.querySelectorAll(`[${OURS}]`).forEach((each) => each.remove()); // in a copy of an element that of another one
    this.#refuse();
    return super.restart(isAsked);
  }

  /** @param {AbortSignal} signal */
  async begin(signal) {
    const place = this.place();
    const { collector } = place;
    this.isShared = this.kiosk;
    const survey = await this.load(place, signal);
    const id = this.getAttribute("question") ?? this.name;
    const question = survey.questions.find((each) => each.id === id);
    if (question?.askIf) throw new SurveyError(`question ${id}: has a filter, and a form cannot tell whether it applies`);
    if (!question || question.group) throw new SurveyError("question: must be one of the survey's that is asked alone");
    const unit = /** @type {import("./group.js").Kept} */ ((await survey.keyed()).find(({ members }) => members[0].id === id));
    const m = this.words;
    const hold = (/** @type {unknown} */ value, isAsked = false) => {
      this.#field.value = String(value);
      this.#follow();
      this.append(this.#field);
      this.internals.setValidity({});
      this.show(card(quiet(own(question.text)), heading(m.mixed, "h2")), isAsked); // so that screen readers say it
      this.dispatchEvent(new Event("change", { bubbles: true }));
      this.announce("complete");
    };
    // The survey may have asked this already, here or under another title: then nothing is drawn.
    const known = this.kiosk ? undefined : await this.#memory.value(unit, collector);
    const { totals, kept, isSame } = await this.#memory.look(survey, collector, this.kiosk || known !== undefined);
    if (signal.aborted) return;
    this.#refuse();
    const open = () => {
      const asked = ask(m, dealt(question));
      const mix = button(m.mix, async () => {
        const answer = asked.answer();
        if (asked.check()) return asked.focus();
        mix.disabled = true; // a second press draws nothing more, and announces nothing
        const draw = () => randomizeAnswer(question, answer, undefined, !this.kiosk);
        try {
          const value = this.kiosk ? draw() : await this.#memory.value(unit, collector, draw);
          if (!signal.aborted) hold(value, true);
        } catch (error) {
          if (!signal.aborted) this.fail(error);
        }
      });
      const notes = this.kiosk ? [m.kiosk] : [isSame && m.same, !this.#memory.lasts && m.fleeting];
      asked.set.className = ""; // the form around it has its own frames
      asked.set.append(
        strength(m, weakness(survey, totals[0])),
        quiet(`${m.can}: ${m.canSite}`),
        ...notes.flatMap((note) => (note ? [p(note, "box")] : [])),
        quiet(m.mixFirst),
        mix,
      );
      const submit = (/** @type {Event} */ event) => event.preventDefault(); // Enter
      this.show(h("form", { novalidate: "", autocomplete: "off", submit }, asked.set));
      this.#follow();
    };
    if (this.kiosk && (kept || isSame)) this.show(notice(m, m.sentBefore, m.kioskOther, { next: open }));
    else if (known === undefined) open();
    this.announce("ready");
    if (known !== undefined) hold(known);
  }

  /** @override @param {unknown} error */
  fail(error) {
    super.fail(error);
    this.#refuse(/** @type {any} */ (this.root.querySelector("h1")).textContent);
  }

  /** Keep the form from going out without a value. @param {string} [why] what the browser says when somebody submits it */
  #refuse(why = this.words.mixFirst ?? this.words.unreachable) {
    this.internals.setValidity({ customError: true }, why);
  }
}

// What fields say of themselves; elements.d.ts declares it.
for (const name of ["form", "labels", "validationMessage", "validity", "willValidate"]) {
  Object.defineProperty(DeniableQuestion.prototype, name, {
    get() {
      return /** @type {any} */ (/** @type {DeniableQuestion} */ (this).internals)[name];
    },
    // React sets properties where there are any: of these, `form` is an attribute to set. The others cannot be set.
    set(value) {
      if (name !== "form") return;
      if (value == null) this.removeAttribute(name);
      else this.setAttribute(name, value);
    },
  });
}

//@ts-check
/*
 * <deniable-question name="q7" src="https://collector/s/<id>" question="affair">: one question in somebody else's
 * form. The form gets only what chance made of the answer; who stores it estimates from that (`deniable analyze`).
 *
 * It fails closed: until chance was mixed in there is no value, and the form says so instead of going out. It draws
 * once: what was drawn stays, whatever the form, the page or the back button do.
 */

import { DeniableElement } from "./base-element.js";
import { checkCeiling } from "./ceiling.js";
import { randomizeAnswer } from "./device.js";
import { button, card, h, p, quiet } from "./dom.js";
import { SurveyError } from "./errors.js";
import { ask } from "./form.js";
import { Memory } from "./memory.js";
import { notice } from "./screens.js";
import { translate } from "./survey.js";

export class DeniableQuestion extends DeniableElement {
  static formAssociated = true;
  #internals = this.attachInternals();
  #memory = new Memory();

  /** What the form gets: libraries that read a form's inputs one by one find it too. */
  #field = h("input", { type: "hidden" });

  /** What chance made of the answer; empty before. */
  get value() {
    return this.#field.value;
  }
  get validity() {
    return this.#internals.validity;
  }
  reportValidity() {
    return this.#internals.reportValidity();
  }

  formResetCallback() {
    this.clear();
  }

  async connectedCallback() {
    const signal = this.arrive();
    this.#refuse();
    try {
      const place = this.place();
      const survey = await this.load(place);
      if (signal.aborted) return;
      const id = this.getAttribute("question") ?? this.getAttribute("name");
      const question = translate(survey, place.languages, this.words).questions.find((each) => each.id === id);
      if (!question) throw new SurveyError("question: must be one of the survey's");
      checkCeiling(survey);
      const { collector } = place;
      const hold = (/** @type {unknown} */ value) => {
        this.#field.name = this.getAttribute("name") ?? "";
        this.#field.value = String(value);
        this.replaceChildren(this.#field); // one, also in a copy of an element that had one
        this.#internals.setValidity({});
        this.show(card(p(this.words.mixed, "lead")));
        this.dispatchEvent(new Event("change", { bubbles: true }));
        this.announce("complete");
      };
      // The survey may have asked this already, here or under another title: then nothing is drawn.
      const known = await this.#memory.value(question, collector);
      if (signal.aborted) return;
      if (known !== undefined) {
        this.announce("ready");
        return hold(known);
      }
      await this.#memory.look(survey, collector);
      const asked = ask(this.words, question);
      const mix = button(this.words.mix, async () => {
        const answer = asked.answer();
        if (asked.mark(answer === undefined)) return asked.inputs[0].focus();
        try {
          hold(await this.#memory.value(question, collector, () => randomizeAnswer(question, answer)));
        } catch (error) {
          this.#fail(error);
        }
      });
      const m = this.words;
      asked.set.append(quiet(`${m.can}: ${m.canSite}`), quiet(m.mixFirst), mix);
      const submit = (/** @type {Event} */ event) => event.preventDefault(); // Enter
      this.show(h("form", { autocomplete: "off", submit }, asked.set));
      this.#refuse();
      this.announce("ready");
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    this.show(notice(this.words, "", "", { detail: Object(error).message }));
    this.announce("error");
  }

  /** Keep the form from going out without a value. */
  #refuse() {
    this.#internals.setValidity({ customError: true }, this.words.mixFirst ?? this.words.unreachable);
  }
}

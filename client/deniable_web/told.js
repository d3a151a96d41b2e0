//@ts-check
/*
 * <deniable-told src="https://collector">: what this browser remembers of the surveys of a collector, in words, what is left
 * of its limit, and how to forget. It stands on the collector's own page and reads the same memory as the surveys do.
 *
 * Opening it asks nobody for anything. Only a press fetches the questions of a survey, because a reply holds none.
 */

import { DeniableElement } from "./base-element.js";
import { CEILING, usedOf100, weakness } from "./ceiling.js";
import { fetchSurvey } from "./collector.js";
import { picture } from "./chance.js";
import { box, button, card, fold, folds, h, heading, minor, own, p, quiet, stack } from "./dom.js";
import { ELSEWHERE, isLeaving, withExit } from "./leaving.js";
import { fill, messagesIn, numbered } from "./messages.js";
import { exactOdds, sentInWords, sentOdds } from "./receipt.js";
import { css, screens } from "./style.js";
import { translate } from "./survey.js";
import { ToldMemory } from "./told-memory.js";

/** @typedef {import("./told-memory.js").Reply} Reply */

const leave = () => location.replace(ELSEWHERE);

/** A text with a paragraph for each of its lines. @param {string} text */
const lines = (text) => text.split("\n").map((each) => p(each));

export class DeniableTold extends DeniableElement {
  /** @override */ static css = css + screens;
  #memory = new ToldMemory();

  /** @param {AbortSignal} signal */
  async begin(signal) {
    const collector = new URL(this.src, document.baseURI).href.replace(/\/$/, "");
    const tongues = this.tongues();
    const m = (this.words = await messagesIn(tongues, this.getAttribute("catalogue")));
    const { replies, total, isEmpty } = await this.#memory.told(collector);
    if (signal.aborted) return;
    const left = Math.max(0, 100 - usedOf100(total, CEILING.survey));
    const home = h("a", { href: this.src, class: "go minor" }, m.deviceHome);
    const forget = minor(m.forget, () => {
      const really = button(m.forgetReally, async () => {
        await this.#memory.forgetAll();
        this.show(card(picture("empty"), heading(m.forgotten), home), true);
      });
      forget.replaceWith(p(m.forgetText), really);
      really.focus();
    });
    addEventListener("keydown", (event) => isLeaving(event) && leave(), { signal });
    this.show(
      card(
        picture(replies.length ? "device" : "empty"),
        heading(replies.length ? m.deviceTitle : m.deviceEmpty),
        ...lines(replies.length ? m.deviceText : m.deviceNone),
        !isEmpty && box(h("h2", {}, m.deviceForget), ...lines(m.deviceForgetText), forget), // also where Start has kept a draw or a token, and nothing was sent
        ...replies.map((reply) => this.#entry(collector, reply, tongues)),
        replies.length > 0 && box(h("h2", {}, m.deviceRoom), p(m.deviceLimit), p(fill(m.deviceLeft, { n: left }), "limit"), p(m.deviceBeyond)),
        home,
      ),
    );
  }

  /** @override @param {Node} screen @param {boolean} [isAsked] */
  show(screen, isAsked) {
    const words = this.words; // there are none before a catalogue is there
    super.show(words.exit ? withExit(words, leave, screen) : screen, isAsked);
  }

  /** One survey: whether the reply arrived, and on a press what it says. @param {string} collector @param {Reply} reply @param {string[]} tongues */
  #entry(collector, { survey, report, hasArrived }, tongues) {
    const m = this.words;
    const n = Object.keys(JSON.parse(report).values).length; // all that is known of it here
    const name = h("a", { href: `${collector}/s/${survey}` }, numbered(m, m.deviceSurvey, n));
    const bytes = stack(h("code", { dir: "ltr" }, survey));
    const shown = h("div", { role: "status", class: "stack" });
    const show = async () => {
      try {
        const view = translate(await fetchSurvey({ collector, survey, cohort: null, invitation: null }), tongues, m);
        name.replaceChildren(own(view.title));
        bytes.append(exactOdds(m, view));
        const weak = weakness(view);
        shown.replaceChildren(sentInWords(m, view, report, weak > 1 ? "" : m.mayBe), sentOdds(weak > 1 ? { ...m, odds: m.oddsWeak } : m, view, weak));
      } catch {
        shown.replaceChildren(quiet(`${m.unreachable}.`), minor(m.again, show)); // the reply itself may well have been sent
      }
    };
    return box(h("h2", {}, name), p(hasArrived ? m.sent : `${m.waiting}.`), quiet(m.deviceAsks), folds(fold(m.deviceWords, () => (show(), shown)), fold(m.experts, () => bytes)));
  }
}

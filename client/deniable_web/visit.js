//@ts-check
/*
 * A visit from Start on: the questions, the report, Send and the receipt; or what is left of an earlier one.
 *
 * The way of an answer: native inputs -> randomize -> report kept -> report sent. The answer ends at `randomize`; what
 * is kept, sent, announced or shown afterwards is made of the report alone.
 */

import { arranged } from "./arrangement.js";
import { buyToken } from "./buying.js";
import { randomize } from "./device.js";
import { headInSight } from "./dom.js";
import { ReportError } from "./errors.js";
import { page } from "./form.js";
import { stopsOf } from "./grid.js";
import { drawQuestions } from "./group.js";
import { carrying } from "./memory.js";
import { receipt } from "./receipt.js";
import { needed } from "./route.js";
import { wait } from "./screens.js";
import { deliver } from "./sending.js";
import { steps } from "./steps.js";
import { asking } from "./style-asking.js";

/**
 * @typedef {object} Visited Whose visit it is, and of what.
 * @property {import("./survey.js").View} view
 * @property {import("./base-element.js").Place} place
 * @property {() => import("./memory.js").Memory} memory which may become one that leaves no trace
 * @property {string} person on a shared device, who is answering: a random name
 * @property {number} weak how weak the protection is, as in ceiling.js
 * @property {import("./walk.js").Walk | undefined} walk where somebody is between the first screen and Send
 * @property {boolean} isHome whether the page is the survey's own
 * @property {string | false} history the address of the page on what this device has told
 */

/** @type {CSSStyleSheet | undefined} */
let sheet;

/** The style of questions, which the first screen does without. @param {ShadowRoot} root */
function wearAsking(root) {
  if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(asking);
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

export class Visit {
  #element;
  #visited;

  /** @param {import("./element.js").DeniableSurvey} element @param {Visited} visited */
  constructor(element, visited) {
    this.#element = element;
    this.#visited = visited;
    wearAsking(element.root);
  }

  /** The token comes first. Which questions are drawn is kept before any of them is shown. */
  async start() {
    const element = this.#element;
    const { view, place, memory } = this.#visited;
    const { gone, words: m, isShared } = element;
    const { access, issuer } = view;
    try {
      let credential = access === "open" ? undefined : /** @type {string} */ (place.invitation);
      if (issuer) credential = await buyToken(memory(), { ...view, issuer }, place.way, isShared);
      const asked = isShared ? drawQuestions(view) : await memory().asked(view);
      if (gone !== element.gone) return;
      const questions = arranged(view, needed(view.questions, asked));
      const isPage = view.layout === "page";
      const drawn = { ...view, questions, stops: stopsOf(questions) };
      const walk = /** @type {import("./walk.js").Walk} */ (this.#visited.walk);
      await walk.settled;
      if (gone !== element.gone) return;
      const ask = isPage ? page : steps;
      const send = (/** @type {Record<string, unknown>} */ answers) => this.answer(answers, { asked, credential });
      const form = ask(m, drawn, walk, send, !place.isOwn || parent !== window);
      walk.begin(() => form.isConnected || element.show(form));
      element.form = form;
      element.show(form, true);
      headInSight(form);
      element.announce("start");
    } catch (error) {
      const again = () => (element.show(wait(m, issuer ? m.checking : m.moment), true), this.start());
      if (gone === element.gone) element.fail(error, issuer ? null : view, again, true, issuer ? m.notAsked : "");
    }
  }

  /**
   * Here the answers end.
   * @param {Record<string, unknown>} [answers] @param {{ asked?: Set<string>, credential?: string }} [how]
   */
  async answer(answers = {}, how) {
    const element = this.#element;
    const { view, place, memory, person } = this.#visited;
    const { gone } = element;
    element.show(wait(element.words), true); // nothing to press while the device remembers
    try {
      let drawn;
      const draw = (/** @type {boolean} */ isKept) => (drawn = randomize(view, answers, { cohort: place.cohort, isKept, ...how }));
      const report = await memory().once(view, place.collector, draw, person, place.invitation);
      // If the page shows another survey by now, what is kept goes out when this one comes up again.
      if (gone !== element.gone) return;
      if (drawn) this.send(report, true);
      else element.restart(true); // this device had a report of the survey already
    } catch (error) {
      if (gone === element.gone) element.fail(error, view, () => {});
    }
  }

  /**
   * @param {string} report
   * @param {unknown} [isAsked] whether somebody did; otherwise nothing moves unless the report arrives
   */
  async send(report, isAsked) {
    const element = this.#element;
    const { view, place, memory, person } = this.#visited;
    element.later = null;
    if (isAsked) element.show(wait(element.words), true);
    const { gone } = element;
    element.announce("submit");
    try {
      await deliver(view, place.way.collector, report);
      // Where this fails, the same report goes once more the next time, and counts once.
      await (person ? memory().forget(`${view.id}:${person}`) : memory().markSent(view.id, place.collector)).catch(() => {});
      if (gone !== element.gone) return; // something else is on the screen by now
      this.receipt(report, element.words.done);
    } catch (error) {
      if (gone === element.gone) element.fail(error, view, (isAsked) => this.send(report, isAsked), !!isAsked);
    }
  }

  /** Reports of other people at this device, which the network kept back. @param {string[]} waiting */
  async sendWaiting(waiting) {
    const { view, place, memory } = this.#visited;
    for (const key of waiting) {
      try {
        await deliver(view, place.way.collector, await memory().recall(key, view));
      } catch (error) {
        if (!(error instanceof ReportError)) return; // later, then
      }
      await memory().forget(key);
    }
  }

  /** @param {string} report @param {string} title */
  receipt(report, title) {
    const element = this.#element;
    const { isPlace, words } = element;
    const { view, weak, isHome, history, place: { collector, invitation } } = this.#visited;
    const link = `${collector}/s/${view.id}`;
    const isMine = carrying(report, invitation) === report; // the link may be that of another person at this device
    // Nobody asked for the receipt of another day: then the focus stays where it is.
    const isNew = title === words.done;
    const how = { title, weak, link, isPlace, place: isPlace && !!view.places[0] && location.host, isMine, isNew, isKept: !this.#visited.person && this.#visited.memory().lasts, isHome, history, next: element.another() };
    element.show(receipt(words, view, report, how), isNew || element.isAsked);
    element.announce("complete", { returned: !isNew });
  }
}

//@ts-check
/*
 * A jsPsych plugin: one question whose answer ends on the device. The trial's data hold what chance made of it, and
 * nothing else: no answer, no choice that was changed, no time of either.
 *
 * Nothing is imported, so that a page may load jsPsych by a tag or an app by its name.
 */

/** Of jsPsych's ParameterType. */
const BOOL = 0;
const STRING = 1;
const HTML_STRING = 8;
const OBJECT = 12;

/** @typedef {{ src: string, question: string, name: string | null, kiosk: boolean, preamble: string, button_label: string, extensions?: unknown[] }} Trial */
/** @typedef {HTMLElement & { value?: string, checkValidity?: () => boolean, reportValidity?: () => boolean }} Asked */

export default class DeniableQuestionPlugin {
  static info = {
    name: "deniable-question",
    version: "0.1.0",
    parameters: {
      /** The link of the survey at its collector. */
      src: { type: STRING, default: undefined },
      /** The id of the question in that survey. */
      question: { type: STRING, default: undefined },
      /** The name of the value in the response; by default the id of the question. */
      name: { type: STRING, default: null },
      /** Whether several people use this device, so that it must remember nobody. */
      kiosk: { type: BOOL, default: false },
      /** HTML above the question. */
      preamble: { type: HTML_STRING, default: "" },
      /** The button that ends the trial. */
      button_label: { type: STRING, default: "Continue" },
    },
    data: {
      /** What chance made of the answer, by its name. */
      response: { type: OBJECT },
    },
  };

  /** @param {{ finishTrial: (data: object) => void }} jsPsych */
  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  /** @param {HTMLElement} display @param {Trial} trial */
  trial(display, trial) {
    // They record where the mouse was, what the camera saw or which keys were pressed: the answer itself.
    if (trial.extensions?.length) throw new Error("deniable-question: must run without extensions, got some");
    const name = trial.name ?? trial.question;
    const asked = /** @type {Asked} */ (document.createElement("deniable-question"));
    for (const [key, value] of Object.entries({ name, question: trial.question, src: trial.src })) asked.setAttribute(key, value);
    if (trial.kiosk) asked.setAttribute("kiosk", "");
    asked.textContent = "This question could not be loaded. Nothing was answered.";
    const onward = document.createElement("button");
    onward.className = "jspsych-btn";
    onward.textContent = trial.button_label;
    const form = document.createElement("form");
    // jsPsych centres texts, and makes what it shows as narrow as its shortest line.
    Object.assign(form.style, { textAlign: "start", width: "min(40rem, 90vw)", margin: "1rem auto" });
    form.append(asked, onward);
    if (trial.preamble) form.insertAdjacentHTML("afterbegin", trial.preamble);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // Where its script did not run the element has no value, and knows no validity.
      if (asked.value) this.jsPsych.finishTrial({ response: { [name]: asked.value } });
    });
    display.replaceChildren(form);
  }

  /**
   * Nobody's answer: a simulated trial has the value that its options give, or none.
   * @param {Trial} trial @param {string} _mode @param {{ data?: object }} options @param {() => void} loaded
   */
  simulate(trial, _mode, options, loaded) {
    loaded();
    this.jsPsych.finishTrial({ response: { [trial.name ?? trial.question]: "" }, ...options.data });
  }
}

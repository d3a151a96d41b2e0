//@ts-check
/*
 * Two jsPsych plugins. `DeniableQuestionPlugin` is one question whose answer ends on the device: the trial's data hold what
 * chance made of it, and nothing else: no answer, no choice that was changed, no time of either. `DeniableSurveyPlugin` is a
 * whole survey, whose report goes to its collector: the trial's data say whether it was sent.
 *
 * Nothing is imported, so that a page may load jsPsych by a tag or an app by its name.
 */

/** Of jsPsych's ParameterType. */
const BOOL = 0;
const STRING = 1;
const HTML_STRING = 8;
const OBJECT = 12;

/** @typedef {{ src: string, question: string, name: string | null, kiosk: boolean, preamble: string, button_label: string, extensions?: unknown[] }} Trial */
/** @typedef {{ src: string, kiosk: boolean, preamble: string, button_label: string, skip_label: string, extensions?: unknown[] }} SurveyTrial */
/** @typedef {HTMLElement & { value?: string, checkValidity?: () => boolean, reportValidity?: () => boolean }} Asked */

/** What both plugins take; a class has an object of its own, because jsPsych writes into it. */
const shared = () => ({
  /** The link of the survey at its collector. */
  src: { type: STRING, default: undefined },
  /** Whether several people use this device, so that it must remember nobody. */
  kiosk: { type: BOOL, default: false },
  /** HTML above the element. */
  preamble: { type: HTML_STRING, default: "" },
  /** The button that ends the trial. */
  button_label: { type: STRING, default: "Continue" },
});

/**
 * An element in a form whose button ends the trial.
 * @param {string} tag @param {Record<string, string>} given its attributes @param {Trial | SurveyTrial} trial
 */
function framed(tag, given, trial) {
  // They record where the mouse was, what the camera saw or which keys were pressed: the answer itself.
  if (trial.extensions?.length) throw new Error(`${tag}: must run without extensions, got some`);
  const asked = /** @type {Asked} */ (document.createElement(tag));
  for (const [key, value] of Object.entries(given)) asked.setAttribute(key, value);
  if (trial.kiosk) asked.setAttribute("kiosk", "");
  const onward = document.createElement("button");
  onward.className = "jspsych-btn";
  onward.textContent = trial.button_label;
  const form = document.createElement("form");
  // jsPsych centres texts, and makes what it shows as narrow as its shortest line.
  Object.assign(form.style, { textAlign: "start", width: "min(40rem, 90vw)", margin: "1rem auto" });
  form.append(asked, onward);
  if (trial.preamble) form.insertAdjacentHTML("afterbegin", trial.preamble);
  return { asked, onward, form };
}

export default class DeniableQuestionPlugin {
  static info = {
    name: "deniable-question",
    version: "0.1.0",
    parameters: {
      ...shared(),
      /** The id of the question in that survey. */
      question: { type: STRING, default: undefined },
      /** The name of the value in the response; by default the id of the question. */
      name: { type: STRING, default: null },
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
    const name = trial.name ?? trial.question;
    const { asked, form } = framed("deniable-question", { name, question: trial.question, src: trial.src }, trial);
    asked.textContent = "This question could not be loaded. Nothing was answered.";
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

export class DeniableSurveyPlugin {
  static info = {
    name: "deniable-survey",
    version: "0.1.0",
    parameters: {
      ...shared(),
      /** The button that ends the trial while no report was sent: nobody has to answer. */
      skip_label: { type: STRING, default: "Continue without answering" },
    },
    data: {
      /** `sent`: the collector has the report; `waiting`: the device keeps it until the network is back; `none`. */
      report: { type: STRING },
    },
  };

  /** @param {{ finishTrial: (data: object) => void }} jsPsych */
  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  /** @param {HTMLElement} display @param {SurveyTrial} trial */
  trial(display, trial) {
    const { asked, onward, form } = framed("deniable-survey", { src: trial.src }, trial);
    asked.textContent = "This survey could not be loaded. Nothing was sent.";
    onward.textContent = trial.skip_label;
    let report = "none";
    const heard = (/** @type {string} */ what) => () => {
      report = what;
      onward.textContent = trial.button_label;
    };
    asked.addEventListener("deniable-complete", heard("sent"));
    asked.addEventListener("deniable-queued", heard("waiting"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.jsPsych.finishTrial({ report });
    });
    display.replaceChildren(form);
  }

  /**
   * Nobody's report: a simulated trial sends nothing.
   * @param {SurveyTrial} _trial @param {string} _mode @param {{ data?: object }} options @param {() => void} loaded
   */
  simulate(_trial, _mode, options, loaded) {
    loaded();
    this.jsPsych.finishTrial({ report: "none", ...options.data });
  }
}

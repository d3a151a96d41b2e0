import type { JsPsych, JsPsychPlugin, ParameterType, TrialType } from "jspsych";

declare const info: {
  readonly name: "deniable-question";
  readonly version: string;
  readonly parameters: {
    /** The link of the survey at its collector. */
    readonly src: { readonly type: ParameterType.STRING; readonly default: undefined };
    /** The id of the question in that survey. */
    readonly question: { readonly type: ParameterType.STRING; readonly default: undefined };
    /** The name of the value in the response; by default the id of the question. */
    readonly name: { readonly type: ParameterType.STRING; readonly default: null };
    /** Whether several people use this device, so that it must remember nobody. */
    readonly kiosk: { readonly type: ParameterType.BOOL; readonly default: false };
    /** HTML above the question. */
    readonly preamble: { readonly type: ParameterType.HTML_STRING; readonly default: "" };
    /** The button that ends the trial. */
    readonly button_label: { readonly type: ParameterType.STRING; readonly default: "Continue" };
  };
  readonly data: {
    /** What chance made of the answer, by its name. */
    readonly response: { readonly type: ParameterType.OBJECT };
  };
};

/** One question whose answer ends on the device: the trial's data hold what chance made of it. */
export default class DeniableQuestionPlugin implements JsPsychPlugin<typeof info> {
  static info: typeof info;
  constructor(jsPsych: JsPsych);
  trial(display: HTMLElement, trial: TrialType<typeof info>): void;
  simulate(trial: TrialType<typeof info>, mode: string, options: { data?: object }, loaded: () => void): void;
}

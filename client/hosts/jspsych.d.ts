import type { JsPsych, JsPsychPlugin, ParameterType, TrialType } from "jspsych";

type Shared = {
  /** The link of the survey at its collector. */
  readonly src: { readonly type: ParameterType.STRING; readonly default: undefined };
  /** Whether several people use this device, so that it must remember nobody. */
  readonly kiosk: { readonly type: ParameterType.BOOL; readonly default: false };
  /** HTML above the element. */
  readonly preamble: { readonly type: ParameterType.HTML_STRING; readonly default: "" };
  /** The button that ends the trial. */
  readonly button_label: { readonly type: ParameterType.STRING; readonly default: "Continue" };
};

type QuestionInfo = {
  readonly name: "deniable-question";
  readonly version: string;
  readonly parameters: Shared & {
    /** The id of the question in that survey. */
    readonly question: { readonly type: ParameterType.STRING; readonly default: undefined };
    /** The name of the value in the response; by default the id of the question. */
    readonly name: { readonly type: ParameterType.STRING; readonly default: null };
  };
  readonly data: {
    /** What chance made of the answer, by its name. */
    readonly response: { readonly type: ParameterType.OBJECT };
  };
};

type SurveyInfo = {
  readonly name: "deniable-survey";
  readonly version: string;
  readonly parameters: Shared & {
    /** The button that ends the trial while no report was sent: nobody has to answer. */
    readonly skip_label: { readonly type: ParameterType.STRING; readonly default: "Continue without answering" };
  };
  readonly data: {
    /** `sent`: the collector has the report; `waiting`: the device keeps it until the network is back; `none`. */
    readonly report: { readonly type: ParameterType.STRING };
  };
};

/** One question whose answer ends on the device: the trial's data hold what chance made of it. */
export default class DeniableQuestionPlugin implements JsPsychPlugin<QuestionInfo> {
  static info: QuestionInfo;
  constructor(jsPsych: JsPsych);
  trial(display: HTMLElement, trial: TrialType<QuestionInfo>): void;
  simulate(trial: TrialType<QuestionInfo>, mode: string, options: { data?: object }, loaded: () => void): void;
}

/** A whole survey whose report goes to its collector: the trial's data say whether it was sent. */
export class DeniableSurveyPlugin implements JsPsychPlugin<SurveyInfo> {
  static info: SurveyInfo;
  constructor(jsPsych: JsPsych);
  trial(display: HTMLElement, trial: TrialType<SurveyInfo>): void;
  simulate(trial: TrialType<SurveyInfo>, mode: string, options: { data?: object }, loaded: () => void): void;
}

import type { Question } from "survey-core";

/** What both types of question have. */
interface OfElement extends Question {
  /** The link of the survey at its collector. */
  src: string;
  /** Whether several people use this device, so that it must remember nobody. */
  kiosk: boolean;
}

/** A question of SurveyJS whose answer ends on the device: its value is what chance made of it. */
export interface QuestionDeniable extends OfElement {
  /** The id of the question in the survey; by default the question's name. */
  questionId: string;
}

/** A whole survey whose report goes to its collector: its value is `sent`, `waiting` for the network, or none. */
export interface QuestionDeniableSurvey extends OfElement {
  value: "sent" | "waiting" | undefined;
}

/** An element of a survey's JSON. */
export interface DeniableElement {
  type: "deniable";
  name: string;
  src: string;
  questionId?: string;
  kiosk?: boolean;
  title?: string;
}

/** An element of a survey's JSON that is a whole survey. */
export interface DeniableSurveyElement {
  type: "deniable-survey";
  name: string;
  src: string;
  kiosk?: boolean;
  isRequired?: boolean;
  title?: string;
}

/**
 * Add the question types `deniable` and `deniable-survey` to a SurveyJS.
 *
 * @param Survey what `import * as Survey from "survey-core"` gives
 */
export function registerDeniableQuestion(Survey: typeof import("survey-core")): void;

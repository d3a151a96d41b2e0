import type { Question } from "survey-core";

/** A question of SurveyJS whose answer ends on the device: its value is what chance made of it. */
export interface QuestionDeniable extends Question {
  /** The link of the survey at its collector. */
  src: string;
  /** The id of the question in that survey; by default the question's name. */
  questionId: string;
  /** Whether several people use this device, so that it must remember nobody. */
  kiosk: boolean;
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

/**
 * Add the question type `deniable` to a SurveyJS.
 *
 * @param Survey what `import * as Survey from "survey-core"` gives
 */
export function registerDeniableQuestion(Survey: typeof import("survey-core")): void;

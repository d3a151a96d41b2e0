//@ts-check
/*
 * How much a device lets a survey ask: its ceiling of epsilon, and where it starts to warn.
 *
 * The figures stand in code that runs on the device, so that no collector can raise them through a survey. They
 * are the same in shared/deniable/ceiling.py.
 */

import { BudgetError } from "./errors.js";

export const CEILING = Object.freeze({ question: 4, survey: 8 });
export const WARNING = Object.freeze({ question: 2, survey: 4 });

/** @typedef {import("./survey.js").Survey} Survey */

/** Throw a BudgetError unless the survey stays below the ceiling. @param {Survey} survey */
export function checkCeiling(survey) {
  for (const { id, mechanism } of survey.questions) {
    if (!(mechanism.epsilon <= CEILING.question)) {
      throw new BudgetError(
        `question "${id}": epsilon must be at most ${CEILING.question}, got ${mechanism.epsilon}`,
      );
    }
  }
  if (!(survey.epsilon <= CEILING.survey)) {
    throw new BudgetError(
      `survey: epsilon must be at most ${CEILING.survey}, got ${survey.epsilon}`,
    );
  }
}

/** Whether a question, or the whole survey, is protected so little that people are told. @param {Survey} survey */
export const weakProtection = ({ questions, epsilon }) =>
  epsilon > WARNING.survey || questions.some(({ mechanism }) => mechanism.epsilon > WARNING.question);

//@ts-check
/*
 * How much a device lets a survey ask: its ceiling of epsilon, and where it starts to warn.
 *
 * The figures stand in code that runs on the device, so that no collector can raise them through a survey. They
 * are the same in shared/deniable/privacy/ceiling.py. What one collector asks within 90 days, in however many surveys, stays
 * below the ceiling of a single one; what all of them ask, below twice that.
 */

import { HOLDS_AT } from "./catalogues/holds.js";
import { BudgetError } from "./errors.js";

export const CEILING = Object.freeze({ question: 4, survey: 8, device: 16 });
export const WARNING = Object.freeze({ question: 2, survey: 4 });

/** @typedef {import("./survey.js").Survey} Survey */

/** How much of a ceiling is used, in per cent, rounded up. @param {number} total @param {number} most */
export const usedOf100 = (total, most) => Math.ceil((100 * total) / most);

/** Throw a BudgetError unless the survey stays below the ceiling. @param {Survey} survey */
export function checkCeiling(survey) {
  for (const { id, epsilon } of survey.questions) hold(`question "${id}"`, epsilon, CEILING.question);
  hold("survey", survey.epsilon, CEILING.survey);
}

/** Refuses NaN too. @param {string} subject @param {number} epsilon @param {number} most */
export function hold(subject, epsilon, most) {
  if (!(epsilon <= most)) throw new BudgetError(`${subject}: epsilon must be at most ${most}, got ${epsilon}`);
}

/**
 * How weak the protection is, by the most telling question, by the whole survey and by all that its collector is told:
 * 0 where nobody can be sure of an answer, 1 where what is sent is a hint, 2 where people are warned.
 * @param {Survey} survey @param {number} [total] what its collector is told within 90 days, this survey included
 */
export function weakness({ questions, epsilon }, total = 0) {
  const sum = Math.max(epsilon, total) / WARNING.survey;
  const most = Math.max(sum, ...questions.map((each) => each.epsilon / WARNING.question));
  return +(most > 0.5) + +(most > 1);
}

/**
 * Of sentences by their names in a catalogue, those that hold at that `weakness`.
 * @param {number} weak @param {Record<string, any>} m the catalogue @param {readonly string[]} names
 */
export const said = (weak, m, ...names) => names.filter((name) => HOLDS_AT[name].includes(`${weak}`)).map((name) => m[name]).join(" ");

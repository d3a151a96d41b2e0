//@ts-check
/*
 * The device: where an answer ends and a report begins.
 *
 * Nothing in this module keeps, logs or throws an answer.
 */

import { AnswerError, NotInvited, ReportError } from "./errors.js";
import { drawQuestions, together, valuesOf } from "./group.js";
import { newReportId, systemWord } from "./randomness.js";
import { needed, routeOf } from "./route.js";
import { dumps } from "./strict-json.js";

/**
 * @typedef {object} Report Noisy values of one person. No field holds an answer.
 * @property {string} id 16 random bytes in hexadecimal: the key under which a report counts once
 * @property {string | null} cohort the label that the survey's author put on the link
 * @property {string} [credential] what lets the report count, in hexadecimal: an invitation or a token. Nobody stores it
 * @property {Readonly<Record<string, number | string | null>>} values question id to noisy value: a number, a text of 0
 *   and 1 for each option, or null for a question that was not drawn
 */

/**
 * Mix chance into the answers to a survey; the result is all that may leave the device.
 *
 * Draw once for each person: every further draw of the same answers gives more of them away.
 * @param {import("./survey.js").Survey} survey
 * @param {Readonly<Record<string, unknown>>} answers question id to the label of the chosen option, for every question
 *   that is asked, or that a filter of one is about: of ticks a list of labels, which may be empty; of a scale its label or number; of
 *   a number the number. An answer to a question that does not apply by the others is dropped: it is sent that it does not
 * @param {object} [options]
 * @param {string | null} [options.cohort] the label on the link, one of the survey's cohorts
 * @param {import("./randomness.js").Word} [options.word] drawn in the order of the questions, groups in that of their first ones
 * @param {string} [options.credential] the invitation, or the token, where the survey asks for one
 * @param {string} [options.id] 32 hexadecimal digits; of a token the first half of its nonce
 * @param {boolean} [options.isKept] with the values that a device keeps, for its memory, instead of those that it sends
 * @param {Iterable<string>} [options.asked] ids of the questions that were asked, as `drawQuestions` gives them; without it
 *   all are answered, and the first words draw which of them are sent
 * @returns {Report}
 */
export function randomize(
  survey,
  answers,
  { cohort = null, word = systemWord, credential, id = idOf(survey, credential), isKept, asked } = {},
) {
  if (!isCohort(survey, cohort)) throw new ReportError("cohort: must be one of the survey's cohorts");
  if (!isCredential(survey, { id, credential })) throw new NotInvited("credential: must be one of the survey");
  // Every answer is checked before the first word is drawn. Only own properties are answers: a question may be
  // called "constructor", which every object inherits.
  const given = new Map(Object.entries(answers));
  const due = new Set(asked ?? survey.questions.map(({ id }) => id));
  const shown = needed(survey.questions, due);
  // Also of what does not apply: an error where it does alone would tell that.
  for (const each of shown) if (given.has(each.id)) choiceOf(each, given.get(each.id));
  const { choices } = routeOf(shown, (each) => choiceOf(each, given.get(each.id)));
  const isShown = (/** @type {string} */ id) => choices.has(id);
  if (![...given.keys()].every(isShown)) throw new AnswerError("answers: must be to the survey's questions that are asked");
  const drawn = asked ? due : drawQuestions(survey, word);
  const find = (/** @type {import("./group.js").Unit} */ unit) => together(unit, (id) => (drawn.has(id) ? choices.get(id) : null));
  if (![...due].every(isShown) || !survey.units.every((unit) => unit.mechanism.takes(find(unit)))) {
    throw new AnswerError("asked: must be as many questions of each group as it draws, and all others");
  }
  const values = valuesOf(survey, (unit) => unit.mechanism.randomize(find(unit), word, isKept));
  return Object.freeze({ id, cohort, values: Object.freeze(values), ...(credential && { credential }) });
}

/**
 * Whether reports to a survey may carry this label, or none.
 * @param {import("./survey.js").Survey} survey @param {string | null} cohort
 */
export const isCohort = ({ cohorts, cohortRequired }, cohort) => (cohort === null ? !cohortRequired : cohorts.includes(cohort));

/** @param {import("./survey.js").Survey} survey @param {string} [credential] */
const idOf = ({ issuer }, credential) => (issuer && credential?.slice(4, 36)) || newReportId();

/**
 * Whether a report has what its survey asks for, an invitation or a token; the token belongs to this one report.
 * @param {import("./survey.js").Survey} survey @param {{ id: string, credential?: string }} report
 */
export const isCredential = ({ access, issuer }, { id, credential = "" }) =>
  RegExp(access === "open" ? "^$" : issuer ? `^0002${id}[0-9a-f]{672}$` : "^[0-9a-f]{32}$").test(credential);

/**
 * Mix chance into one answer alone, for a form that is not ours.
 * @param {import("./survey.js").Question} question @param {unknown} answer @param {import("./randomness.js").Word} word
 * @param {boolean} [isKept] all as in `randomize`
 */
export const randomizeAnswer = (question, answer, word = systemWord, isKept) =>
  question.mechanism.randomize(choiceOf(question, answer), word, isKept);

/**
 * An answer as its mechanism takes it: the number of an option, a list of them, or a number itself.
 * @param {import("./survey.js").Question} question @param {unknown} answer
 */
export function choiceOf({ id, kind, options, choices, exclusive, mechanism, askIf, notApplicable }, answer) {
  // The name of a question with a filter would tell that it applies.
  if (askIf && answer === undefined) throw new AnswerError("answers: must be to every question that applies");
  // By the place in the document, because choices may stand in another order here.
  const find = (/** @type {any} */ given) => {
    const label = kind.hasLevels && Number.isInteger(given) ? String(given) : given;
    return choices.includes(label) ? options.indexOf(label) : -1;
  };
  /** @type {any} */
  const choice = !kind.most ? answer : !kind.takesSeveral ? find(answer) : Array.isArray(answer) && Array.from(answer, find);
  const isMixed = choice?.[1] >= 0 && exclusive.some((each) => choice.includes(each));
  if (isMixed || !mechanism.takes(choice) || choice === notApplicable) throw new AnswerError(`answers["${id}"]: must be one that its question allows`);
  return choice;
}

/**
 * The JSON that is sent, and sent again: the same text at every try.
 * @param {Report} report
 */
export const encodeReport = ({ id, cohort, values, credential }) => dumps({ id, cohort, values, credential });

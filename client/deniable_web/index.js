//@ts-check
/* The library: what an author's own interface needs. `fetchSurvey`, `randomize`, `submit`; the rest is around them. */

import { DeniableError } from "./errors.js";

export { buyToken } from "./buying.js";
export { CEILING, checkCeiling } from "./ceiling.js";
export { CLIENT, fetchSurvey, hindrance, parseLink } from "./collector.js";
export { encodeReport, randomize, randomizeAnswer } from "./device.js";
export { drawQuestions } from "./group.js";
export { submit } from "./sending.js";
export {
  AnswerError,
  BudgetError,
  CollectorError,
  DeniableError,
  NotInvited,
  ParameterError,
  ReportConflict,
  ReportError,
  SurveyClosed,
  SurveyError,
  UnusableMemory,
} from "./errors.js";
export { MECHANISMS, mechanismFromPublished } from "./mechanisms/index.js";
export { FormMemory as Memory } from "./form-memory.js";
export { oddsSentences } from "./english.js";
// Errors by their names, which the elements' scripts do without.
Object.defineProperty(DeniableError.prototype, "name", {
  get() {
    return this.constructor.name;
  },
});

export { address, parseSurvey, translate } from "./survey.js";

/**
 * @typedef {import("./survey.js").Survey} Survey
 * @typedef {import("./survey.js").Question} Question
 * @typedef {import("./device.js").Report} Report
 * @typedef {import("./collector.js").Link} Link
 * @typedef {import("./sending.js").Receipt} Receipt
 */

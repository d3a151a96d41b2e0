//@ts-check
/* The library: everything that the element is made of, without the element. */

export { CEILING, checkCeiling } from "./ceiling.js";
export { CLIENT, fetchSurvey, parseLink, submit } from "./collector.js";
export { encodeReport, randomize } from "./device.js";
export {
  AnswerError,
  BudgetError,
  CollectorError,
  DeniableError,
  ParameterError,
  ReportConflict,
  ReportError,
  SurveyClosed,
  SurveyError,
} from "./errors.js";
export {
  DiscreteLaplace,
  Exponential,
  ForcedResponse,
  Geometric,
  KAry,
  MECHANISMS,
  Mean,
  Subset,
  TickBoxes,
  TwoCoin,
  Warner,
  mechanismFromPublished,
} from "./mechanisms/index.js";
export { Memory } from "./memory.js";
export { oddsSentences } from "./odds.js";
export { address, parseSurvey } from "./survey.js";

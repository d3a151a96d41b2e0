//@ts-check
/*
 * Everything this project raises on purpose:
 *
 * DeniableError
 *   ParameterError     weights that make no valid mechanism
 *   AnswerError        an answer outside its question's options (never says which answer)
 *   SurveyError        bytes that are not the survey of their address, or no survey
 *   ReportError        a report that does not fit its survey
 *     NotInvited       the invitation or token is not one of the survey
 *     ReportConflict   the same report id, or invitation, arrived before with other content
 *     SurveyClosed     the survey takes no reports at this time
 *   BudgetError        the device's ceiling or its ledger refuses what the survey asks
 *   UnusableMemory     what the device remembers cannot be read or written; nothing was drawn
 *   CollectorError     the collector cannot be reached, or answers something else than agreed
 *
 * A message reads "subject: expectation". A message about an answer never says what came.
 */

export class DeniableError extends Error {}
export class ParameterError extends DeniableError {}
export class AnswerError extends DeniableError {}
export class SurveyError extends DeniableError {}
export class ReportError extends DeniableError {}
export class NotInvited extends ReportError {}
export class ReportConflict extends ReportError {}
export class SurveyClosed extends ReportError {}
export class BudgetError extends DeniableError {}
export class UnusableMemory extends DeniableError {
  /** @override */ message = "memory: must be usable";
}
export class CollectorError extends DeniableError {
  /** In how many seconds the collector wants to be asked again, where it says so. */
  seconds = 0;
}

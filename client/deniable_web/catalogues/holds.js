//@ts-check
/* Written by `npm run catalogues` from words/: the sentences that people read at some strengths only, by name, and at which of 0, 1 and 2. */

/** @type {Readonly<Record<string, string>>} */
export const HOLDS_AT = {
  "quiz": "01",
  "chance": "01",
  "resultsList": "01",
  "resultsListWeak": "2",
  "weakSent": "2",
  "mayBe": "01",
  "unsure": "0",
  "hint": "1",
  "weak": "2",
  "process": "01",
  "why": "01",
  "noAdmission": "01",
  "cannot": "01",
  "guess": "2",
  "answerYes": "01",
  "answerYesWeak": "2",
  "answerHonest": "01",
  "answerSent": "01",
  "answerSentWeak": "2",
  "answerEmployer": "01",
  "answerEmployerWeak": "2",
  "answerHonestWeak": "2",
  "answerSure": "0",
  "answerSureHint": "1",
  "answerSureWeak": "2",
  "answerKept": "01",
  "answerResults": "01",
  "answerKeptWeak": "2",
  "answerResultsWeak": "2",
  "processWeak": "2",
  "whyWeak": "2"
};

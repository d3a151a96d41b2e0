//@ts-check
/* Written by `npm run catalogues` from words/: the sentences that people read at some strengths only, by name. */

/** @type {Readonly<Record<string, readonly number[]>>} */
export const HOLDS_AT = {
  "quiz": [
    0,
    1
  ],
  "chance": [
    0,
    1
  ],
  "weakSent": [
    2
  ],
  "unsure": [
    0
  ],
  "hint": [
    1
  ],
  "weak": [
    2
  ],
  "noAdmission": [
    0,
    1
  ],
  "cannot": [
    0,
    1
  ],
  "guess": [
    2
  ],
  "answerHonest": [
    0,
    1
  ],
  "answerSent": [
    0,
    1
  ],
  "answerSentWeak": [
    2
  ],
  "answerEmployer": [
    0,
    1
  ],
  "answerEmployerWeak": [
    2
  ],
  "answerHonestWeak": [
    2
  ],
  "answerKept": [
    0,
    1
  ],
  "answerResults": [
    0,
    1
  ],
  "answerKeptWeak": [
    2
  ],
  "answerResultsWeak": [
    2
  ]
};

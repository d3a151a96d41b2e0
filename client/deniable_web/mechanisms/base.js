//@ts-check
/* What every mechanism is: a frozen value with integer weights, and what follows from them. */

import { AnswerError, ParameterError, describe } from "../errors.js";
import { UNIT } from "../randomness.js";

/**
 * @typedef {object} Support How likely a report supports one option.
 * @property {number} ifTrue when it is the true answer
 * @property {number} ifOther when another one is
 */

/**
 * @typedef {object} Mechanism The randomiser of one question over `k` options, numbered from 0.
 * @property {string} name the name under which a survey publishes it; its meaning never changes
 * @property {number} k
 * @property {readonly Support[]} support probabilities of every option, in option order
 * @property {number} epsilon privacy loss of these very integers, in nats
 * @property {(answer: number, word?: import("../randomness.js").Word) => number} randomize
 *   mix chance into one answer; draws the same number of words for every answer
 */

/**
 * A published weight. 0 and 2**32 are certainties: some report would be impossible under one answer and possible
 * under another, which is no protection at all. 1 could be read as the probability 1.
 * @param {unknown} value @param {string} name @returns {number}
 */
export function weight(value, name) {
  // Number.isInteger is false for everything that is no number: true, "1" and [1] do not pass for 1.
  if (Number.isInteger(value) && Number(value) > 1 && Number(value) < UNIT) return Number(value);
  throw new ParameterError(`${name}: must be a 32-bit integer above 1, got ${describe(value)}`);
}

/**
 * Refuse what is no option. The message does not repeat the answer, so that no log can.
 * @param {unknown} answer @param {number} k
 */
export function checkAnswer(answer, k) {
  if (!Number.isInteger(answer) || Number(answer) < 0 || Number(answer) >= k) {
    throw new AnswerError(`answer: must be an integer in [0, ${k})`);
  }
}

/**
 * Support of the options no and yes, from the probabilities of sending Yes.
 * @param {number} yesIfYes @param {number} yesIfNo @returns {readonly Support[]}
 */
export const yesNoSupport = (yesIfYes, yesIfNo) => [
  { ifTrue: 1 - yesIfNo, ifOther: 1 - yesIfYes },
  { ifTrue: yesIfYes, ifOther: yesIfNo },
];

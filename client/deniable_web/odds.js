//@ts-check
/* What the noise means to a person: odds out of 100 people, never a bare number of privacy loss. */

/**
 * The odds of one question in words, computed from its mechanism's integers.
 * @param {import("./survey.js").Question} question @returns {string[]}
 */
export function oddsSentences({ type, mechanism: { support } }) {
  if (type === "yes-no") {
    const yes = { Yes: of100(support[1].ifTrue), No: of100(support[1].ifOther) };
    return Object.entries(yes).map(
      ([answer, n]) => `Of 100 people whose true answer is ${answer}, about ${n} send Yes and ${100 - n} send No.`,
    );
  }
  const kept = of100(support[0].ifTrue);
  return [`Of 100 people who choose an option, about ${kept} send it and ${100 - kept} send another one.`];
}

/**
 * The odds of the whole survey: how many people, at most, send nothing but true answers.
 * @param {import("./survey.js").Survey} survey @returns {string[]}
 */
export function wholeOdds({ questions }) {
  if (questions.length === 1) return [];
  const likeliest = questions.map(({ mechanism }) => Math.max(...mechanism.support.map((each) => each.ifTrue)));
  const n = of100(likeliest.reduce((product, each) => product * each, 1));
  return [`Of 100 people, about ${n} or fewer send their true answer to every question.`];
}

/** Round to whole people, but never say that nobody or everybody does what a few do or do not. @param {number} p */
const of100 = (p) => Math.min(Math.max(Math.floor(100 * p + 0.5), 1), 99);

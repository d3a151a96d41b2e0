//@ts-check
/*
 * The route: which questions apply to somebody by the answers before them, and which a device must ask to know it. Nothing of it
 * leaves the device: whom a question does not apply to sends the option for that, through the same chance.
 */

/**
 * @typedef {object} Filtered
 * @property {string} id
 * @property {import("./condition.js").Condition | null} askIf
 * @property {unknown} notApplicable the answer of whoever a question with a filter does not apply to, as its mechanism takes it
 */

/**
 * The questions to put to somebody so that those that are asked can be answered: these, and those that their filters are about.
 * @template {Filtered} Q
 * @param {readonly Q[]} questions @param {ReadonlySet<string>} asked ids
 */
export function needed(questions, asked) {
  const ids = new Set(asked);
  // Filters are about earlier questions, so one way back finds them all.
  for (const { id, askIf } of [...questions].reverse()) if (ids.has(id)) askIf?.named.forEach((each) => ids.add(each));
  return questions.filter(({ id }) => ids.has(id));
}

/**
 * Whether each question applies, as far as the answers tell: one with a filter does once all that its filter is about is answered
 * or does not apply.
 * @template {Filtered} Q
 * @param {readonly Q[]} questions
 * @param {(question: Q, n: number) => unknown} choiceOf an answer as its mechanism takes it; undefined where there is none yet
 * @returns {{ applies: boolean[], choices: Map<string, any> }} `choices` also of questions that do not apply
 */
export function routeOf(questions, choiceOf) {
  const choices = new Map();
  const applies = questions.map((question, n) => {
    const { id, askIf, notApplicable } = question;
    if (askIf && !askIf.named.every((each) => choices.has(each))) return false;
    if (askIf && !askIf.holds(choices)) {
      choices.set(id, notApplicable);
      return false;
    }
    const choice = choiceOf(question, n);
    if (choice !== undefined) choices.set(id, choice);
    return true;
  });
  return { applies, choices };
}

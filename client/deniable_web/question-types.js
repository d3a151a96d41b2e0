//@ts-check
/*
 * The question types, one descriptor for each, as in shared/deniable/survey/question_types.py.
 *
 * Everything that depends on a type asks its descriptor, so a type of a kind that is here already is one more line.
 */

/**
 * @typedef {object} QuestionType What holds for all questions of a type; what is left out does not.
 * @property {string} [like] the type whose mechanisms answer for it, where none names this one
 * @property {string} [extended] the type whose mechanisms answer for it with an option more, for whoever is not asked or declines
 * @property {string} [last] which options it may have that stand apart behind the others, in this order
 * @property {number} most how many options there may be; of numbers none, because the range is the mechanism's
 * @property {true} [isYesNo] whether people answer yes or no, which every language has its own words for
 * @property {true} [takesSeveral] whether one answer may be several options, or none of them
 * @property {true} [isRow] whether the options stand side by side, because they are short
 * @property {(options: string[], m: import("./messages.js").Messages) => string[]} [labels] what people choose from, where it is
 *   not the options in their language
 * @property {true} [hasStars] whether people choose among stars
 * @property {true} [hasLevels] whether the options are consecutive whole numbers, which have a mean too
 */

const MAX_OPTIONS = 1000;
const MAX_LEVELS = 101;

/**
 * How many stars of how many, and what the author says of them. @param {string[]} levels @param {import("./messages.js").Messages} m
 */
const inStars = (levels, m) =>
  levels.map((level) => {
    const [n, ...said] = level.split(" – ");
    return [m.stars?.replace("{n}", n).replace("{all}", `${levels.length}`), ...said].join(" – ");
  });

/** @type {[string, QuestionType][]} */
const types = [
  ["yes-no", { most: 2, isYesNo: true, extended: "choice", last: "decline", labels: ([, , ...more], m) => [m.no, m.yes, ...more] }],
  ["choice", { most: MAX_OPTIONS, last: "other,decline" }],
  ["ticks", { most: MAX_OPTIONS, takesSeveral: true, last: "other,none,decline" }],
  ["scale", { most: MAX_LEVELS, hasLevels: true, isRow: true, extended: "choice" }],
  ["rating", { most: 10, hasLevels: true, like: "scale", extended: "choice", hasStars: true, labels: inStars }],
  ["number", { most: 0 }],
];

/** By name. A Map, not an object: "constructor" and "__proto__" are no types. @type {ReadonlyMap<unknown, QuestionType>} */
export const QUESTION_TYPES = new Map(types);

/** The type whose mechanisms answer a question. @param {string} type @param {QuestionType} kind @param {boolean} isExtended */
export const answeredLike = (type, { extended, like }, isExtended) => (isExtended && extended) || (like ?? type);

//@ts-check
/*
 * Questions that share one epsilon: the device draws some of them by chance, whatever the answers, and asks only these.
 *
 * To a device a group is one thing to draw, keep and pay for, as a question alone is: a unit. So a group has a mechanism.
 */

import { Mechanism, compare, demand, integer, product, sum } from "./mechanisms/base.js";
import { KAry } from "./mechanisms/k-ary.js";
import { choose, unrank } from "./mechanisms/subset.js";
import { UNIT, below, systemWord } from "./randomness.js";

/** @typedef {import("./randomness.js").Word} Word */

const MAX_PATTERNS = 1000;

/**
 * @typedef {object} Unit What a device draws, keeps and pays for as one: a question, or a group of them.
 * @property {string} key under which devices remember it
 * @property {string} sent under which they remember what this survey sends of it
 * @property {Mechanism} mechanism
 * @property {readonly { id: string }[]} members one, or those of the group
 * @property {number} draw how many of them each person is asked
 */

/**
 * The mechanism of a group, `s` of whose questions are asked: by their own mechanisms, or all of them by one k-ary response
 * to the pattern of their options, of which their own mechanisms are the marginals.
 *
 * An answer is a list of answers, a report the JSON of a list of reports; null stands for what is not asked. Which
 * questions are asked tells nothing, so epsilon is that of the s dearest ones.
 *
 * T. T. Nguyen et al., "Collecting and analyzing data from smart device users with local differential privacy",
 * arXiv:1606.05053 (2016): sampling instead of splitting.
 */
export class GroupMechanism extends Mechanism {
  /**
   * @param {readonly Mechanism[]} mechanisms @param {unknown} s @param {Mechanism | null} joint to whole patterns
   * @param {readonly number[][] | null} [patterns] those that are possible, where some of the questions filter others
   */
  constructor(mechanisms, s, joint, patterns = null) {
    super();
    this.patterns = patterns;
    this.mechanisms = mechanisms;
    this.s = integer(s, 1, mechanisms.length);
    this.joint = joint;
    demand(mechanisms.every(({ second }) => !second)); // one draw of a group is all that is ever sent of it
    if (joint) {
      const { k, other } = /** @type {KAry} */ (joint);
      const options = mechanisms[0].hi + 1;
      // Of all patterns, one in `options` has the same option in one place: the others lie about that question.
      const keep = UNIT - (k - k / options) * other;
      const isMarginal = (/** @type {any} */ each, /** @type {number} */ n) =>
        patterns ?
          each.name === "unequal-k-ary" &&
          each.others.every((/** @type {number} */ weight, /** @type {number} */ v) => weight === other * patterns.filter((one) => one[n] === v).length)
        : each instanceof KAry && each.k === options && each.keep === keep;
      demand(joint.name === "k-ary" && k === (patterns?.length ?? options ** this.s) && mechanisms.every(isMarginal));
    }
    this.epsilon = sum(this.most(({ epsilon }) => epsilon));
    this.ratio = product(this.most(({ ratio }) => ratio, compare));
    Object.freeze(this);
  }

  /** @override */
  get cost() {
    return sum(this.most(({ cost }) => cost));
  }

  /**
   * A figure of the joint response, or else the s largest ones of all questions.
   * @template T @param {(mechanism: Mechanism) => T} figure @param {(one: T, another: T) => number} [order]
   */
  most(figure, order = (one, another) => Number(one) - Number(another)) {
    return (this.joint ? [this.joint] : this.mechanisms).map(figure).sort((a, b) => order(b, a)).slice(0, this.s);
  }

  /** Whether as many are answered as are asked; each answer is for its own mechanism to take. @override @param {unknown[]} answers */
  takes(answers) {
    return answers.filter((each) => each !== null).length === this.s;
  }

  /** @override @param {any} text */
  makes(text) {
    const values = JSON.parse(text);
    const good = this.mechanisms.map((each, n) => (values[n] !== null && each.makes(values[n]) ? values[n] : null));
    return JSON.stringify(good) === text && this.takes(good) && (!this.patterns || placeOf(good, this.patterns) >= 0);
  }

  /** @param {any[]} answers @param {Word} word */
  draw(answers, word) {
    const { mechanisms, joint, patterns } = this;
    if (joint && patterns) return JSON.stringify(patterns[Number(joint.randomize(placeOf(answers, patterns), word))]);
    // A pattern is a number to the base of the options, the first question its most significant digit.
    const options = mechanisms[0].hi + 1;
    const pattern = joint?.randomize(answers.reduce((all, each) => (each === null ? all : all * options + each), 0), word);
    let place = options ** this.s;
    const report = (/** @type {any} */ answer, /** @type {number} */ n) =>
      answer === null ? null
      : joint ? Math.floor(Number(pattern) / (place /= options)) % options
      : mechanisms[n].randomize(answer, word);
    return JSON.stringify(answers.map(report));
  }
}

/** @param {readonly unknown[]} answers @param {readonly number[][]} patterns */
const placeOf = (answers, patterns) => patterns.findIndex((each) => `${each}` === `${answers}`);

/**
 * The answers that somebody can give together to questions of which some filter others, in rising order; null where the group
 * has no joint response to them.
 * @param {readonly (import("./route.js").Filtered & { mechanism: Mechanism })[]} members @param {any} joint @param {unknown} s
 */
export function patternsOf(members, joint, s) {
  const ids = members.map(({ id }) => id);
  const options = members[0].mechanism.hi + 1;
  const isOfAll = joint?.k === options ** members.length && members.every(({ mechanism }) => mechanism.hi + 1 === options);
  if (!joint || s !== members.length || isOfAll || !members.some(({ askIf }) => askIf)) return null;
  /** @type {number[][]} */
  let found = [[]];
  members.forEach(({ askIf, mechanism: { hi } }, n) => {
    demand(!askIf || askIf.named.every((each) => ids.indexOf(each) < n && ids.includes(each)));
    found = found.flatMap((earlier) => {
      const applies = !askIf || askIf.holds(new Map(earlier.map((answer, place) => [ids[place], answer])));
      const answers = applies ? [...Array(hi + (askIf ? 0 : 1)).keys()] : [hi];
      return answers.map((each) => [...earlier, each]);
    });
    demand(found.length <= MAX_PATTERNS);
  });
  return found;
}

/** What there is for the questions of a unit, as its mechanism takes it. @param {Unit} unit @param {(id: string) => unknown} find */
export const together = ({ members }, find) => (members[1] ? members.map(({ id }) => find(id)) : find(members[0].id));

/**
 * The values of all questions, in the survey's order, out of those of its units.
 * @param {{ questions: readonly { id: string }[], units: readonly Unit[] }} survey @param {(unit: Unit) => any} make
 * @returns {Record<string, number | string | null>}
 */
export function valuesOf({ questions, units }, make) {
  const values = Object.fromEntries(questions.map(({ id }) => [id, null]));
  for (const unit of units) {
    const value = make(unit);
    unit.members.forEach(({ id }, n, members) => (values[id] = members[1] ? JSON.parse(value)[n] : value));
  }
  return values;
}

/**
 * Draw the questions that a person is asked: of each group as many as it says, and all that stand alone.
 *
 * Draw once for each person, as for answers. What is drawn does not depend on any answer, and tells nothing.
 * @param {{ units: readonly Unit[] }} survey @param {Word} [word]
 * @returns {Set<string>} their ids
 */
export const drawQuestions = ({ units }, word = systemWord) =>
  new Set(
    units.flatMap(({ members, draw }) => {
      const n = members.length;
      const isAsked = unrank(n, draw, below(choose(n, draw), word)); // where all are asked, of one draw, which takes no word
      return members.flatMap(({ id }, place) => (isAsked[place] ? [id] : []));
    }),
  );

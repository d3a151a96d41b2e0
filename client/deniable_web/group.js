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

const MAX_PATTERNS = 2 ** 16;

/**
 * @typedef {object} Unit What a device draws, keeps and pays for as one: a question, or a group of them.
 * @property {Mechanism} mechanism
 * @property {readonly import("./survey.js").Question[]} members one, or those of the group
 * @property {number} draw how many of them each person is asked
 * @property {object} asked what makes it the same: of a group what its survey says beside its questions
 */
/**
 * @typedef {Unit & { key: string, sent: string }} Kept a unit with the key under which devices remember it, and that under which they
 *   remember what this survey sends of it: the key, or that of a wave
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
   * @param {readonly number[][]} [patterns] what somebody can answer together to the questions that are asked
   */
  constructor(mechanisms, s, joint, patterns = []) {
    super();
    this.patterns = patterns;
    this.mechanisms = mechanisms;
    this.s = integer(s, 1, mechanisms.length);
    this.joint = joint;
    demand(mechanisms.every(({ second }) => !second)); // one draw of a group is all that is ever sent of it
    if (joint) {
      const { other } = /** @type {KAry} */ (joint);
      const held = (/** @type {number} */ n, /** @type {number} */ v) => patterns.filter((each) => each[n % this.s] === v).length;
      // Of an option chance has the patterns that hold it; what that leaves of all is what the truth has more.
      const isMarginal = (/** @type {Mechanism} */ { support }, /** @type {number} */ n) =>
        support?.every(({ ifOther }, v) => ifOther * UNIT === other * held(n, v));
      demand(joint.name === "k-ary" && joint.hi === patterns.length - 1 && mechanisms.every(isMarginal));
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
   * @template T @param {(mechanism: Mechanism) => T} figure @param {(one: any, another: any) => number} [order]
   */
  most(figure, order = (one, another) => one - another) {
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
    return JSON.stringify(good) === text && this.takes(good) && (!this.joint || this.placeOf(good) >= 0);
  }

  /** The number of the pattern of what is asked. @param {readonly unknown[]} answers */
  placeOf(answers) {
    const pattern = `${answers.filter((each) => each !== null)}`;
    return this.patterns.findIndex((each) => `${each}` === pattern);
  }

  /** @param {any[]} answers @param {Word} word */
  draw(answers, word) {
    const { mechanisms, joint, patterns } = this;
    const sent = joint && [...patterns[Number(joint.randomize(this.placeOf(answers), word))]];
    return JSON.stringify(answers.map((each, n) => (each === null ? null : sent ? sent.shift() : mechanisms[n].randomize(each, word))));
  }
}

/**
 * What somebody can answer together to questions that share a response, in rising order: all combinations of their options; or,
 * where some filter others and the response has fewer options than that, those that the filters leave.
 * @param {readonly import("./survey.js").Question[]} members @param {any} joint @param {any} s how many are asked
 */
export function patternsOf(members, joint, s) {
  const ids = members.map(({ id }) => id);
  // The last option of the longest: so many for each would be more than filters leave, unless all questions have as many.
  const most = Math.max(...members.map(({ mechanism }) => mechanism.hi));
  const isRouted = s === ids.length && members.some(({ askIf }) => askIf) && joint.k !== (most + 1) ** s;
  demand(members.every(({ kind, mechanism }) => !kind.takesSeveral && (isRouted || mechanism.hi === most)));
  /** @type {number[][]} */
  let found = [[]];
  for (const { askIf, mechanism: { hi } } of members.slice(0, s)) {
    const condition = isRouted ? askIf : null;
    demand(!condition?.named.some((each) => !ids.includes(each)));
    found = found.flatMap((earlier) => {
      const isAsked = !condition || condition.holds({ get: (id) => earlier[ids.indexOf(id)] });
      return (isAsked ? [...Array(condition ? hi : hi + 1).keys()] : [hi]).map((each) => [...earlier, each]);
    });
    demand(found.length <= MAX_PATTERNS);
  }
  return found;
}

/** What there is for the questions of a unit, as its mechanism takes it. @param {Unit} unit @param {(id: string) => unknown} find */
export const together = ({ members }, find) => (members[1] ? members.map(({ id }) => find(id)) : find(members[0].id));

/**
 * The values of all questions, in the survey's order, out of those of its units.
 * @template {Unit} U
 * @param {{ questions: readonly { id: string }[], units: readonly U[] }} survey @param {(unit: U) => any} make
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

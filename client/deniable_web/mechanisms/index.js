//@ts-check
/* The mechanisms: one file each, under the name that surveys publish. */

import { demand } from "./base.js";
import { DiscreteLaplace } from "./discrete-laplace.js";
import { DrawnBoxes } from "./drawn-boxes.js";
import { Exponential } from "./exponential.js";
import { FilteredPiecewise } from "./filtered-piecewise.js";
import { ForcedResponse } from "./forced-response.js";
import { Geometric } from "./geometric.js";
import { KAry } from "./k-ary.js";
import { Longitudinal } from "./longitudinal.js";
import { OneBitMean } from "./mean.js";
import { Piecewise } from "./piecewise.js";
import { Subset } from "./subset.js";
import { TickBoxes } from "./tick-boxes.js";
import { TwoCoin } from "./two-coin.js";
import { UnequalKAry } from "./unequal-k-ary.js";
import { Warner } from "./warner.js";

/** @typedef {{ published: string[], new (...weights: unknown[]): import("./base.js").Mechanism }} MechanismClass */

const classes = /** @type {MechanismClass[]} */ (
  [TwoCoin, Warner, ForcedResponse, KAry, Subset, TickBoxes, DrawnBoxes, Geometric, Exponential, OneBitMean, Piecewise, FilteredPiecewise, DiscreteLaplace, Longitudinal, UnequalKAry]
);

/** By name. A Map, not an object: "constructor" and "__proto__" are no mechanisms. @type {ReadonlyMap<unknown, MechanismClass>} */
export const MECHANISMS = new Map(classes.map((each) => [each.published[0], each]));

/**
 * Read a mechanism as a survey publishes it, refusing every other form.
 * @param {any} published
 */
export function mechanismFromPublished(published) {
  const kind = MECHANISMS.get(Object(published).name);
  // Each of them is a weight that the constructor demands, so as many keys are the same keys.
  demand(kind && Object.keys(published).length === kind.published.length);
  return new kind(...kind.published.slice(1).map((key) => published[key]));
}

export {
  DiscreteLaplace,
  DrawnBoxes,
  Exponential,
  FilteredPiecewise,
  ForcedResponse,
  Geometric,
  KAry,
  Longitudinal,
  OneBitMean,
  Piecewise,
  Subset,
  TickBoxes,
  TwoCoin,
  UnequalKAry,
  Warner,
};

//@ts-check
/* The mechanisms: one file each, under the name that surveys publish. */

import { demand } from "./base.js";
import { DiscreteLaplace } from "./discrete-laplace.js";
import { Exponential } from "./exponential.js";
import { ForcedResponse } from "./forced-response.js";
import { Geometric } from "./geometric.js";
import { KAry } from "./k-ary.js";
import { Mean } from "./mean.js";
import { Subset } from "./subset.js";
import { TickBoxes } from "./tick-boxes.js";
import { TwoCoin } from "./two-coin.js";
import { Warner } from "./warner.js";

/** @typedef {{ parameters: string[], new (...weights: unknown[]): import("./base.js").Mechanism }} MechanismClass */

// A Map, not an object: "constructor" and "__proto__" are no mechanisms.
/** @type {ReadonlyMap<unknown, MechanismClass>} */
export const MECHANISMS = new Map(
  /** @type {[string, MechanismClass][]} */ ([
    ["two-coin", TwoCoin],
    ["warner", Warner],
    ["forced-response", ForcedResponse],
    ["k-ary", KAry],
    ["subset", Subset],
    ["tick-boxes", TickBoxes],
    ["geometric", Geometric],
    ["exponential", Exponential],
    ["mean", Mean],
    ["discrete-laplace", DiscreteLaplace],
  ]),
);

/**
 * Read a mechanism as a survey publishes it, refusing every other form.
 * @param {any} published
 */
export function mechanismFromPublished(published) {
  const kind = MECHANISMS.get(Object(published).name);
  demand(kind && String(Object.keys(published).sort()) === String(["name", ...kind.parameters].sort()));
  return new kind(...kind.parameters.map((key) => published[key]));
}

export {
  DiscreteLaplace,
  Exponential,
  ForcedResponse,
  Geometric,
  KAry,
  Mean,
  Subset,
  TickBoxes,
  TwoCoin,
  Warner,
};

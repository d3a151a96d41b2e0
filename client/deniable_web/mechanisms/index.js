//@ts-check
/* The mechanisms: one file each, under the name that surveys publish. */

import { ParameterError } from "../errors.js";
import { KAry } from "./k-ary.js";
import { TwoCoin } from "./two-coin.js";
import { Warner } from "./warner.js";

/** @typedef {import("./base.js").Mechanism} Mechanism */
/** @typedef {{ parameters: string[], new (...weights: unknown[]): Mechanism }} MechanismClass */

// A Map, not an object: "constructor" and "__proto__" are no mechanisms.
/** @type {ReadonlyMap<unknown, MechanismClass>} */
export const MECHANISMS = new Map(
  /** @type {[string, MechanismClass][]} */ ([["two-coin", TwoCoin], ["warner", Warner], ["k-ary", KAry]]),
);

/**
 * Read a mechanism as a survey publishes it, refusing every other form.
 * @param {any} published
 */
export function mechanismFromPublished(published) {
  const kind = Object.hasOwn(Object(published), "name") && MECHANISMS.get(published.name);
  if (!kind) throw new ParameterError(`mechanism: name must be one of ${[...MECHANISMS.keys()].join(", ")}`);
  const wanted = ["name", ...kind.parameters].sort().join(", ");
  if (Object.keys(published).sort().join(", ") !== wanted) {
    throw new ParameterError(`mechanism ${published.name}: must have the keys ${wanted} and no other`);
  }
  return new kind(...kind.parameters.map((key) => published[key]));
}

export { KAry, TwoCoin, Warner };

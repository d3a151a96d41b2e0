//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "oswwz5akcfqal6y23estsqw3ee",
  de: "udssfqj4gxlxbv3w7d6jawmenm",
  en: "gwsrzjc6o7pgvm4ofv3lm2hfhm",
  es: "ci4gmddtgffgdjnowud5l7wxre",
  fr: "lalpyhnmsuzvgebzceyeycnv44",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "c22ee2kegn37rnq2o6z3dleyay",
  de: "em3jeicj5gacemzcjl5w3e52di",
  en: "u7vs3tvflna7sbgbj7qoxadfla",
  es: "aw72dfcwwehf34sc37fsriuwra",
  fr: "qib6wbjgdnvv6mvwhhzpafw5za",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "zps7akdwlanpzpmi4ztu36bq3y",
  de: "zklv4z77d3f2xo542s7so6sine",
  en: "gt5ylf5klgd6nsa5wrpm5eleem",
  es: "mckehr52v75eshgkgva6itzc2i",
  fr: "xj5hmxqzwnchj4euvnfgvon6b4",
};

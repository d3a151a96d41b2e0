//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "o4frihxilmlmpipcx644pfm6u4",
  de: "gskgblgjqeffnp7flhoeknu5y4",
  en: "7gqtpufueau7jl7dket7mxoksy",
  es: "zmhyarchn35rneh3cr7ie6s6fu",
  fr: "jtr6oq7qb22jihos34xowrduae",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "r25y35w2hcg4c5c6muk4vmcd7y",
  de: "4nsme5kopyaek6fbbkzlqthvom",
  en: "dqlcs2fhv2mfckl3m4yyz6lfse",
  es: "6l4plgljugx3drbmgxslva4lza",
  fr: "sgigrciys2qkl3ivyz63gjgqfe",
};

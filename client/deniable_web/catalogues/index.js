//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "wrvdqsrkuvkgnbfdckrrvydjwu",
  de: "gkvn2vzgjcxd4rheww7xj3ubxi",
  en: "4j5luhjvebmiq3w32yckk7fnjq",
  es: "rdmwm57nb3dentd6njzun6jde4",
  fr: "wvhbzl3cp3vpmkbbtcz5wc7hmy",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "vhsvcpzbid2vojsj3vpu4rhugu",
  de: "uyg3gsg246ftusxon7yzmmn5gi",
  en: "pzkij577u3oep5w3vkqh6qhmgy",
  es: "dxiprcedmuhqvg6gct6lkycy4i",
  fr: "j3zdjao2at3iu2owzp6zugwhaq",
};

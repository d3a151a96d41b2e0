//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "jmtj6igoyupsuwhazzx5ysytee",
  de: "gtq7rawekdye6f5vo4mdqfr7wu",
  en: "4z2zdwfg6dxuw5wji2wqkkwmlq",
  es: "5wmsoqaxdniye6s47w2spw72xi",
  fr: "p6x3mnrcwt6cqx47gurfbeqd3i",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "dmnzxkmonixbyhipw4bin2q4pe",
  de: "2qgrmg4xcaq25r3pzbzsr6apga",
  en: "fspitwyehtreoluxq7f5rooyhi",
  es: "7n472djd5noi4xtrufkzysu3xi",
  fr: "mzvt2t7a7c3323w2dioo4iagxm",
};

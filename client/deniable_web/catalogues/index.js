//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "recmek3vviybh5bea4a4yfny5m",
  de: "62qsenzthxim4dr2e6vkntzq2m",
  en: "noihxjmvub5td2gv2lmllpbn4q",
  es: "tepplb33k4e3i23emaz5z64wka",
  fr: "olcyknoeepytjstjyb2kyyppne",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "s3wjmi2tmbw35netwsateg3nwm",
  de: "esjpggb4psq6kkuxihkpiyiamu",
  en: "y5fu6hvkj2sl3yspj2ap7buudq",
  es: "4jh5kndtrpmlynnpo6p43j6m7a",
  fr: "tn3lqfgcgz3gpzts3wlmr7dfau",
};

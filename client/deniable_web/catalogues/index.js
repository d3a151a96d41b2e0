//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "dp7u625mljv64al4l64hal2she",
  de: "uzqqh5llflzuxktqegaaa7xy2q",
  en: "3cb2g2m6lf3wnyks7v5shrfr4i",
  es: "7rlztdhih5npxznlun6jf7xbaq",
  fr: "vfkuip72vxvtyfv2h7b74w7thu",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "no5ulqk4cj3jsnxlvb7meszfo4",
  de: "epkxepepgy4zt2r6olmfjn3zza",
  en: "wnp3a7ktqldily3oukyp3grawe",
  es: "5eyoyx4oqufjtm2cu3chhvgryi",
  fr: "gbm6geme7usxlhp4nsejb3s3oy",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "2ccf7yr27ayyycgbcv7imfcccq",
  de: "va3nc4gcw5x4aflupc2qzxgnia",
  en: "pjrkq3ybappj4hb5z7h2jkzd2e",
  es: "cyv6ilfmckj3evh4kg22mds4ke",
  fr: "xjav5joyiglb3voiovdrogtgjy",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "3u4zuep2cuegc4mzzsbmqnfjyi",
  de: "5y4tuunfhwfcxecovpvmsuoze4",
  en: "qgc6hev5ffnqemcz7mzxizfgke",
  es: "lwrqljf5meb2jccltxdyctmc2q",
  fr: "tkirsfpval7zsk6omvdr2xtnsq",
};

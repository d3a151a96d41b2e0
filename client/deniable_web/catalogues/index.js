//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "36a3mndl4efl4pvz2dy556rgsy",
  de: "mm3tsi6msyeck6e7qljx7uj7vu",
  en: "nxn32qlu6dmd67s4tjvlnwqr54",
  es: "efbg35f2kj4r2hwqkwqcgt5ei4",
  fr: "rzcvq6p5vwn3j7sqoct6fjmegq",
};

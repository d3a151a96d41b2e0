//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "5qt5xt7iss6usdcvyri2wslawq",
  de: "p4lgdcdieqaunmkygcp6e4bm4e",
  en: "nupy73rjehhyke2ncz74reqmbu",
  es: "hukjqex4j3h7cbearf76zbuqdy",
  fr: "dwghcgg4ue342ebhzm4xmbviz4",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "jw5wzdoawh5ypjipcdpgocsl3u",
  de: "bpqbmqhz2uhb6dwmgtwv6aujei",
  en: "v4ii6ffwksxrvg2icgou3ocoqi",
  es: "cr2ftglgfqwx4jeb3kzulrc3zq",
  fr: "zew2bcr5ygaxjrvawuymx3zzim",
};

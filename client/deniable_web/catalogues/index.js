//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "axl77udcfo5hbbq64nfgh6dnki",
  de: "nvgg4ea47qpi2qcu7ztzsresfa",
  en: "v3u5ysayfjtm5bu5yqogoyacpm",
  es: "glfzymmeigz7tmojy6ehwtcvim",
  fr: "7x3bdfy2sel6dr5jga5bwlz6be",
};

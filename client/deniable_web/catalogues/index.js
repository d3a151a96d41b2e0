//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "o37jsnyjwt3hraqffrttqb4f54",
  de: "2dqlrwuxrznvt5amxtk4bjytc4",
  en: "kol72577y25fzxcbyhccpeqi3u",
  es: "jd7i3bslob3b65a7kyzg7dws5q",
  fr: "mq3hd763akyl2eacjoyyko43li",
};

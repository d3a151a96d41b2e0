//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "25xqzbqea73pct2p6ypybn62q4",
  de: "uywl7a7wsnulcqrh26sv3vyf44",
  en: "d4yr74e4lxfifcjop6rbo4zrfe",
  es: "zjgzh5fx5boak6s5diyyk7xmj4",
  fr: "ann2z2tnk4ahlcthsou4e2hf4i",
};

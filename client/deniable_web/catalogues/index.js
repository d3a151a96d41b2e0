//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "lviecqjhxp364f6bpcpksitd6m",
  de: "ezeznpmglrlygpbkuxxxbtc4cy",
  en: "4e32exx4u2veppohcxis6z22fm",
  es: "qu3b6amob574qboj3qfeswd4ca",
  fr: "aapyciqtyklwofigivilrfxbze",
};

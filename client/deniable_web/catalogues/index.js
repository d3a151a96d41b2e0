//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "3lfqd56fvckmcqkv6g4nyvqk5i",
  de: "mklqcrbbzr5j7lakk3albttckm",
  en: "7tzfew4syopetws4zp5nw53eda",
  es: "ep3o7o7ubj4xfsqhwlvvlnld6y",
  fr: "5xbjlukhpcwphffkoibyoy5t4e",
};

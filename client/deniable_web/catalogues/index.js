//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ngm5gep5mbnwtg7cit3hxgj2oi",
  de: "p4cml63so3lmdhqyhc5sh2x25e",
  en: "tho7yhkn4ovux5p7qrgvhlvw3u",
  es: "mpzt5bxua7jpxduhzxrnpgopbq",
  fr: "hopqb4qc336asqobcbwdxfeni4",
};

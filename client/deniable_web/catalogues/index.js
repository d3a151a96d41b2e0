//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "x2pfjncl3mimgaifn4g46pedjm",
  de: "rwigcud4l4uti74fvw7nnassdu",
  en: "ynyxuiyaes7kai63j3vk7my3oi",
  es: "aznkcnix54rcqmjd5ytwddumrq",
  fr: "7m45bydst3syvzltkzjnz7wvwy",
};

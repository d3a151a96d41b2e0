//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "gjd4y7o2dje7lb5ghymb4qrf2i",
  de: "w7v4klceaenalwavyaxfx34nte",
  en: "gmkmx5xgqif55ycyie6l2zdg3a",
  es: "3fdrzyesaahhpngi6vto4rvtuq",
  fr: "kj564bzcfrfjy5c6sa3ngfzoym",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "amizyftxbtijv7qnoo4ghfgtu4",
  de: "oynceh2gwjkzzekx5npd2ufbsm",
  en: "63a5rkej46bxqkzlwoebwszsjm",
  es: "x6nemlp2hft65ho3wxco5ohana",
  fr: "6batvezsflm3mpff2ytfvomu7a",
};

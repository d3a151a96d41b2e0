//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "lybmkq42g7wdzzj4jnjc6ft6py",
  de: "wts23iq43gtoqb6uccsakxabhe",
  en: "z2sbapziw6drkj5ebvpyda27eu",
  es: "gku6yus5vcz64zlw3oxx2vmoxm",
  fr: "4bjrscbxtn2hs4vxp5mua5t3oi",
};

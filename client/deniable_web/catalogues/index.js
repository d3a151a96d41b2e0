//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "dceqwnxtusvpdo5krktvxn4s64",
  de: "f4bmpxxpd5l65btp3ygfta267e",
  en: "vpb7wqqfg36kc5iim2p5uuq2ne",
  es: "ewiwdkvuhj3ruaooegque3scci",
  fr: "27g5szxa46ijznkpgt2yfrfibu",
};

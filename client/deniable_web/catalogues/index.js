//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "p26mvuibnv5hu2hjhkcuw6acwy",
  de: "vq5ue6bmh6is7jmhifyol4z5vu",
  en: "53rz6aypbqff5tjb73etz6dxq4",
  es: "qzzhnxgchnupkqivj747qejtkm",
  fr: "h7bzk5ob37hgurmedqamwiyc3i",
};

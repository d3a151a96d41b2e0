//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "zuzouqfufrtpwvlnfdysznzhne",
  de: "huyfoejtohun2cbfmyl54jfmoi",
  en: "hhggwdpu5wsgtcmrfnmjkza3ly",
  es: "bblwfxrdnsddklxr3ouyjinwca",
  fr: "mwrj7bmiq4l3bwc2eoofohvc6q",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "t4zepgcuvtimo33tku7qh3icoi",
  de: "43xbp55gtuddu376h4avgaxxmu",
  en: "h4mdtvx3eirwmkkgqbwmsn24oi",
  es: "ltziucefu3bnnjv3q5qzdpgtgq",
  fr: "jf4xejds23g7qilushvmrojq2y",
};

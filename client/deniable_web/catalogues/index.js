//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "rhdgxg66oxwbhikirlgof23rbm",
  de: "bew2lu6wywgkllwdmeok2g5a5a",
  en: "2apeadxn2lfbck3o4suggkqle4",
  es: "xmk2b34bjyzjmrdgzgdofwzvzu",
  fr: "7v4vsqtx6jf52xy3z2d2zm2a7e",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "hbxifd2ykeyybqcv442munfocu",
  de: "2r6lb45ulye25ce6lhquccgxiy",
  en: "aveb5ulllofpauuoq3om26whae",
  es: "lhjc6g5tmr3nlqiy6utjcgmj6u",
  fr: "uxr4crwj2wdo5i76t54xnvmfny",
};

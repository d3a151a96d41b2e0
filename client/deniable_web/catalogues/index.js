//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "csxq2w37hkrdapzixgzvxxiiqa",
  de: "4n5pmhqttnfoe7qbwoz3qsboky",
  en: "wj2vdqqrabglszybpefmj2v5bm",
  es: "ef3qi6oxfn4oovyn47gefgh3ja",
  fr: "htcvajwsyewew4k7qlsbdrq23e",
};

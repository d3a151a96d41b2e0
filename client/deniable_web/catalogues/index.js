//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "uh6ugbofl35ipqtw4s2xioiapa",
  de: "obimd6mxnnzhnckv2n7m24prie",
  en: "b6uidfedpgzxhlqs6qoepg4vja",
  es: "vyznuveqftt2giq4ykqcqwvcgi",
  fr: "d3qs5jzacde26pnhhile44l6iy",
};

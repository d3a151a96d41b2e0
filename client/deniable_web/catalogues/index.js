//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ikgjlyrx5ttetj6xanw2dtyswa",
  de: "gkbecmwaqw75m22xza4yn7rdom",
  en: "dh7y4q3r3nth4jem54nlydjgvi",
  es: "nqg3c36humaqcudlyg7khj337e",
  fr: "5bcbdrd2qfuzcjpeu52ssiq2nq",
};

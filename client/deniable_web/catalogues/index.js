//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "eqhvj6msjnuutbcleizldgv7yq",
  de: "qsxvupzjn73drzeyjaeuorafv4",
  en: "hpaguy3vfwljpq6z7yee3wejuu",
  es: "5rcfrml62b3wj5dfrgrsh2evzq",
  fr: "5ax42s4h47u3v5ezgjniwmlbla",
};

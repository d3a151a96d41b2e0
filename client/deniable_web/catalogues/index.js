//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ch2u22zj6ty77z2cpm7cvl22cu",
  de: "rgh73kmw2qubhzv2d5wk4rqzsa",
  en: "t4mu6vy53oww43t7uphq4foz2q",
  es: "a5sq3inrt2pc77ljvm7er4jgh4",
  fr: "3djytszvs577zaomcm3gktte3i",
};

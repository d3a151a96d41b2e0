//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "wkscxizonhrmk5yqmowrrrcrei",
  de: "vg4vbrufyqsitmkh4h6qd6zkde",
  en: "eztg6wsbscosvihkzkbtzpyn5y",
  es: "zbpi7tpmmuefzhjseetbztyzju",
  fr: "wo2jan4xpw2ysnyuxlw2yxr54e",
};

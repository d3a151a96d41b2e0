//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "hzn3zhox7cofcaauj5n254z7yu",
  de: "pku4dda5pjmvklhftpqgydh5uu",
  en: "m7go3nwy2zkv6zvvmpgvygbpji",
  es: "seffvyomwprrevaopfgh6js52q",
  fr: "tmpxyellp4sxqauai6qvilsz3q",
};

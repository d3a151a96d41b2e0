//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "s6sjynudioex5ndamhqsuvo7mu",
  de: "rtgiwklh6jmhbsqn7vh5vpqgcy",
  en: "ztd6n456nz2ulenalkvvvca7vi",
  es: "dt7dyo3d2nndgxdkaxyshfmwda",
  fr: "pamfqw6gxdb377c5j7gru6rivy",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "lhrtbwuihlxzehkrkg5uuk472i",
  de: "gfpfp4zwjdm7s5wrgobpzmvwrq",
  en: "zq26bgcwigfqbfl62uvmlwy7ai",
  es: "5z4oqikb2q77rhtvuvvdx364le",
  fr: "gigeiizgs6nfcpftugwghkx2v4",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "6cohsmvui7jsxzz4jxfbvnghoa",
  de: "xmtaa44aomhdto5vfkezdlyjy4",
  en: "goi5xxg7z4lt55oixslkasdemm",
  es: "dcfswgget2dhhqqiahveojooia",
  fr: "wcxb4j3n2ve3f2as2pocsd7kcq",
};

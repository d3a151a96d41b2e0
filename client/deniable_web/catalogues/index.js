//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "f76cucubpv7gtma42v6bca6dcu",
  de: "t2hrnk3lebc2kus3wfdpfvuwca",
  en: "vc5447rplwjeat53m35w3zehiy",
  es: "fjolfqydoorma4u7mf3mlbgnw4",
  fr: "o25hbc4gxn55podvgnhucxo7by",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "u6mwjuvvewxbprra3v3qpwcaaa",
  de: "wcqb7wsji557sruz4sqex6ifla",
  en: "wqlqwdvoxe2yyosmezoaa3h6ge",
  es: "xrjqqoomdvykqbqrhilfp6flg4",
  fr: "zeur2jvazhc4dtgttm5e552asq",
};

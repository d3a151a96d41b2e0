//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "a65vqmzfpw3pdhdaa6ut42zc4a",
  de: "orm6old24gl4wxrmza4m4hvh4a",
  en: "ozz6543zseubk5eaqr3nr23d54",
  es: "6w57pe6tnvjwtvlqgtpellaie4",
  fr: "pf4sbws65krnytjk7p2ts7pzlq",
};

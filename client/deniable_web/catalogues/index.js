//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "omhoo454rqw2tqazub4qq6fix4",
  de: "3b3nzu6ihfhihgzgj5tmxbeewm",
  en: "adhoxbuwgkppzunco2sm2ffxoy",
  es: "myzagiin7ttmru3bd2aoswh2my",
  fr: "rt76aldjvvwkx7auyrpuviliiq",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ajwflhoa57o7ytiucpqyvulb44",
  de: "52dt24b3g4wm6frpjylk4cpqk4",
  en: "d4yr74e4lxfifcjop6rbo4zrfe",
  es: "zjgzh5fx5boak6s5diyyk7xmj4",
  fr: "ann2z2tnk4ahlcthsou4e2hf4i",
};

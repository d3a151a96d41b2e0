//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ykbxovp5wlc5aqxwhpxvl7k2ku",
  de: "z4qwurtkxp6y2lqbalkajsfthu",
  en: "m5ksmdjttyckooeow4l5aq4bty",
  es: "l6wqprnpu5a5ctje236b2cvrxm",
  fr: "x42m4ybqhwpreoaghbh7k5xkbm",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "4wiwtnplekn5xrr3qr2ys4gyxa",
  de: "rzsv7cc4d3npbryhdqmkk4hmza",
  en: "dqdazjl2qv6cvyeuxdjznx4upm",
  es: "vg5ktigeltne4q72gn4fokieta",
  fr: "m2ggfqxa4qqrgpj64bs6vtdjpe",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "pabpdapmcimg2lxm74erebnndq",
  de: "negvinwwottfwqt4fzwgfikfki",
  en: "ewm43jxfx2ppt2rblsngv3khze",
  es: "7v4nc7rko4evkrrputaolfedti",
  fr: "hriyzkzing4v7a5zj7o6y3j3xq",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ebrsqksj7qx54k6g5g736ydzse",
  de: "iswtgfgrpi7fq7swntspdo6nf4",
  en: "w2pl5f2c2pvseixod6uawaxj34",
  es: "vrnfrgtgeyn4gbjz6abgslufku",
  fr: "bnsd5e7v4wgmhgs2qjqd5zubce",
};

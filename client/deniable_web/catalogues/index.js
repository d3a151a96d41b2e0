//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "5l42657vsylipj6du4dpnpylsy",
  de: "5xquylfopa3ntglds6jy4uq6bu",
  en: "eqcw4bpfsx25taus7vxj7h6heq",
  es: "jamouzoxapqmoitkagf46xvhdi",
  fr: "7bxc3ei5ohzt2irfmnbftdwhme",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "4vgenhzdpx7j4tlezkd4ovmvq4",
  de: "22gcpl5c3al2tm5rmf7f7bmyeu",
  en: "ht4mpi4ihve3uuqres75kmxlh4",
  es: "avy3d463ozig54kyzdrvdkpzea",
  fr: "2imn3zgsofdqerehv7nyxnmnku",
};

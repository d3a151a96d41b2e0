//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "doj2zztcbl3nkg4gewzsqts5y4",
  de: "o2btrzitwvkst3t3jnumbsbyru",
  en: "tadd66jgn5w6w3nozsksm4oyiy",
  es: "w265dni4jiuf25duvawx2f3xnq",
  fr: "2hilvosqnmgdjmkbw7zsi4242e",
};

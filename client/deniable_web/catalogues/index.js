//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "37wddpds4bovwbfqmbkybszgsy",
  de: "avk5y7vz6g5njwx3r6drdninv4",
  en: "k6uwbsokhn452aqixrsuyfiofe",
  es: "3u33y3opa7ref6gfrctxttd47u",
  fr: "qdpxspn4vgfjpxzatbkonhmf6e",
};

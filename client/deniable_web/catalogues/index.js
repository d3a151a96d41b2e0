//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ryq4nz3u5o752pzvtbdyxgou2a",
  de: "obtbtai2pw7eojnij5ibi25ljq",
  en: "r45kigfhw6ra3u3i6b2udgimlq",
  es: "n4adcfjdcsydbz4npzc2pxakf4",
  fr: "knpo5hjzqewwvj3drhvdwseypa",
};

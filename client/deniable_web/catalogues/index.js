//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "24keaj2sfyva6srg6aqg4trclu",
  de: "xju3xbsjwjjjh2p4syhtm6swyy",
  en: "osflrgwg4tjoso5cfa2pnqjye4",
  es: "bw2lpxrvst5hlallvqmb4wsrkm",
  fr: "zyugoo3qrvtb63avedokicfcem",
};

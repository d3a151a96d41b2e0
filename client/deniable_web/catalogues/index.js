//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "7qptet5deev72ntsmd64dzo5cu",
  de: "kchusoaava7djamxgc4j6f5jty",
  en: "4wo6qnkeh56lbq5nv6p2pk6o3m",
  es: "dke6cpoxifi3xdnh7f24ew2qja",
  fr: "sfzlpan6sr6g7ctpl6dnsevx24",
};

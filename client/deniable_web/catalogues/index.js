//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "bz6x4w72cvnzrxgreut4vclin4",
  de: "gjrt5q4nxxhux4shgmx5y3tuu4",
  en: "2d2l75to7opkhc2qfxbcy65yvq",
  es: "wugtpoh2nfvcpwqzef2emstts4",
  fr: "uf5lubhk6uzohskt62iwsni2gy",
};

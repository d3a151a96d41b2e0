//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "z7gxxiaos2pkg3nz4fbtifwn7e",
  de: "ykz4hiee5bj3oa5emmetr5gj74",
  en: "xbexuv4fjpqz4kskl45esvebpa",
  es: "hvsmlvruripe5ea5f6kfcmjioi",
  fr: "fabnvwaksjobkrzmnfubclboeu",
};

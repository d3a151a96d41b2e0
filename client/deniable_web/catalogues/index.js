//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "c4nykbhlcd5bph4rwuc4vkvvwq",
  de: "lpdkqxgpy5pxenewjpotq2py2u",
  en: "o2bauihwmp3wkmtqdpg6pchukq",
  es: "bir3b5v4o346txjyxzbw6vk6xm",
  fr: "6ackk7qfyfasxju3nymplrolnm",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "oph2muxfitxon5js3vlscsfy4u",
  de: "6ywuoufzscrifpmuumm36hgcdy",
  en: "hcutk6rgujzwsjax66c3dbz6pq",
  es: "lwjfqyux25gadplwvdlz5e2nm4",
  fr: "yeyd3hc6ew4r36gzrolgcpvdqm",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "t6dmsq3bcp2heau6xaj2glta24",
  de: "loqm437xmjjkllooks4ncendwe",
  en: "nfdulcqdp5vmfr366k3ezjapoa",
  es: "6uiifle34ji3vfeqgjtkxwpfmq",
  fr: "yfcmi6t7p36xteifhwj3h2536i",
};

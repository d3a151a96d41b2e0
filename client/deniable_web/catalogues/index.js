//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ocezy63qeaok2iebmckje7xvpy",
  de: "lkmber4lyv4odh4cnbp7vdd564",
  en: "ghoicyp6kfmv2spdzmpf3iuuxq",
  es: "buwutbqvnk5ijqg24rrpx6hcgi",
  fr: "bvoyou2c3ad6465mnrb5fegnw4",
};

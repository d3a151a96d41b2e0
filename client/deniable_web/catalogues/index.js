//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "7s6pk2vvxz77wrei3z2lv4vbaq",
  de: "szwc4ty7nt3so3zynsoza4rty4",
  en: "3rjld2mhg3uoeg24pdcopykwh4",
  es: "sxfx2mkoj3butx4ubhw3mftjyq",
  fr: "rg3rnyosz4ns3gbg3o6huvy4fm",
};

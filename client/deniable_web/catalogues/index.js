//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "sqpqf4kqicdqv2my6nkzr6m5nm",
  de: "7swnwrspfpmweitn54wpujwkve",
  en: "i2pjwui7ntaejicg7763i6k6mm",
  es: "aqg4ravfkyjtnnzhzvmpsf3l2i",
  fr: "qsp7tkv47ckzuwqs3oerrmrhlm",
};

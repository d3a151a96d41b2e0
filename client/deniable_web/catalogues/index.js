//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ouu226epfv7scq7tfc72chioyi",
  de: "i2nblqg4aeommrvvqx2aeoclxa",
  en: "2wbi4am5qqjas6vic4i6ishudu",
  es: "ehqk2sc6afdtxoerh577ccv3dq",
  fr: "cwizmfkydb4mill6j4frlhbkmq",
};

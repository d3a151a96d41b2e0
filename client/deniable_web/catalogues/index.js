//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ivoftsavaohn3f4mh4zqfnjr54",
  de: "xfv77vlezsviuyw3vqootpliku",
  en: "y44cb6rbasuvha5t6t2htezvoe",
  es: "vief2ito7z4pyt2x4y2yolekaa",
  fr: "fint6wfjx2kth2gvcvmhio3tcy",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "bsi2xte4nlx6ybeayfc62ulfoa",
  de: "oc2na5nbgwoqk77i3rlaaeixna",
  en: "4bxjjrff4ozgglkrrinom67pdu",
  es: "65i3c54a42anvv63rid3kcksvi",
  fr: "np4n7qr34zyxz7cnncuhz5ib4q",
};

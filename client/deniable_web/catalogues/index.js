//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ioda3y3b3uxs47yl674b27iaou",
  de: "6hverw2mchirdgy67nue74iejy",
  en: "6jlvd72gioztr623zrizkl7w7a",
  es: "3fpzcchvg7bh3yq62vun7h4tmy",
  fr: "4kntax4i4fm6vpz7vxauoypkfi",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "6p4nzveskyl2z5xuyq53pet2ui",
  de: "oay4vcmkncuherzbtk5sj7vmim",
  en: "2zwtkviine4svps6a2h3tbceyq",
  es: "xuafqkrwr3dw2ja2cr7pkfhx24",
  fr: "6ioinucmgptdjlw566krio6qfm",
};

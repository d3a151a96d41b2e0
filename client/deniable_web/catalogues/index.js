//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "twxn43f4bxjg3cfx5fgqlbbmv4",
  de: "sooob6aak4dof7pggy7ggv4e44",
  en: "76zn3ms3grohyggwcynjewngm4",
  es: "7fuhkpintqscce6h62qkna2bem",
  fr: "tysxvneecm7dy24gr65r6kadym",
};

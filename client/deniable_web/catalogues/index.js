//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "vbxud6lv6mwsvfmt47gtjrorsu",
  de: "6q6jcbo5wybf766axapp3zs2b4",
  en: "s2kvhsytn325cl643nibfru7qa",
  es: "gmvvghyermvnzd6hfdbxki4twa",
  fr: "byektnisqqns5indy5v4gcuq6u",
};

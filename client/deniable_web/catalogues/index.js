//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-eALxgewSGG0u7P8JEgWtHP05bSXPNcs8Z8RzxLToOlw=",
  de: "sha256-aQ1UNtZ05ltCfC5sYqFFUmJQrBt4MrCkUIpVwioOqyA=",
  en: "sha256-JZnNpuW+nvnqIVyaau1HybPe3Q9cusxCcfAfwaYC2Ws=",
  es: "sha256-/XjRfip3CVVGL6TA5ZSDmkIVvmDDAPqcgiIiO8buGDg=",
  fr: "sha256-PFGMqyhpuV+DuU/d7G07vHb5WaqbzkDvdoJQZMAvLoU=",
};

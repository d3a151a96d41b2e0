//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "kgwduepnhxjyg3y5ngrfp467o4",
  de: "hyghp6aipyt2aqlgbjb735aehe",
  en: "u3tgqe4pojvsixvi62pfpjagjy",
  es: "umxwzgkzuonkxl4rleoxi5lugu",
  fr: "ruxvu7bhge4nt6hk3ygu5t3uze",
};

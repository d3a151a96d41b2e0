//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "2p4auyudsk4mlhb6yfr2dyp5dy",
  de: "yztettffrdmujvz7dpzxu4somq",
  en: "qdrlkpbhvviinm52fmagdr7rzm",
  es: "uzd4mzjtjqtcwfzkb4sjubtjay",
  fr: "co5w5fwlon74eaz4airg64mo2m",
};

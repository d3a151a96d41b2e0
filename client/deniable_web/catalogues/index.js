//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "fymuhriovnuiztkjouxbuule3y",
  de: "cvujtgq45awx6bkn4icrmmw7dq",
  en: "utkfmzcxzew7lz2l57c3g66h5m",
  es: "nl7wekczcpwsciakweyji3flni",
  fr: "tqlfxtfnw5eserqk5wqflbfdry",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "kwkcmysixcwdhjag5msn5pmosa",
  de: "o2zfqz5rc6e2wjw5v3qqdczm5a",
  en: "bj5wu57pbntzdmtf7mjups4544",
  es: "q6nx3qunyruaqrv4n3r35grsva",
  fr: "leg4w5u5kqahtkfpgfoeyppeay",
};

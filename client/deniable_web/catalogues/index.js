//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "ingoqpdff34kcr3yjzuginqyju",
  de: "cr43ej3y3horcopv7rpl5ogjia",
  en: "v7drxi66xmc7ps5smq2y4gjk3q",
  es: "g4oh3mk26ha4i5o4sg2fpr4zju",
  fr: "wg4khmmuew76qslkpaf6afyhyq",
};

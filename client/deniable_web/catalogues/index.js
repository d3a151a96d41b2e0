//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "xxpbwumu3dewt5ihd5k7ysqeiq",
  de: "frscyzmxctzvzmctgxam6gnpby",
  en: "7zdenrxehqcnczwpbgyolbjqha",
  es: "6fq6hngpfl2h673x75ubh45euq",
  fr: "44bszifsoym7avvnnbczqzcdsq",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "sgw3f6agas3mpbpxm4pja6qvsq",
  de: "swp4v4t4aaiyzd2c6p2g5kppc4",
  en: "6mazrwhqk3fefaktgrgfvsudcu",
  es: "7frsoomfqjo65psqz4iavgqv3m",
  fr: "qugm4oubc2zknqvvod2e5mmlda",
};

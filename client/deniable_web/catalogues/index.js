//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "3ddhxeom25k3uvge5cdtiayidq",
  de: "tmoi2vqowsebigf5vkunhp6n6y",
  en: "uo5qtohdw6bh44p2do5cqee3uq",
  es: "jvzk4iuu7q4l7nomdbgr6mje44",
  fr: "k2iljmugrgsmysqdnemfzvjaru",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "balyv4dpyu3jxwvhcvzxujgbge",
  de: "5ktycczggrxnp7m5dcrvpb75ti",
  en: "xtdl7g7ey2yonltgfkgrph2i5a",
  es: "ai2pj3wbgih4hjaa7ocjjggxeu",
  fr: "4eqjtttvozogihjh34lrpivxeq",
};

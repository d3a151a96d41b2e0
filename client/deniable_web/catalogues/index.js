//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "3fzonyspxm3bvxv45y2264pjkm",
  de: "lkmoh6reamql7tl22sg43yioj4",
  en: "l46d2ypqa56c657l7afa4encmq",
  es: "63xt2huwpsdzlcbwtw3yp2vzsu",
  fr: "nw6qjlvdxv42icexjoypmxhiu4",
};

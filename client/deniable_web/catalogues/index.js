//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "2fnrimpy6ewbynizuurp4peiyy",
  de: "rhi3g4l5xt37qhqalli4fzsbly",
  en: "grbn3gvvufw27yp6s7ahjxhnju",
  es: "azabj6uhagwjycufwndhgpxrny",
  fr: "dwpyvd5cq7acxdgbuteibv673i",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "mpfdsd2hx45jx3bpb7acrog6ka",
  de: "bc25uxhfhlg47gxqx2rdgfxatq",
  en: "qjnufvbri2hzdcyripvrzbns3u",
  es: "jhoq6yv6ara7wbr5j7aknelz4q",
  fr: "zbdgjmy74gltz2lgvvsratgjpq",
};

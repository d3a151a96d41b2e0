//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-zIAI8PaHsXZI9xt5I+FNgu08uSd890vDkBZqAvJsG0w=",
  de: "sha256-ypOgeE/fsXAzf7HRECvVnIgWXKdh+oHVpPOQHuclMD4=",
  en: "sha256-vuB6z2S50PfmVha1snyYD2aLVA8Pazsn+SiSKgtnZW0=",
  es: "sha256-P8U1aArzuUV0mxrg3wpSqJ2Nz6YiHYru/zFJEU7gC/E=",
  fr: "sha256-o2av788/GRCmH015TconTu/9RfpBY0aB548L2RH+sB0=",
};

//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-67X29bSwS+8e7/XStVA55FqbkyQpGfcWj6fKQkeYRHI=",
  de: "sha256-2vb40lzl/JjRffaJfc3F/txltSNoT5dG9EcpsLIHxlo=",
  en: "sha256-75XRwEUnQkseZjCR5gHgoxHclmDQuIVNWxHHu0EKL4Y=",
  es: "sha256-KWwkoApvzZegKCM7WxgJZfp0nRRC/+0CRGwo/Syc/Mc=",
  fr: "sha256-W+H5batiVkwa0lR/ihT3S3S5LgWN6H89r+8xkXFtny4=",
};

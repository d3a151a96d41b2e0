//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-6P0/Ok2y126kAW+MYX9Djagzx6Pomq/3xsHxt7wM8B4=",
  de: "sha256-nNrtZDQNMmp/eBPzhQDOADO7pro+w2qiPIZx0cnPk+o=",
  en: "sha256-bmqESjIeasnrTHLX1LhVLExW/t3cEWOkOCqkIPeO78M=",
  es: "sha256-cUuqqkmiF8x2zKY9N5JMysJerL+Rug4Yrp/pO/n/1UY=",
  fr: "sha256-kvx6qu7a4ni9arT2wx3q9GlbLGeS6NDelH5rqYLrRM0=",
};

//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-SeaZAO2SM7TYPMv/NjBY64F0y11od9Uc6yEP1rUl/0M=",
  de: "sha256-eCiwSROSERCLgKVzxgb0zBA+hJ10VcH6G+jS2Fayva0=",
  en: "sha256-DM13J1hOgQJgf+6h+i54QfLcmakfrZ850xB5sX6cB1A=",
  es: "sha256-usNjXbjF9FGRQfcQYIuuUNv/MylDcdlckgMbrNiSLB0=",
  fr: "sha256-83dA7Z+WU0HbMErfx8BIVJt2Y0BZV0b91PFk7gxj9Go=",
};

//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-Fp8XOPaWDez5tCFVWpALhF2Xb5pEulMDDxxI8o/GHYM=",
  de: "sha256-E7pp0xNuAd/63gsO1pi7YZq9aQ4soeT8aemwSs7+VRg=",
  en: "sha256-AAgm7S3z8WBjk1CF21DP5epzBA7dEelZlXUvA9W3FqY=",
  es: "sha256-Z5I22i6X0KS++DUSyHPuyYlTIlwKIjJ0+fnqBB8ETwc=",
  fr: "sha256-h3m7TlX8wY7Nz7ayNTBS6RmKESka0eYHqh+LWavXFU4=",
};

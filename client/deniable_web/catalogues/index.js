//@ts-check
/* Written by `npm run catalogues`: the hash of every catalogue, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const integrity = {
  ar: "sha256-27ViyOcwTdFzUXl17jGTAVKxVerT1M6KTTWtAjendac=",
  de: "sha256-AxdEPpw2Y5QwyldKXPcy+tu5Rsu8IE1UofLxXkvn54Y=",
  en: "sha256-WKmKlutLEnTN22/2Eb5Q4tdOII7ZR2eGpAMxQWPEWpI=",
  es: "sha256-M4ts6Q1CmzeUTkWpsyV5p3iiBYhCeTG2d7iMzpLJ/Wg=",
  fr: "sha256-RrlrcwhrCvPyQXQI+3JksjwD3Ys6tyvvb+WYRrjUWsM=",
};

//@ts-check
/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a
   survey is, so that a bundle takes no other. */

/** @type {Readonly<Record<string, string>>} */
export const addresses = {
  ar: "szprzy3zffhq2737t4csoteiam",
  de: "4njhmwcqljnz3dt4oobejsx4au",
  en: "3ftfcmx5woejqetrgbc7t7gwr4",
  es: "ymvgfwp5agchpzfcxuohe4do74",
  fr: "6jvhnodxr5cdkfv7r4mwsfuzza",
};

//@ts-check
/* How an author dresses a survey: an accent colour and a logo, both out of the published document. */

import { h } from "./dom.js";

/** @typedef {NonNullable<import("./survey.js").View["look"]>} Look */

/**
 * The logo. It is painted on a canvas, because the strictest content security policy lets no page show an image that came
 * within a document.
 * @param {Look} look
 */
export function logo({ logo, logo_type: type, logo_text: name }) {
  if (!logo) return false;
  const canvas = h("canvas", { role: "img", "aria-label": name ?? "", class: "logo" });
  const bytes = Uint8Array.from(atob(logo), (each) => each.charCodeAt(0));
  createImageBitmap(new Blob([bytes], { type }))
    .then((image) => {
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext("2d")?.drawImage(image, 0, 0);
    })
    .catch(() => canvas.remove()); // what no browser can read leaves no gap
  return canvas;
}

/**
 * The style sheet of an accent. The page around may set `--deniable-accent` itself, and then has its way.
 * @param {Look} look
 */
export function accentSheet({ accent, accent_dark: dark }) {
  const sheet = new CSSStyleSheet();
  if (accent) sheet.replaceSync(`:host { --deniable-accent: light-dark(${accent}, ${dark}); }`);
  return sheet;
}

//@ts-check
/* How the elements wear the look of a survey: its logo on a canvas, its accent in a style sheet. */

import { h } from "./dom.js";

/** @typedef {Readonly<import("./look.js").Look>} Look */

/**
 * The logo. It is painted on a canvas, because the strictest content security policy lets no page show an image that came
 * within a document.
 * @param {Look} look
 */
export function logo({ logo }) {
  if (!logo) return false;
  const canvas = h("canvas", { role: "img", "aria-label": logo.text, class: "logo" });
  const bytes = Uint8Array.from(atob(logo.data), (each) => each.charCodeAt(0));
  createImageBitmap(new Blob([bytes], { type: logo.type }))
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
export function accentSheet({ accent, accentDark }) {
  const sheet = new CSSStyleSheet();
  if (accent) sheet.replaceSync(`:host { --deniable-accent: light-dark(${accent}, ${accentDark}); }`);
  return sheet;
}

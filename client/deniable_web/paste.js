//@ts-check
/* A field for the whole link, where a part of it is missing. */

import { box, button, h, p } from "./dom.js";

/**
 * What is pasted opens in the place of this page, or once more in it where only the end of its address differs. Nobody is asked
 * for anything before.
 * @param {import("./messages.js").Messages} m
 */
export function paste(m) {
  const wrong = h("p", { role: "alert", class: "bad missing" });
  const field = h("input", { type: "search", "aria-label": m.pasteLink });
  const go = () => {
    wrong.textContent = m.pasteWrong; // until the other page is there
    if (/^\s*https?:.+\/s\/\w{26}/.test(field.value)) location.assign(field.value);
  };
  return box(p(m.pasteLink), wrong, h("div", { class: "row paste" }, field, button(m.openLink, go)));
}

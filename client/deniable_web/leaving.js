//@ts-check
/* Leaving quickly, for whoever is looked over the shoulder: another page comes in the place of this one. */

import { h, minor, stack } from "./dom.js";

/** Where it leads: a page that everybody might have open. */
export const ELSEWHERE = "https://www.wikipedia.org/";

/**
 * Whether a key asks for that: Esc, except where it already does something else, which is to end a composition of letters or to
 * empty a field in which somebody searches.
 * @param {KeyboardEvent} event
 */
export function isLeaving(event) {
  const [target] = event.composedPath();
  const empties = target instanceof HTMLInputElement && target.matches("[type=search]") && target.value !== "";
  return event.key === "Escape" && !event.isComposing && !event.defaultPrevented && !empties;
}

/** A screen below the button that leaves. @param {string} text @param {() => void} leave @param {Node} screen */
export const withExit = (text, leave, screen) => stack(h("div", { class: "exit" }, minor(text, leave)), screen);

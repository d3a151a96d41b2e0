//@ts-check
/* Leaving quickly, for whoever is looked over the shoulder: another page comes in the place of this one. */

import { band } from "./chance.js";
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

/**
 * On a page of our own, a screen below the line with the sign of these pages and the button that leaves. What such a page says
 * around the element is in its language, too.
 * @param {Readonly<Record<string, string>>} words @param {() => void} leave @param {Node} screen
 */
export function withExit({ lang, dir, exit }, leave, screen) {
  const page = document.documentElement;
  if (page.lang !== lang) Object.assign(page, { lang, dir }); // browsers style all of a page anew, also where they stay
  const wide = /** @type {Element} */ (screen).part.contains("spread") ? "spread" : ""; // as wide as what stands below it
  return stack(h("div", { class: "exit", part: `exit ${wide}` }, band(), minor(exit, leave)), screen);
}

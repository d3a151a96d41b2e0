//@ts-check
/*
 * Elements without markup: no innerHTML, no style attribute, so that the strictest content security policy holds
 * and no text of a survey is ever read as HTML.
 */

/** @typedef {(Node | string | 0 | false | null | undefined)[]} Children what is not truthy is left out */
/** @typedef {Record<string, string | boolean | ((event: any) => void)>} Attributes functions listen, true is present */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Attributes} attributes @param {Children} children
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** A bar, filled by a share. It repeats what a sentence beside it says. @param {number} share */
export function bar(share) {
  const [whole, filled] = ["svg", "rect"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  whole.setAttribute("aria-hidden", "true");
  filled.setAttribute("width", `${Math.round(100 * share)}%`);
  filled.setAttribute("height", "100%");
  whole.append(filled);
  return whole;
}

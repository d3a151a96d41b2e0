//@ts-check
/*
 * Elements without markup: no innerHTML, no style attribute, so that the strictest content security policy holds
 * and no text of a survey is ever read as HTML.
 */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {(Node | string | 0 | false | null | undefined)[]} Children what is not truthy is left out */
/** @typedef {Record<string, string | number | boolean | ((event: any) => void)>} Attributes functions listen */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Attributes} attributes @param {Children} children @returns {HTMLElementTagNameMap[T]}
 */
export const h = (tag, attributes, ...children) => dressed(document.createElement(tag), attributes, children);

/** @template {Element} E @param {E} element @param {Attributes} attributes @param {Children} children */
function dressed(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, /** @type {string} */ (value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/**
 * A part of a drawing, by its attributes alone.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Attributes} attributes @param {Node[]} children
 */
export const drawing = (tag, attributes, ...children) => dressed(document.createElementNS(SVG, tag), attributes, children);

/** Small print. @param {Children} children */
export const quiet = (...children) => h("p", { class: "quiet" }, ...children);

/** A line of a list. @param {Children} children */
export const item = (...children) => h("li", {}, ...children);

/** @param {string | Node} text */
export const p = (text, style = "") => h("p", { class: style }, text);

/**
 * Texts of a survey: their own direction, their own line breaks.
 * @param {string} text @param {"yes" | "no"} [translate] "no" keeps it from services that translate pages
 */
export const own = (text, translate = "yes") => h("span", { class: "text", dir: "auto", translate }, text);

/** Addresses of the web; and numbers to call, which begin with + or 0, or are one of those of Europe's helplines. */
const REACHED = /(https:\/\/[^\s<>"]*[^\s<>".,;:!?)\]]|(?<![\w.,:/+-]|\d[\xa0 ])(?:0\d{2,} ?\/ ?|\+|0|116 )(?:[\xa0 -]?\d){3,}(?![\w:]|[.,]\d))/;

/** A text in parts, each with what it leads to; nothing, also where a number is too short to be called. @param {string} text */
export const reached = (text) =>
  text.split(REACHED).map((each, n) => {
    const digits = each.replace(/[^+\d]/g, "");
    return [each, n % 2 ? (each[0] === "h" ? each : digits[5] && `tel:${digits}`) : ""];
  });

/** Such a text in which what helps is one press away: help that somebody has to copy by hand is no help. @param {string} text */
export const linked = (text) =>
  h("span", { class: "text", dir: "auto" }, ...reached(text).map(([each, href]) => (href ? h("a", { href, rel: "noopener noreferrer" }, each) : each)));

/**
 * The heading of a screen takes the focus when the screen comes up.
 * @param {string | Node} text @param {"h1" | "h2"} [level]
 */
export const heading = (text, level = "h1") => h(level, { tabindex: "-1", part: "title" }, text);

export const card = (/** @type {Children} */ ...children) => h("div", { class: "card stack", part: "card" }, ...children);
/** One below the other. */
export const stack = (/** @type {Children} */ ...children) => h("div", { class: "stack" }, ...children);
export const box = (/** @type {Children} */ ...children) => h("div", { class: "box", part: "odds" }, ...children);

/**
 * Something to open. What is in it is made when somebody does, so that a slow phone shows the screen sooner.
 * @param {string} title @param {() => Node} make @param {string} [name] of those with the same name, one is open at a time
 */
export function fold(title, make, name = "") {
  const toggle = () => details.children[1] ?? details.append(make());
  const details = h("details", { name, toggle }, h("summary", {}, title));
  return details;
}

/** What opens, one line below the other. @param {Children} children */
export const folds = (...children) => h("div", { class: "folds", part: "folds" }, ...children);

/** @param {string} text @param {(event: any) => void} click */
export const button = (text, click) => h("button", { type: "button", part: "button", click }, text);

/** A button that stands back behind another one. @param {string} text @param {() => void} click */
export const minor = (text, click) => h("button", { type: "button", class: "minor", click }, text);

/** A button that looks like a link. @param {string | Node} text @param {() => void} click */
export const link = (text, click) => h("button", { type: "button", class: "link", click }, text);

/** A bar, filled by a share. It repeats what a sentence beside it says. @param {number} share */
export const bar = (share) => h("progress", { value: share, "aria-hidden": true });

/** Sentences of small print in a box. @param {string[]} sentences */
export const figures = (sentences) => box(...sentences.map((each) => quiet(each)));

/** Terms, and what is to say of each, if anything. @param {[string | Node, string | Node][]} pairs */
export const pairs = (pairs) =>
  h("dl", {}, ...pairs.map(([term, text]) => text && h("div", {}, h("dt", {}, term), h("dd", {}, text))));

/**
 * Do what may wait until the browser has painted what it shows now: on a slow phone a timer alone would come first.
 * @param {() => void} act
 */
export const oncePainted = (act) => requestAnimationFrame(() => setTimeout(act));

/**
 * Do it one frame later than that, so that a press on what was painted goes first.
 * @param {() => void} act
 */
export const afterwards = (act) => oncePainted(() => oncePainted(act));

/** Let nothing come of a click, whatever it is on. @param {Event} event */
export const ignore = (event) => (event.preventDefault(), event.stopPropagation());

/** Put the focus on the heading of what came up. @param {ParentNode} place */
export const focusOn = (place) => /** @type {HTMLElement | null} */ (place.querySelector("[tabindex]"))?.focus();

/** Bring the title and the progress of a form below the line that stays at the top; a focus scrolls to what has it alone. @param {Element} form */
export const headInSight = (form) => {
  const [head, line] = [form.querySelector(".head"), form.closest("[lang]")?.querySelector(".exit")];
  if (head && head.getBoundingClientRect().top < (line?.getBoundingClientRect().bottom ?? 0)) head.scrollIntoView();
};

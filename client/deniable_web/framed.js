//@ts-check
/* A survey where the page around cannot see it: in a frame of its collector, or of a place. */

import { h } from "./dom.js";
import { CollectorError } from "./errors.js";

/**
 * Show the frame in an element, as high as what stands in it, and announce what it announces.
 * @param {import("./base-element.js").DeniableElement} element
 * @param {import("./base-element.js").Place} place @param {AbortSignal} signal @param {string | null} [at] the origin of the place
 */
export function framed(element, { collector, survey, more, tongues: [lang] }, signal, at) {
  more.set("host", location.origin);
  more.set("lang", lang);
  const src = at ? `${at}/#${collector}/s/${survey}#${more}` : `${collector}/embed/${survey}#${more}`;
  const frame = h("iframe", { src, name: element.isShared ? "deniable-kiosk" : "", title: element.title || element.words.survey, part: "frame" });
  const listen = (/** @type {MessageEvent} */ { source, origin, data }) => {
    if (source !== frame.contentWindow || origin !== new URL(src).origin) return;
    const { deniable, height, returned } = Object(data);
    if (height > 0) frame.height = /** @type {any} */ (Math.ceil(height));
    element.announce(String(deniable), { ...(height > 0 && { height }), ...(typeof returned === "boolean" && { returned }) });
  };
  addEventListener("message", listen, { signal });
  // A frame that a policy keeps out looks empty, and says nothing itself.
  const see = (/** @type {SecurityPolicyViolationEvent} */ { effectiveDirective, blockedURI, disposition }) => {
    if (effectiveDirective === "frame-src" && disposition === "enforce" && src.startsWith(blockedURI)) element.fail(new CollectorError(`frame-src: does not allow ${new URL(src).origin}`));
  };
  document.addEventListener("securitypolicyviolation", see, { signal });
  element.show(frame);
}

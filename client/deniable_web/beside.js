//@ts-check
/*
 * The second script, dist/deniable-answering.js, which stands beside the first and is loaded with the survey. Its hash is written into
 * the first, so the hash of the first holds for both: browsers compare it before they run anything of it.
 */

import { h } from "./dom.js";
import { CollectorError } from "./errors.js";
import { given } from "./given.js";

const NAME = "deniable-answering.js";

/** Where the second script is, and what its bytes must hash to; build.mjs writes the hash here. */
const integrity = /** @type {any} */ (import.meta).answering;

let tried = 0;
/** @type {Promise<typeof import("./answering.js")> | undefined} */
let loading;

async function load() {
  // Browsers remember modules that they could not load by their address. What stands behind # is not sent.
  const href = `${new URL(NAME, import.meta.url)}#${tried++}`;
  await new Promise((load, error) => {
    const link = h("link", { rel: "modulepreload", href, integrity, crossorigin: "", load, error });
    // Browsers without it, Firefox before 115 and Safari before 17, know no trusted types, under which nobody may add a script.
    const isKnown = link.relList.supports("modulepreload");
    document.head.append(isKnown ? link : h("script", { type: "module", src: href, integrity, crossorigin: "", load, error }));
  });
  return (await import(href)).default(given); // the module that was compared: browsers have one for each address
}

/** What the second script has, loaded once for all who ask, and again after it could not be reached. */
export const answering = () =>
  (loading ??= load().catch(() => {
    loading = undefined;
    throw new CollectorError(`${NAME}: cannot be reached`);
  }));

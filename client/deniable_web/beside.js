//@ts-check
/*
 * A script that stands beside a bundle. Its hash is written into the bundle, so the hash of the bundle holds for both, and
 * browsers compare it before they run anything of it. Those that know no `modulepreload`, Firefox before 115 and Safari before 17,
 * run what its server sends.
 */

import { h } from "./dom.js";
import { CollectorError } from "./errors.js";

/**
 * What loads the script, once for all who ask, and again after it could not be reached.
 * @param {string} name @param {string} integrity
 */
export function beside(name, integrity) {
  let tried = 0;
  /** @type {Promise<any> | undefined} */
  let loading;
  const load = async () => {
    // Browsers remember modules that they could not load by their address. What stands behind # is not sent.
    const href = `${new URL(name, import.meta.url)}#${tried++}`;
    await new Promise((load, error) => {
      const link = h("link", { rel: "modulepreload", href, integrity, crossorigin: "", load, error });
      if (link.relList.supports("modulepreload")) document.head.append(link);
      else load(link);
    });
    return import(href);
  };
  return () =>
    (loading ??= load().catch(() => {
      loading = undefined;
      throw new CollectorError(`${name}: cannot be reached`);
    }));
}

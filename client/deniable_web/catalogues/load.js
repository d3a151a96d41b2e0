//@ts-check
/*
 * Where a catalogue comes from: for pages that are built from these modules, a module beside this one, which every
 * bundler finds. The bundle in dist/ is one file under one hash, so there `fetched.js` stands in for this.
 */

/** @typedef {import("../messages.js").Messages} Messages */

/** @type {Record<string, () => Promise<{ default: Messages }>>} */
const modules = {
  ar: () => import("./ar.js"),
  de: () => import("./de.js"),
  en: () => import("./en.js"),
  es: () => import("./es.js"),
  fr: () => import("./fr.js"),
};

/** The catalogue of a language. @param {string} language @returns {Promise<Messages>} */
export const load = async (language) => (await modules[language]()).default;

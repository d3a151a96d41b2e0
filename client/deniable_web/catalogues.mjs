// Makes the catalogues: `npm run catalogues`. The sentences stand in words/, one file for each part of the way, and beside
// each sentence when people read it and why it is true. From these files it writes, for each language, catalogues/<language>.json
// with a module beside it, and catalogues/index.js with their addresses; with --check it compares them instead. Every language
// has every sentence that the sources name, with the same values in braces, and none that misleads; what people read before
// Start stays short.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FOLDER = new URL(".", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER), "utf8");

/** What texts must never say: words of the trade, words that frighten, and that nobody knows what English says nobody is told. */
const BANNED = {
  en: /epsilon|differential|anonym|guarantee|\blies?\b|\blying\b|nobody knows/i,
  de: /epsilon|differenti|anonym|garant|\blüge|\bgelogen|nicht zuordenbar|niemand (erfährt|weiß)/i,
  fr: /epsilon|différenti|anonym|garanti|\bmen(t|s|songe)\b|\bmentir|personne n’apprend|personne ne sait/i,
  es: /epsilon|diferencial|anónim|garant|\bmentir|\bmentira|nadie sabe/i,
  ar: /إبسيلون|تفاضلي|مجهول|ضمان|نضمن|كذب|لا أحد يعلم/,
};

/** What may be a space, as French has it between thousands. */
const SPACES = new Set(["rThousands"]);

/** The languages, and the direction in which each is written. */
const LANGUAGES = { ar: "rtl", de: "ltr", en: "ltr", es: "ltr", fr: "ltr" };

/** What people read before Start of a survey of one yes-no question; the author's own texts come on top of it. */
const BEFORE_START = ["askedBy", "questionsHere", "unsure", "process", "why", "oddsYes", "noAdmission", "odds", "start"];
/** In words: English says it as short as was promised, other languages need a few more. */
const LONGEST = { en: 110, de: 115, fr: 130, es: 125, ar: 110 };

/** The figures of the mechanisms and of a whole survey, which the library says in English without a catalogue. */
const FIGURES = ["oddsYes", "oddsNo", "near", "oddsExact", "oddsAll", "oddsTen", "guessEven"].concat(
  ["forced-response", "k-ary", "longitudinal", "subset", "tick-boxes", "drawn-boxes", "mean"],
);

/** Who may be counted: each way has a sentence on the card, and what follows from it elsewhere. */
const ACCESSES = ["open", "invited", "unlinkable"];

/**
 * @typedef {object} Sentence
 * @property {string} when when people read it
 * @property {string} why why it is true then
 * @property {number[]} [holds] at which `weakness` it is shown, if not at all of them
 */

/** The files with the sentences of the collector's own pages, which no device needs. */
const PAGES = ["pages.json", "results.json"];

/** @param {(name: string) => boolean} isWanted @returns {Record<string, Sentence & Record<string, string>>} */
const sentencesOf = (isWanted) =>
  Object.assign({}, ...readdirSync(new URL("words/", FOLDER)).sort().filter(isWanted).map((name) => JSON.parse(read(`words/${name}`))));

/** Every sentence that a device shows, by its name, from all files of words/ but one. */
export const sentences = () => sentencesOf((name) => !PAGES.includes(name));

/** Every sentence of the collector's own pages, by its name. */
export const pageSentences = () => sentencesOf((name) => PAGES.includes(name));

/** Language to catalogue. @returns {Record<string, Record<string, string>>} */
export const catalogues = (all = sentences()) =>
  Object.fromEntries(
    Object.entries(LANGUAGES).map(([lang, dir]) => [
      lang,
      { lang, dir, ...Object.fromEntries(Object.entries(all).flatMap(([name, each]) => (lang in each ? [[name, each[lang]]] : []))) },
    ]),
  );

/** What is wrong with the notes beside the sentences, a sentence each. */
export const gaps = (all = sentences()) =>
  Object.entries(all).flatMap(([name, { when, why }]) =>
    when?.endsWith(".") && why?.endsWith(".") ? [] : [`"${name}": must say in whole sentences when it is shown and why it is true`],
  );

/** The keys that the sources ask a catalogue for. */
export function usedKeys() {
  const sources = readdirSync(FOLDER).filter((name) => name.endsWith(".js"));
  const named = sources.flatMap((name) => [...read(name).matchAll(/\b(?:m|words)\.([a-z]\w*)/gi)].map(([, key]) => key));
  const byStrength = sources.flatMap((name) => [...read(name).matchAll(/\bsaid\([^)]*/g)].flatMap(([call]) => [...call.matchAll(/"(\w+)"/g)].map(([, key]) => key)));
  const accesses = ACCESSES.flatMap((access) => (access === "open" ? access : [access, `${access}Text`, `${access}Used`, `${access}Field`]));
  return new Set([...named, ...byStrength, ...accesses, ...FIGURES, "lang", "dir"]);
}

/** The values in braces, each once: the forms of a number may hold them or not. @param {string} text */
const values = (text) => [...new Set(text.split("|").at(-1)?.match(/{\w+}/g))].sort().join();

/** Everything that is wrong with the catalogues, a sentence each. */
export function problems(all = catalogues(), used = usedKeys()) {
  const found = [];
  for (const [language, catalogue] of Object.entries(all)) {
    const say = (/** @type {string} */ what) => found.push(`${language}.json: ${what}`);
    for (const key of used) if (!Object.hasOwn(catalogue, key)) say(`"${key}": is missing`);
    for (const [key, text] of Object.entries(catalogue)) {
      if (!used.has(key)) say(`"${key}": is used nowhere`);
      else if (typeof text !== "string" || !(text.trim() || SPACES.has(key))) say(`"${key}": must be a text`);
      else if (values(text) !== values(all.en[key] ?? text)) say(`"${key}": must hold ${values(all.en[key])}`);
      if (BANNED[/** @type {keyof typeof BANNED} */ (language)]?.test(text)) say(`"${key}": holds a word that misleads`);
    }
    if (!Object.hasOwn(BANNED, language)) say("needs its banned words in catalogues.mjs");
    const longest = (/** @type {string} */ key) => (catalogue[key] ?? "").split("|").at(-1)?.replace("{minutes}", "{n} minutes");
    const words = BEFORE_START.map(longest).join(" ").trim().split(/\s+/).length;
    const most = LONGEST[/** @type {keyof typeof LONGEST} */ (language)];
    if (words > most) say(`what stands before Start: must be at most ${most} words, got ${words}`);
  }
  return found;
}

/** A catalogue as bundles fetch it. @param {string} language */
const asJson = (language) => `${JSON.stringify(catalogues()[language], null, 2)}\n`;

/** A catalogue as a module, for pages that are built. @param {string} language */
export const asModule = (language) =>
  `//@ts-check\n/* Written by \`npm run catalogues\` from words/. */\n\nexport default Object.freeze(${asJson(language).trim()});\n`;

/** What survey.js calls an address, for a text: 128 bits of its SHA-256 in base32. @param {string} text */
function addressOf(text) {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 32);
  const digits = (BigInt(`0x${digest}`) << 2n).toString(32).padStart(26, "0");
  return digits.replace(/./g, (digit) => "abcdefghijklmnopqrstuvwxyz234567"[parseInt(digit, 32)]);
}

/** catalogues/index.js as it must be. */
export function hashes() {
  const lines = Object.keys(catalogues()).map((language) => {
    return `  ${language}: "${addressOf(asJson(language))}",\n`;
  });
  return (
    "//@ts-check\n/* Written by `npm run catalogues`: the address of every catalogue, which is its hash as that of a\n   survey is, so that a bundle takes no other. */\n\n" +
    `/** @type {Readonly<Record<string, string>>} */\nexport const addresses = {\n${lines.join("")}};\n`
  );
}

/** The figures in English as a module. */
function figures() {
  const { en } = catalogues();
  const texts = { lang: "en", ...Object.fromEntries(FIGURES.map((key) => [key, en[key]])) };
  return `//@ts-check\n/* Written by \`npm run catalogues\` from words/: the figures in English, for the library. */\n\nexport const english = ${JSON.stringify(texts, null, 2)};\n`;
}

/** At which `weakness` the sentences are shown that are not shown at all of them. */
function holds() {
  const some = Object.entries(sentences()).flatMap(([name, { holds }]) => (holds ? [[name, holds.join("")]] : []));
  return `//@ts-check\n/* Written by \`npm run catalogues\` from words/: the sentences that people read at some strengths only, by name, and at which of 0, 1 and 2. */\n\n/** @type {Readonly<Record<string, string>>} */\nexport const HOLDS_AT = ${JSON.stringify(Object.fromEntries(some), null, 2)};\n`;
}

/** Every file that is written from the catalogues, as it must be. @returns {[string, string][]} */
export const written = () => [
  ["catalogues/index.js", hashes()],
  ["catalogues/figures.js", figures()],
  ["catalogues/holds.js", holds()],
  ...Object.keys(LANGUAGES).flatMap((language) => [
    /** @type {[string, string]} */ ([`catalogues/${language}.json`, asJson(language)]),
    /** @type {[string, string]} */ ([`catalogues/${language}.js`, asModule(language)]),
  ]),
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const pages = pageSentences();
  const ofPages = problems(catalogues(pages), new Set([...Object.keys(pages), "lang", "dir"]));
  const found = [...problems(), ...gaps(), ...ofPages, ...gaps(pages)];
  if (process.argv.includes("--check")) {
    for (const [path, text] of written()) if (read(path) !== text) found.push(`${path}: is not up to date`);
  } else {
    for (const [path, text] of written()) writeFileSync(new URL(path, FOLDER), text);
  }
  for (const problem of found) console.error(problem);
  console.log(`${Object.keys(catalogues()).join(", ")}: ${usedKeys().size} sentences, ${found.length} problems`);
  process.exitCode = Number(found.length > 0);
}

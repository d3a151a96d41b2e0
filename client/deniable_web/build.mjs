// Builds dist/: one file for each element, for <script integrity>, and their hashes.
// `node build.mjs --check` builds and compares instead.
//
// esbuild joins the reviewed modules, leaves out white space and comments, shortens the names of local variables, and writes
// statements in their shorter form (`void 0`, `!0`, `a && b()`). It renames no property and moves no code between functions. The
// same sources and the same pinned esbuild make the same bytes, so whoever doubts a collector's bundle builds it again.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, transformSync } from "esbuild";

const FOLDER = new URL(".", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER));

/** The files that pages load, one for each element and one for places, and the module that each begins with. */
export const BUNDLES = {
  "deniable.js": "bundle.js",
  "deniable-place.js": "bundle-place.js",
  "deniable-question.js": "bundle-question.js",
  "deniable-told.js": "bundle-told.js",
};

/** The script that the page of a place loads for surveys by blind token; the page's own script holds its hash. */
export const BESIDE = { "deniable-tokens.js": "blind-tokens.js" };
const SCRIPTS = { ...BUNDLES, ...BESIDE };

/** What browsers compare with the attribute `integrity`. @param {Uint8Array} bytes */
const integrity = (bytes, algorithm = "sha384") => `${algorithm}-${createHash(algorithm).update(bytes).digest("base64")}`;

/**
 * style.js: the elements' style sheet, of the design system and of what the elements have beyond it. Comments and white space
 * are left out.
 */
export const styleModule = () => {
  const css = ["design.css", "elements.css"].map((name) => read(name).toString()).join("\n");
  const { code } = transformSync(css, { loader: "css", minify: true, charset: "utf8", target: "es2022" });
  // esbuild keeps the spaces within custom properties. There is no :root in an element.
  return `//@ts-check\n/* Written by \`npm run build\` from design.css and elements.css. */\n\nexport const css = ${"`"}${code.trim().replace(/([:,]) /g, "$1").replace(":host,:root", ":host")}${"`"};\n`;
};

/** A bundle is one file, so it fetches its catalogues; pages that are built from the modules have them as modules. */
const fetchedCatalogues = {
  name: "fetched-catalogues",
  setup: (/** @type {import("esbuild").PluginBuild} */ builder) =>
    builder.onResolve({ filter: /catalogues\/load\.js$/ }, () => ({
      path: fileURLToPath(new URL("catalogues/fetched.js", FOLDER)),
    })),
};

/**
 * An element, and all that it needs, as one minified module.
 * @param {keyof typeof SCRIPTS} file @param {string} [tokens] the hash of the script for blind tokens
 */
export async function bundle(file, tokens) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(SCRIPTS[file], FOLDER))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    define: { "import.meta.tokens": JSON.stringify(tokens) ?? "undefined" },
    // Browsers that know this line compile every function while the file loads, off the thread on which the page waits.
    banner: { js: "//# allFunctionsCalledOnLoad" },
    write: false,
    plugins: [fetchedCatalogues],
  });
  return Buffer.from(outputFiles[0].contents);
}

/** The scripts of an author's preview, by the module that each begins with. No respondent's page loads them. */
export const BENCH = { "bench.js": "bench/bench.js", "frame.js": "bench/frame.js" };

/** One of them, with the libraries that it needs. @param {keyof typeof BENCH} file */
async function benchBundle(file) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(BENCH[file], FOLDER))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    write: false,
    plugins: [fetchedCatalogues],
  });
  return Buffer.from(outputFiles[0].contents);
}

/** The plugins for tools that store answers themselves, and what a page without a bundler gets of each. */
export const HOSTS = {
  "jspsych.js": {
    global: "jsPsychDeniable",
    after: "var jsPsychDeniableQuestion=jsPsychDeniable.default,jsPsychDeniableSurvey=jsPsychDeniable.DeniableSurveyPlugin;",
  },
  // A tag stands behind those of SurveyJS, whose global it adds to.
  "surveyjs.js": { global: "SurveyDeniable", after: "globalThis.Survey&&SurveyDeniable.registerDeniableQuestion(Survey);" },
};

/** One of them, as a script that needs no module. @param {keyof typeof HOSTS} file */
async function hostBundle(file) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../hosts/${file}`, FOLDER))],
    bundle: true,
    minify: true,
    format: "iife",
    globalName: HOSTS[file].global,
    footer: { js: HOSTS[file].after },
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    write: false,
  });
  return Buffer.from(outputFiles[0].contents);
}

/** Every generated file by its path, as it must be. @returns {Promise<Map<string, Uint8Array>>} */
export async function outputs() {
  const style = new URL("style.js", FOLDER);
  const module = styleModule();
  if (!process.argv.includes("--check")) writeFileSync(style, module); // the bundles hold it
  const files = /** @type {(keyof typeof SCRIPTS)[]} */ (Object.keys(SCRIPTS));
  const tokens = integrity(await bundle("deniable-tokens.js"));
  const made = await Promise.all(files.map(async (file) => /** @type {const} */ ([file, await bundle(file, tokens)])));
  const benches = /** @type {(keyof typeof BENCH)[]} */ (Object.keys(BENCH));
  const bench = await Promise.all(benches.map(async (file) => /** @type {const} */ ([`bench/dist/${file}`, await benchBundle(file)])));
  const hosts = /** @type {(keyof typeof HOSTS)[]} */ (Object.keys(HOSTS));
  const host = await Promise.all(hosts.map(async (file) => /** @type {const} */ ([file, await hostBundle(file)])));
  const { version } = JSON.parse(read("package.json").toString());
  const hashes = (/** @type {(readonly [string, Uint8Array])[]} */ some) => Object.fromEntries(some.map(([file, code]) => [file, integrity(code)]));
  const manifest = { version, integrity: hashes(made), hosts: hashes(host) };
  return new Map([
    ...made.map(([file, code]) => /** @type {const} */ ([`dist/${file}`, code])),
    ...bench,
    ...host.map(([file, code]) => /** @type {const} */ ([`dist/hosts/${file}`, code])),
    ["style.js", Buffer.from(module)],
    ["dist/manifest.json", Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)],
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const folder of ["dist/hosts/", "bench/dist/"]) mkdirSync(new URL(folder, FOLDER), { recursive: true });
  for (const [path, bytes] of await outputs()) {
    if (!process.argv.includes("--check")) {
      writeFileSync(new URL(path, FOLDER), bytes);
    } else if (!Buffer.from(bytes).equals(read(path))) {
      console.error(`${path}: is not what the sources make; run npm run build`);
      process.exitCode = 1;
    }
  }
}

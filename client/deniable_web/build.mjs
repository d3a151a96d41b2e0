// Builds dist/: a file for each element, for <script integrity>, the same gzipped as it is sent, and their hashes.
// `node build.mjs --check` builds and compares instead.
//
// The same sources, the same pinned esbuild and terser: the same bytes. Whoever doubts a collector's bundle builds it again.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import zopfli from "@gfx/zopfli";
import { build, transform } from "esbuild";
import { rolldown } from "rolldown";
import { minify } from "terser";
import { ownNames } from "./names.mjs";

const FOLDER = new URL(".", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER));

/** What browsers compare with the attribute `integrity`. @param {Uint8Array} bytes */
const integrity = (bytes, algorithm = "sha384") => `${algorithm}-${createHash(algorithm).update(bytes).digest("base64")}`;

/**
 * Errors of which no element shows the message: those that its own code makes impossible, or has words of its own for, and
 * what tells somebody who answers nothing.
 */
const SILENT =
  /new (ParameterError|AnswerError|NotInvited|ReportError|BudgetError|SurveyError(?=\("key:)|CollectorError(?=\("catalogues:))\(("[^"]*"|`[^`]*`)\)/g;

/** The stylesheet is a text within a module, so esbuild is told to make it small too. */
const smallCss = {
  name: "small-css",
  setup: (/** @type {import("esbuild").PluginBuild} */ builder) =>
    builder.onLoad({ filter: /[\\/]style\.js$/ }, async () => {
      const { css } = await import("./style.js");
      const { code } = await transform(css, { loader: "css", minify: true });
      return { contents: `export const css = ${JSON.stringify(code.trim().replaceAll(", ", ","))};` };
    }),
};

/** The bundle is one file: catalogues are fetched, not modules of their own. */
const fetchedCatalogues = {
  name: "fetched-catalogues",
  setup: (/** @type {import("esbuild").PluginBuild} */ builder) =>
    builder.onResolve({ filter: /catalogues\/load\.js$/ }, () => ({
      path: fileURLToPath(new URL("catalogues/fetched.js", FOLDER)),
    })),
};

/**
 * Sentences by their place in a catalogue, as `read` in catalogues/fetched.js has them, because names of 90 sentences weigh;
 * and nothing frozen, because nobody outside reaches what a bundle is made of; nor messages that nobody reads.
 */
const shortSources = {
  name: "short-sources",
  setup: (/** @type {import("esbuild").PluginBuild} */ builder) => {
    const keys = Object.keys(JSON.parse(read("catalogues/en.json").toString()));
    const short = (/** @type {string} */ key) => (keys.indexOf(key) + 360).toString(36);
    const number = (/** @type {string} */ whole, /** @type {string} */ before, /** @type {string} */ key) =>
      keys.includes(key) ? `${before}.${short(key)}` : whole;
    const place = (/** @type {string} */ whole, /** @type {string} */ key) => whole.replace(key, short(key));
    builder.onLoad({ filter: /deniable_web[\\/](mechanisms[\\/])?[a-z-]+\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8")
        .replace(/\b(m|words)\.(\w+)/g, number)
        .replaceAll("Object.freeze(", "(")
        .replace(SILENT, "new $1()")
        .replace(/^.* message = .*\n/m, "")
        .replace(/speechless = {[^}]*}/, (texts) => texts.replace(/^  (?!lang|dir)(\w+)(?=: ")/gm, place)),
    }));
  },
};

const { names, short, sources } = ownNames();

/** Names that no page sees. */
export const INNER = new RegExp(`^(${names.join("|")})$`);

/**
 * The files that pages load, one for each element, so that nobody waits for the other one: where each begins, after the
 * modules that it needs, in an order found by trying. Like stands near like, and gzip makes some bytes less of it.
 */
export const BUNDLES = {
  "deniable.js":
    "catalogues/index mechanisms/index group ceiling mechanisms/base strict-json fields randomness blind-rsa memory survey errors style tokens odds requests messages collector form screens store question-types dom sha simulator device base-element bundle",
  "deniable-question.js":
    "odds question-types collector ceiling mechanisms/index randomness memory question errors base-element style survey device messages store bundle-question",
};

/** What oxc does: Terser gives the names. */
const SMALL = /** @type {const} */ ({ compress: true, mangle: false, codegen: true });

/** A module, and all that it needs, as one module with short names. @param {string} contents */
export async function together(contents) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: fileURLToPath(FOLDER) },
    bundle: true,
    logOverride: { "ignored-bare-import": "silent" },
    format: "esm",
    target: "es2022",
    define: { "globalThis.HTMLElement": "HTMLElement", "globalThis.customElements": "customElements" }, // in a page
    mangleProps: INNER,
    mangleCache: short,
    charset: "utf8",
    legalComments: "none",
    write: false,
    metafile: true,
    plugins: [smallCss, fetchedCatalogues, shortSources],
  });
  const unread = Object.keys(metafile.inputs).filter((path) => path !== "<stdin>" && !sources.includes(resolve(path)));
  if (unread.length) throw new Error(`${unread}: must be in tsconfig.json, or nobody knows whose names it uses`);
  return outputFiles[0].text;
}

/** An element, and all that it needs, as one minified module. @param {keyof typeof BUNDLES} file */
export async function bundle(file) {
  const modules = BUNDLES[file].split(" ").map((name) => `import "./${name}.js";`);
  const text = await together(modules.join("\n"));
  // Esbuild puts together and mangles the properties; oxc, within Rolldown, and Terser each find some that the other one
  // leaves. The first line asks the browser to compile every function while the file loads, off the thread on which the
  // page waits.
  const whole = { name: "whole", resolveId: (/** @type {string} */ id) => id, load: () => text };
  const { output } = await (await rolldown({ input: file, plugins: [whole] })).generate({ format: "esm", minify: SMALL });
  const preamble = "//# allFunctionsCalledOnLoad";
  const terser = /** @type {const} */ ({ module: true, ecma: 2020 });
  const compress = { passes: 6, inline: 1, lhs_constants: false, pure_getters: true, unsafe_arrows: true };
  const compressed = await minify(output[0].code, { ...terser, compress, mangle: false });
  const { code } = await minify(String(compressed.code), { ...terser, compress: false, format: { preamble } });
  return Buffer.from(`${code}\n`);
}

/** Those bytes in the format of gzip, as few as possible. @param {Uint8Array} code */
async function gzipped(code) {
  const small = await zopfli.gzipAsync(code, { numiterations: 60 });
  if (!gunzipSync(small).equals(code)) throw new Error("zopfli: must give back what it was given");
  return small;
}

/** Every generated file by its path, as it must be. @returns {Promise<Map<string, Uint8Array>>} */
export async function outputs() {
  const files = /** @type {(keyof typeof BUNDLES)[]} */ (Object.keys(BUNDLES));
  const made = await Promise.all(files.map(async (file) => /** @type {const} */ ([file, await bundle(file)])));
  // Zopfli takes a hundred times as long as gzip for some 3 % less, once.
  const small = await Promise.all(made.map(async ([file, code]) => /** @type {const} */ ([`${file}.gz`, await gzipped(code)])));
  const { version } = JSON.parse(read("package.json").toString());
  const manifest = { version, integrity: Object.fromEntries(made.map(([file, code]) => [file, integrity(code)])) };
  return new Map([
    ...[...made, ...small].map(([file, code]) => /** @type {const} */ ([`dist/${file}`, code])),
    ["dist/manifest.json", Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)],
  ]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(new URL("dist/", FOLDER), { recursive: true });
  for (const [path, bytes] of await outputs()) {
    if (!process.argv.includes("--check")) {
      writeFileSync(new URL(path, FOLDER), bytes);
    } else if (!Buffer.from(bytes).equals(read(path))) {
      console.error(`${path}: is not what the sources make; run npm run build`);
      process.exitCode = 1;
    }
  }
}

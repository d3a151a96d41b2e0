// Builds dist/: a file for each element, for <script integrity>, and their hashes. `node build.mjs --check` builds and compares instead.
//
// The same sources, the same pinned esbuild and terser: the same bytes. Whoever doubts a collector's bundle builds it again.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";
import { rolldown } from "rolldown";
import { minify } from "terser";

const FOLDER = new URL(".", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER));

/** What browsers compare with the attribute `integrity`. @param {Uint8Array} bytes */
const integrity = (bytes, algorithm = "sha384") => `${algorithm}-${createHash(algorithm).update(bytes).digest("base64")}`;

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
 * and nothing frozen, because nobody outside reaches what a bundle is made of.
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
        .replace(/speechless = {[^}]*}/, (texts) => texts.replace(/^  (?!lang|dir)(\w+)(?=: ")/gm, place)),
    }));
  },
};

/** Names that no page sees: the methods and fields that modules share with each other alone. */
export const INNER = new RegExp(
  `^(${[
    "ifTrue ifOther kept parameters settle settleRows draw check row least markSent lasts recall",
    "forget inputs mark gone isSent isSame isLook hasTold totals isShared load place announce isOwn more isSeen notes labels sentence share words root show second isKept instantaneous cohortRequired isCohort surveyId restart fail begin around another later internals internals way total tongues published types makes isAsked stirred keep truth forced inside slope slopes knots hasShares margin tails weights isLive support epsilon run once look link collector number answer",
  ].join(" ").replaceAll(" ", "|")})$`,
);

/**
 * The files that pages load, one for each element, so that nobody waits for the other one: where each begins, after the
 * modules that it needs, in an order found by trying. Like stands near like, and gzip makes 30 bytes less of it.
 */
export const BUNDLES = {
  "deniable.js": 
    "catalogues/index mechanisms/index requests memory base-element errors odds sha256 device collector messages survey simulator dom style mechanisms/base screens ceiling store bundle",
  "deniable-question.js":
    "survey odds memory style ceiling errors randomness messages question collector store base-element mechanisms/index device bundle-question",
};

/** What oxc does: Terser gives the names. */
const SMALL = /** @type {const} */ ({ compress: true, mangle: false, codegen: true });

/** An element, and all that it needs, as one minified module. @param {keyof typeof BUNDLES} file */
export async function bundle(file) {
  const modules = BUNDLES[file].split(" ").map((name) => `"./${name}.js"`);
  const { outputFiles } = await build({
    stdin: {
      contents: modules.map((name) => `import ${name};`).join("\n"),
      resolveDir: fileURLToPath(FOLDER),
    },
    bundle: true,
    logOverride: { "ignored-bare-import": "silent" },
    format: "esm",
    target: "es2022",
    define: { "globalThis.HTMLElement": "HTMLElement", "globalThis.customElements": "customElements" }, // in a page
    mangleProps: INNER,
    charset: "utf8",
    legalComments: "none",
    write: false,
    plugins: [smallCss, fetchedCatalogues, shortSources],
  });
  // Esbuild puts together and mangles the properties; oxc, within Rolldown, and Terser each find some that the other one
  // leaves. The first line asks the browser to compile every function while the file loads, off the thread on which the
  // page waits.
  const together = { name: "together", resolveId: (/** @type {string} */ id) => id, load: () => outputFiles[0].text };
  const { output } = await (await rolldown({ input: file, plugins: [together] })).generate({ format: "esm", minify: SMALL });
  const preamble = "//# allFunctionsCalledOnLoad";
  const compress = { passes: 3, pure_getters: true, unsafe_arrows: true };
  const { code } = await minify(output[0].code, { module: true, ecma: 2020, compress, format: { preamble } });
  return Buffer.from(`${code}\n`);
}

/** Every generated file by its path, as it must be. @returns {Promise<Map<string, Uint8Array>>} */
export async function outputs() {
  const files = /** @type {(keyof typeof BUNDLES)[]} */ (Object.keys(BUNDLES));
  const made = await Promise.all(files.map(async (file) => /** @type {const} */ ([file, await bundle(file)])));
  const { version } = JSON.parse(read("package.json").toString());
  const manifest = { version, integrity: Object.fromEntries(made.map(([file, code]) => [file, integrity(code)])) };
  return new Map([
    ...made.map(([file, code]) => /** @type {const} */ ([`dist/${file}`, code])),
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

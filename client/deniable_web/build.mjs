// Builds dist/: one file for each element, for <script integrity>, a second one for surveys, and their hashes.
// `node build.mjs --check` builds and compares instead.
//
// esbuild joins the reviewed modules, leaves out white space and comments, shortens the names of local variables, and writes
// statements in their shorter form (`void 0`, `!0`, `a && b()`). It renames no property and moves no code between functions. The
// same sources and the same pinned esbuild make the same bytes, so whoever doubts a collector's bundle builds it again.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
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

/** The second script of a survey, from Start on; the first ones hold its hash. */
export const BESIDE = { "deniable-answering.js": "answering.js" };

/** What browsers compare with the attribute `integrity`. @param {Uint8Array} bytes */
const integrity = (bytes, algorithm = "sha384") => `${algorithm}-${createHash(algorithm).update(bytes).digest("base64")}`;

/**
 * The elements' style sheets as modules, without comments and white space, by the name of the module. style.js has the design system
 * with what all elements have beyond it, and what those with screens and those with fields have beyond that; style-asking.js what
 * questions have, which a survey does without until Start.
 */
export function styleModules() {
  const sheet = (/** @type {string[]} */ ...names) => {
    const css = names.map((name) => read(name).toString()).join("\n");
    const { code } = transformSync(css, { loader: "css", minify: true, charset: "utf8", target: "es2022" });
    // esbuild keeps the spaces within custom properties. There is no :root in an element.
    return `\`${code.trim().replace(/([:,]) /g, "$1").replace(":host,:root", ":host")}\`;\n`;
  };
  const from = (/** @type {string} */ names) => `//@ts-check\n/* Written by \`npm run build\` from ${names}. */\n\n`;
  const first = `export const css = ${sheet("design.css", "elements.css")}\nexport const screens = ${sheet("screens.css")}\nexport const fields = ${sheet("fields.css")}`;
  return new Map([
    ["style.js", from("design.css and elements.css, screens.css and fields.css") + first],
    ["style-asking.js", `${from("asking.css")}export const asking = ${sheet("asking.css")}`],
  ]);
}

/** A bundle is one file, so it fetches its catalogues; pages that are built from the modules have them as modules. */
const fetchedCatalogues = {
  name: "fetched-catalogues",
  setup: (/** @type {import("esbuild").PluginBuild} */ builder) =>
    builder.onResolve({ filter: /catalogues\/load\.js$/ }, () => ({
      path: fileURLToPath(new URL("catalogues/fetched.js", FOLDER)),
    })),
};

/** Browsers that know this line compile every function while the file loads, off the thread on which the page waits. */
const COMPILED_AT_ONCE = "//# allFunctionsCalledOnLoad\n";

/**
 * A module, and all that it needs, as one minified module.
 * @param {string} entry @param {import("esbuild").BuildOptions} [more]
 */
async function joined(entry, { plugins = [], ...more } = {}) {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(entry, FOLDER))],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    write: false,
    metafile: true,
    absWorkingDir: fileURLToPath(FOLDER),
    plugins: [fetchedCatalogues, ...plugins],
    ...more,
  });
  return { code: outputFiles[0].text, modules: Object.keys(metafile.inputs) };
}

/**
 * An element, and all that it needs.
 * @param {keyof typeof BUNDLES} file @param {string} [answering] the hash of the second script
 */
export async function bundle(file, answering) {
  const define = { "import.meta.answering": JSON.stringify(answering) ?? "undefined" };
  const { code } = await joined(BUNDLES[file], { define });
  return Buffer.from(COMPILED_AT_ONCE + code);
}

/** Modules that stand in the first script of any survey, without what it gives to the second. */
async function firstModules() {
  const nothing = {
    name: "nothing-given",
    setup: (/** @type {import("esbuild").PluginBuild} */ builder) => {
      builder.onResolve({ filter: /\/given\.js$/ }, ({ path }) => ({ path, namespace: "nothing" }));
      builder.onLoad({ filter: /./, namespace: "nothing" }, () => ({ contents: "export const given = [];" }));
    },
  };
  return new Set((await joined(BUNDLES["deniable-place.js"], { plugins: [nothing] })).modules);
}

/**
 * The second script, which holds no module of the first. What it needs of these it is given: it is one function of given.js, and returns
 * what `answering.js` exports. So both have the same classes of errors, and nothing has a name on the page.
 */
async function secondScript() {
  const [first, { given }] = await Promise.all([firstModules(), import(new URL("given.js", FOLDER).href)]);
  /** What a module of the first script exports, as far as it is given: esbuild names whatever is needed and is not. @param {string} module */
  const handedOn = async (module) => {
    const places = Object.entries(await import(new URL(module, FOLDER).href)).map(([name, value]) => /** @type {const} */ ([name, given.indexOf(value)]));
    const those = places.filter(([, place]) => place >= 0);
    // The first line makes a module even of nothing, of which any import is an error. A call is left out where nobody needs it, and no index.
    return ["export {};", ...those.map(([name, place]) => `export const ${name} = /* @__PURE__ */ Reflect.get(given, ${place});`)].join("\n");
  };
  const left = {
    name: "left-to-the-first",
    setup: (/** @type {import("esbuild").PluginBuild} */ builder) => {
      builder.onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const module = relative(fileURLToPath(FOLDER), join(resolveDir, path));
        return first.has(module) ? { path: module, namespace: "first" } : undefined;
      });
      builder.onLoad({ filter: /./, namespace: "first" }, async ({ path }) => ({ contents: await handedOn(path) }));
    },
  };
  const { code: called } = await joined(BESIDE["deniable-answering.js"], {
    entryPoints: [],
    stdin: { contents: `import { Visit } from "./${BESIDE["deniable-answering.js"]}"; made.Visit = Visit;`, resolveDir: fileURLToPath(FOLDER) },
    format: "iife",
    banner: { js: `${COMPILED_AT_ONCE}export default(given)=>{const made={};` },
    footer: { js: "return made};" },
    plugins: [left],
  });
  const code = called.replace(/Reflect\.get\(given,(\d+)\)/g, "given[$1]");
  const idle = given.filter((/** @type {unknown} */ _, /** @type {number} */ place) => !code.includes(`given[${place}]`));
  if (idle.length) throw new Error(`given.js: must give what the second script needs alone, got ${idle.map(String).join(", ")}`);
  return Buffer.from(code);
}

/** The scripts of an author's preview, by the module that each begins with. No respondent's page loads them. */
export const BENCH = { "bench.js": "bench/bench.js", "frame.js": "bench/frame.js" };

/** One of them, with the libraries that it needs. @param {keyof typeof BENCH} file */
const benchBundle = async (file) => Buffer.from((await joined(BENCH[file])).code);

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
  const styles = styleModules();
  // The bundles hold them. What has not changed is not written, because others may be reading it.
  const changed = [...styles].filter(([file, module]) => !existsSync(new URL(file, FOLDER)) || read(file).toString() !== module);
  if (!process.argv.includes("--check")) for (const [file, module] of changed) writeFileSync(new URL(file, FOLDER), module);
  const second = await secondScript();
  const files = /** @type {(keyof typeof BUNDLES)[]} */ (Object.keys(BUNDLES));
  const made = await Promise.all(files.map(async (file) => /** @type {const} */ ([file, await bundle(file, integrity(second))])));
  made.push(/** @type {any} */ (["deniable-answering.js", second]));
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
    ...[...styles].map(([file, module]) => /** @type {const} */ ([file, Buffer.from(module)])),
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

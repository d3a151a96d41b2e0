import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { CLIENT } from "../../client/deniable_web/index.js";
import { messages } from "../../client/deniable_web/messages.js";
import { css } from "../../client/deniable_web/style.js";
import { vectors } from "./helpers.js";

const FOLDER = new URL("../../client/deniable_web/", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FOLDER), "utf8");
const FILES = ["", "mechanisms/"].flatMap((folder) =>
  readdirSync(new URL(folder || ".", FOLDER)).filter((name) => name.endsWith(".js")).map((name) => folder + name),
);
const withoutComments = (/** @type {string} */ source) =>
  source.replace(/\/\*[^]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "").replace(/\s*\n\s*/g, "\n");

/** A module and everything that it loads. */
function loadedBy(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, target] of read(path).matchAll(/ from "([^"]+)"/g)) {
    assert.match(target, /^\.\.?\//, `${path} imports what is not its own: ${target}`);
    loadedBy(new URL(target, `x:/${path}`).pathname.slice(1), found);
  }
  return found;
}

/** Element and library as a site would ship them: one minified module, its stylesheet minified too. */
async function bundle() {
  const { build, transform } = await import(new URL("node_modules/esbuild/lib/main.js", FOLDER).href).catch((error) => {
    throw new Error("client/deniable_web/node_modules has no esbuild: run make test", { cause: error });
  });
  const smallCss = {
    name: "small-css",
    setup: (builder) =>
      builder.onLoad({ filter: /[\\/]style\.js$/ }, async () => {
        const { code } = await transform(css, { loader: "css", minify: true });
        return { contents: `export const css = ${JSON.stringify(code)};` };
      }),
  };
  const { outputFiles } = await build({
    stdin: { contents: 'export * from "./index.js"; import "./define.js";', resolveDir: fileURLToPath(FOLDER) },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
    plugins: [smallCss],
  });
  return outputFiles[0].contents;
}

test("a page loads only modules of this folder", () => {
  const modules = [...loadedBy("define.js")];
  assert.ok(modules.every((path) => FILES.includes(path)) && modules.includes("mechanisms/k-ary.js"));
});

test("element and library are at most 12 kB, bundled, minified and gzipped", async () => {
  const size = gzipSync(await bundle(), { level: 9 }).length;
  assert.ok(size <= 12 * 1024, `${size} bytes`);
});

test("no module can run markup, need an inline style, log, set a cookie, or draw from a weak generator", () => {
  const never = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|\.style\b|"style"|console\.|cookie|Math\.random|sendBeacon|XMLHttpRequest|import\(/;
  for (const path of FILES) assert.doesNotMatch(withoutComments(read(path)), never, path);
});

test("every module is type-checked", () => {
  for (const path of FILES) assert.ok(read(path).startsWith("//@ts-check\n"), path);
});

test("no text for respondents holds a word that misleads or frightens", () => {
  const odds = vectors("surveys").flatMap((vector) => vector.odds ?? []).flat();
  const texts = Object.values(messages).flatMap((each) => {
    if (typeof each === "function") return each("x");
    return typeof each === "object" ? Object.values(each) : each;
  });
  for (const text of [...texts, ...odds]) assert.doesNotMatch(text, /epsilon|differential|anonym|guarantee|\blies?\b/i);
});

test("one version in the package and on the receipt", () => {
  assert.equal(CLIENT, `deniable-web ${JSON.parse(read("package.json")).version}`);
});

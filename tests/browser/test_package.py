"""The npm package: what `npm pack` makes runs elsewhere, has types, and goes into apps that bundlers build."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import BrowserContext, expect

from deniable import MECHANISMS, Survey, read_survey
from tests.support.marks import long
from tools import programs
from tools.rig.browsing import Witness
from tools.rig.collectors import Collector

WEB = Path(__file__).parents[2] / "client" / "deniable_web"

TYPED = """
import { AnswerError, type Survey, encodeReport, fetchSurvey, randomize, submit } from "deniable";

export async function answer(link: string): Promise<string> {
  const survey: Survey = await fetchSurvey(link);
  const report = randomize(survey, { affair: "yes" }, { cohort: null });
  const id: string = report.id;
  // @ts-expect-error: a report is no answer
  submit(survey, "https://collector.example", report);
  const receipt = await submit(survey, "https://collector.example", encodeReport(report));
  if (new AnswerError("x").message) return id;
  // @ts-expect-error: a receipt cannot be looked up
  return receipt.id;
}
"""

FRAMEWORKS = (WEB.parents[1] / "docs" / "embedding" / "frameworks.md").read_text(encoding="utf-8")

WITH_REACT = "".join(re.findall(r"^```ts\n(import type.*?)^```", FRAMEWORKS, re.DOTALL | re.MULTILINE))
"""What the documents tell people to declare for React."""

ELEMENTS = """
import "deniable/element";

const question = document.createElement("deniable-question");
export const value: string = question.value;
export const isThere: boolean = question.reportValidity() && question.validity.valid;
export const page = <deniable-survey src="https://collector.example/s/x" isolated={false} />;
export const heard = <deniable-survey src="https://collector.example/s/x" ondeniable-complete={() => 7} />;
const src = "https://collector.example/s/x";
export const form = <deniable-question src={src} name="q7" style={{ margin: 0 }} dir="rtl" onChange={() => 7} />;
// @ts-expect-error: no such switch
export const wrong = <deniable-survey isolated={7} />;
"""

REACT = """export namespace JSX { interface Element {} interface IntrinsicElements {} }
export function jsx(type: unknown, props: unknown): JSX.Element;
export function jsxs(type: unknown, props: unknown): JSX.Element;
"""
"""What TypeScript asks of a library that makes elements of JSX, as React declares it."""

RUN = """
import { readFileSync } from "node:fs";
import { MECHANISMS, encodeReport, oddsSentences, parseSurvey, randomize } from "deniable";

const survey = await parseSurvey(new Uint8Array(readFileSync("survey.json")));
const report = JSON.parse(encodeReport(randomize(survey, { affair: "yes" })));
console.log(JSON.stringify([MECHANISMS.size, survey.id, report.values.affair, oddsSentences(survey.questions[0])]));
"""


def run(*command: str, folder: Path) -> str:
    """The output of a command that must succeed."""
    environment = programs.node_environment()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of somebody else's in which the package is installed."""
    folder = tmp_path_factory.mktemp("npm")
    run(*programs.npm_command(), "pack", "--silent", "--pack-destination", str(folder), folder=WEB)
    (archive,) = folder.glob("*.tgz")
    target = folder / "node_modules" / "deniable"
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.2, which Debian 12 has, knows no filters
            packed.extraction_filter = tarfile.data_filter
        packed.extractall(folder)
    target.parent.mkdir()
    (folder / "package").rename(target)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    return folder


def test_package_runs(installed: Path) -> None:
    survey = read_survey(
        'title = "T"\n[[questions]]\nid = "affair"\ntype = "yes-no"\ntext = "An affair?"\ntruth = "1/2"\n'
    )
    (installed / "survey.json").write_bytes(survey.document)
    (installed / "run.mjs").write_text(RUN, encoding="utf-8")
    mechanisms, survey_id, value, odds = json.loads(run(*programs.node_command(), "run.mjs", folder=installed))
    assert (mechanisms, survey_id) == (len(MECHANISMS), survey.id)
    assert value in (0, 1)
    assert odds[0] == "Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No."


def test_package_has_types(installed: Path) -> None:
    (installed / "typed.ts").write_text(TYPED, encoding="utf-8")
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--types", ""]
    compiler = WEB / "node_modules" / "typescript" / "bin" / "tsc"
    run(*programs.node_command(), str(compiler), *options, "typed.ts", folder=installed)


@pytest.mark.parametrize("jsx", [long("preserve"), "react-jsx"])
def test_elements_have_types_in_pages_and_in_jsx(installed: Path, jsx: str) -> None:
    react = installed / "node_modules" / "react"
    react.mkdir(exist_ok=True)
    for name in ("index.d.ts", "jsx-runtime.d.ts"):
        text = REACT if name == "index.d.ts" else 'export * from "react";'
        (react / name).write_text(text, encoding="utf-8")
    (react / "package.json").write_text(
        '{"name": "react", "exports": {".": {"types": "./index.d.ts"}, '
        '"./jsx-runtime": {"types": "./jsx-runtime.d.ts"}}}',
        encoding="utf-8",
    )
    assert "DeniableElements" in WITH_REACT
    (installed / "elements.tsx").write_text((WITH_REACT if jsx == "react-jsx" else "") + ELEMENTS, encoding="utf-8")
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--types", "", "--jsx", jsx]
    compiler = WEB / "node_modules" / "typescript" / "bin" / "tsc"
    run(*programs.node_command(), str(compiler), *options, "elements.tsx", folder=installed)


def test_package_holds_the_bundles_and_the_catalogues_and_no_tests(installed: Path) -> None:
    package = installed / "node_modules" / "deniable"
    for name in (
        "deniable.js",
        "deniable-place.js",
        "deniable-question.js",
        "deniable-told.js",
        "deniable-answering.js",
    ):
        assert (package / "dist" / name).read_bytes() == (WEB / "dist" / name).read_bytes()
    languages = {path.stem for path in (package / "catalogues").glob("*.json")}
    assert languages == {"ar", "de", "en", "es", "fr"}
    kinds = {path.suffix for path in package.rglob("*") if path.is_file()}
    assert kinds == {".js", ".json", ".ts", ".md"}


APP = """import "deniable/element";
const survey = document.createElement("deniable-survey");
survey.setAttribute("src", new URLSearchParams(location.search).get("survey"));
document.querySelector("main").append(survey);
"""

PAGE = """<!doctype html><html lang="de"><title>An app</title><link rel="icon" href="data:,">
<main></main><script type="module" src="./app.js"></script>"""

BUNDLERS = {
    "esbuild": """import { build } from "esbuild";
await build({ entryPoints: ["app.js"], bundle: true, splitting: true, format: "esm", outdir: "built/esbuild" });""",
    "rollup": """import { rollup } from "rollup";
import resolve from "@rollup/plugin-node-resolve";
const made = await rollup({ input: "app.js", plugins: [resolve()] });
await made.write({ dir: "built/rollup", format: "esm" });""",
    "vite": """import { build } from "vite";
await build({ base: "./", build: { outDir: "built/vite" }, logLevel: "error" });""",
    "webpack": """import webpack from "webpack";
const output = { path: `${process.cwd()}/built/webpack`, filename: "app.js" };
webpack({ entry: "./app.js", mode: "production", output }, (error, stats) => {
    if (error || stats.hasErrors()) throw error ?? new Error(stats.toString());
});""",
}
"""What somebody writes who builds an app with the package: nothing about this package, in any of them."""

VITE_DEV = """import { createServer } from "vite";
const server = await createServer({ server: { host: "127.0.0.1", port: 0 }, logLevel: "error" });
await server.listen();
console.log(server.resolvedUrls.local[0]);"""


@pytest.fixture(scope="module")
def app(installed: Path) -> Path:
    """An app of somebody else's that uses the package, with the bundlers of our own tests beside it."""
    for name in ("esbuild", "rollup", "@rollup", "vite", "webpack"):
        (installed / "node_modules" / name).symlink_to(WEB / "node_modules" / name)
    (installed / "app.js").write_text(APP, encoding="utf-8")
    (installed / "index.html").write_text(PAGE, encoding="utf-8")
    return installed


def test_importing_the_elements_where_there_is_no_document_does_nothing(installed: Path) -> None:
    code = 'await import("deniable/element"); console.log(typeof customElements)'
    assert run(*programs.node_command(), "--input-type=module", "--eval", code, folder=installed) == "undefined\n"


@pytest.mark.parametrize("bundler", [long(each) if each in ("rollup", "webpack") else each for each in BUNDLERS])
def test_apps_are_built_with_the_package(
    app: Path, bundler: str, collector: Collector, context: BrowserContext, demo_survey: Survey
) -> None:
    (app / "build.mjs").write_text(BUNDLERS[bundler], encoding="utf-8")
    run(*programs.node_command(), "build.mjs", folder=app)
    built = app / "built" / bundler
    if not (built / "index.html").exists():
        (built / "index.html").write_text(PAGE, encoding="utf-8")
    (policy,) = re.findall(r"it needs `(script-src 'self'; .*?)`", FRAMEWORKS)
    with served(built, policy.replace("https://collector.example", collector.url)) as address:
        speaks_german(context, address, collector.publish(demo_survey))


def test_app_runs_in_the_server_that_developers_use(
    app: Path, collector: Collector, context: BrowserContext, demo_survey: Survey
) -> None:
    (app / "dev.mjs").write_text(VITE_DEV, encoding="utf-8")
    with subprocess.Popen(
        [*programs.node_command(), "dev.mjs"], cwd=app, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), address
            speaks_german(context, address.rstrip("/"), collector.publish(demo_survey))
        finally:
            server.terminate()


def speaks_german(context: BrowserContext, address: str, link: str) -> None:
    """The element runs in the app, and found its catalogue."""
    page = context.new_page()
    witness = Witness.of(page)
    page.goto(f"{address}/index.html?survey={quote(link, safe='')}")
    expect(page.get_by_role("button", name="Starten")).to_be_visible()
    assert [line for line in witness.lines if "[vite]" not in line] == []


@contextmanager
def served(folder: Path, policy: str) -> Iterator[str]:
    """A plain web server for the files of a folder, with a content security policy."""
    handler = partial(QuietHandler, directory=str(folder), policy=policy)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def __init__(self, *arguments: Any, policy: str, **more: Any) -> None:
        self.policy = policy  # first, because a handler answers while it is made
        super().__init__(*arguments, **more)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass

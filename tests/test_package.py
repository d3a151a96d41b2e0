"""The npm package: what `npm pack` makes, installed elsewhere, runs and has types."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

import tools
from deniable import read_survey

WEB = Path(__file__).parent.parent / "client" / "deniable_web"

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

RUN = """
import { readFileSync } from "node:fs";
import { MECHANISMS, encodeReport, oddsSentences, parseSurvey, randomize } from "deniable";

const survey = await parseSurvey(new Uint8Array(readFileSync("survey.json")));
const report = JSON.parse(encodeReport(randomize(survey, { affair: "yes" })));
console.log(JSON.stringify([MECHANISMS.size, survey.id, report.answers.affair, oddsSentences(survey.questions[0])]));
"""


def run(*command: str, folder: Path) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of somebody else's in which the package is installed."""
    folder = tmp_path_factory.mktemp("npm")
    run(*tools.npm_command(), "pack", "--silent", "--pack-destination", str(folder), folder=WEB)
    (archive,) = folder.glob("*.tgz")
    target = folder / "node_modules" / "deniable"
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
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
    mechanisms, survey_id, value, odds = json.loads(run(*tools.node_command(), "run.mjs", folder=installed))
    assert (mechanisms, survey_id) == (10, survey.id)
    assert value in (0, 1)
    assert odds[0] == "Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No."


def test_package_has_types(installed: Path) -> None:
    (installed / "typed.ts").write_text(TYPED, encoding="utf-8")
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--types", ""]
    compiler = WEB / "node_modules" / "typescript" / "bin" / "tsc"
    run(*tools.node_command(), str(compiler), *options, "typed.ts", folder=installed)


def test_package_holds_the_bundle_and_the_catalogues_and_no_tests(installed: Path) -> None:
    package = installed / "node_modules" / "deniable"
    assert (package / "dist" / "deniable.js").read_bytes() == (WEB / "dist" / "deniable.js").read_bytes()
    languages = {path.stem for path in (package / "catalogues").glob("*.json")}
    assert languages == {"ar", "de", "en", "es", "fr"}
    kinds = {path.suffix for path in package.rglob("*") if path.is_file()}
    assert kinds == {".js", ".json", ".ts", ".md"}

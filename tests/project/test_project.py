"""The project's own papers: one version everywhere, pins with hashes, every cited work in the bibliography."""

from __future__ import annotations

import gc
import itertools
import json
import random
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import register_random

import deniable
from deniable_client.client import CLIENT

ROOT = Path(__file__).parents[2]
WEB = ROOT / "client" / "deniable_web"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BROWSER = json.loads((WEB / "package.json").read_text(encoding="utf-8"))["version"]


def numbers(version: str) -> tuple[int, ...]:
    """The release that a version belongs to: 0.2.0 of 0.2.0.post1.dev5."""
    found = re.match(r"\d+(\.\d+)*", version)
    assert found, version
    return tuple(map(int, found[0].split(".")))


def test_all_that_is_committed_has_one_version() -> None:
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    (client,) = re.findall(r'CLIENT = "deniable-web (.*)"', (WEB / "collector.js").read_text(encoding="utf-8"))
    (container,) = re.findall(r"ARG VERSION=(.*)", (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8"))
    found = {
        "lock file": lock["version"],
        "package in the lock file": lock["packages"][""]["version"],
        "manifest": json.loads((WEB / "dist" / "manifest.json").read_text(encoding="utf-8"))["version"],
        "collector.js": client,
        "CITATION.cff": citation["version"],
        "fallback": PROJECT["tool"]["hatch"]["version"]["fallback-version"].removesuffix(".dev0"),
        "container": container.removesuffix(".dev0"),
    }
    assert found == dict.fromkeys(found, BROWSER)
    assert f"deniable-web {BROWSER}" in (WEB / "dist" / "deniable.js").read_text(encoding="utf-8")


def test_python_is_of_the_release_of_the_browser_or_of_the_one_before() -> None:
    """After a tag both are that release; while the next one is made, the committed version goes first."""
    assert numbers(deniable.__version__) <= numbers(BROWSER)
    assert f"deniable-python {deniable.__version__}" == CLIENT


def test_a_tag_is_the_version_of_everything() -> None:
    described = subprocess.run(
        ["git", "tag", "--points-at", "HEAD", "--list", "v*"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert set(described.stdout.split()) <= {f"v{BROWSER}"}  # an archive has no tags, and needs none


def test_version_comes_from_tags_and_a_tree_without_git_has_one() -> None:
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["source"] == "vcs"
    assert set(PROJECT["build-system"]["requires"]) == {"hatchling", "hatch-vcs"}
    assert PROJECT["project"]["authors"] == [{"name": "The Deniable authors"}]


def pins(name: str) -> dict[str, str]:
    """Version by normalised name."""
    found = re.findall(r"^([\w.-]+)==([^\s;\\]+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", package).lower(): version for package, version in found}


@pytest.mark.parametrize("name", ["requirements.txt", "deploy/requirements.txt"])
def test_requirements_are_the_constraints_with_hashes_and_name_no_host(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "//" not in text
    assert not re.search(r"^\s*--(?!hash=sha256:[0-9a-f]{64}( \\)?$)", text, re.MULTILINE)
    entries = re.split(r"\n(?=\S)", text.strip())
    assert all(entry.count("--hash=sha256:") >= 1 for entry in entries)
    with_hashes, tested = pins(name), pins("constraints.txt")
    assert len(entries) == len(with_hashes)
    elsewhere = {"colorama"}  # Windows alone needs it, and what is tested together is tested on Linux
    assert {each: tested.get(each) for each in with_hashes if each not in elsewhere} == {
        each: version for each, version in with_hashes.items() if each not in elsewhere
    }, "run: make requirements"


def needed(*extras: str) -> Iterator[str]:
    """What the package, what builds it and some extras ask for, by normalised names."""
    of_extras = [PROJECT["project"]["optional-dependencies"][extra] for extra in extras]
    lists = [PROJECT["project"]["dependencies"], PROJECT["build-system"]["requires"], *of_extras]
    for line in itertools.chain.from_iterable(lists):
        name = re.sub(r"[-_.]+", "-", re.split(r"[\[<>=! ]", line)[0]).lower()
        if name != "deniable":
            yield name


def test_requirements_have_all_that_the_project_asks_for() -> None:
    assert set(needed(*PROJECT["project"]["optional-dependencies"])) <= set(pins("requirements.txt"))
    of_collectors = set(pins("deploy/requirements.txt"))
    assert set(needed("server", "postgresql")) <= of_collectors
    assert not {"matplotlib", "scipy", "pandas"} & of_collectors, "a collector needs none of these"


BIBLIOGRAPHY = (ROOT / "docs" / "references.md").read_text(encoding="utf-8")


def plain(text: str) -> str:
    """A text without what differs between two places that cite the same: quotes, case and line breaks."""
    return re.sub(r"[\"'\s]+", " ", text).casefold()


def cited(text: str) -> set[str]:
    """Titles, volumes with pages, and preprints that the docstrings of a file cite."""
    text = re.sub(r"\s+", " ", text)
    titles = re.findall(r"[A-Z]\. (?:[\w-]+|et al\.), \"([^\"]{10,200})\",", text)
    volumes = re.findall(r"\b\d+ \((?:18|19|20)\d\d\), \d+(?:-\d+)?", text)
    return {*titles, *volumes, *re.findall(r"arXiv:\d{4}\.\d{5}", text)}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "shared").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT / "shared"))
)
def test_every_cited_work_stands_in_the_bibliography(path: Path) -> None:
    known = plain(BIBLIOGRAPHY)
    for work in cited(path.read_text(encoding="utf-8")):
        assert plain(work) in known, f"{path.name} cites {work}, which docs/references.md has not"


@pytest.mark.slow
def test_citations_are_found() -> None:
    everything = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "shared").rglob("*.py"))
    assert len(cited(everything)) >= 90
    assert "Bias reduction of maximum likelihood estimates" in cited(everything)
    assert "60 (1965), 63-69" in cited(everything)


def test_bibliography_is_in_the_order_of_names_and_names_nothing_twice() -> None:
    for section in BIBLIOGRAPHY.split("\n## ")[1:]:
        authors = [re.split(r", | et al", line)[0] for line in re.findall(r"^- (.*)", section, re.MULTILINE)]
        names = [re.sub(r"^([A-Z]\.[ -]?)+", "", author).replace("\u00f6", "o").casefold() for author in authors]
        assert names == sorted(names)
    titles = re.findall(r"\"(.*?)\",", BIBLIOGRAPHY)
    assert len(titles) == len(set(titles))


def test_workflow_runs_what_everybody_runs_on_every_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert job["steps"][-1] == {"run": ".ci/run"}
    assert job["strategy"]["matrix"]["python"] == ["3.11", "3.12", "3.13"]
    assert workflow["permissions"] == {"contents": "read"}


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda path: path.stem
)
def test_issue_forms_are_forms(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    ids = [each["id"] for each in form["body"] if each["type"] != "markdown"]
    assert ids
    assert len(ids) == len(set(ids))


def test_a_generator_of_hypothesis_may_be_held_by_what_is_frozen() -> None:
    """On Python 3.14 Hypothesis puts its own generator into a dictionary that tests/conftest.py froze."""
    holder = [random.Random()]
    gc.freeze()
    register_random(holder[0])

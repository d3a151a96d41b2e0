"""The site and its tutorials: every page stands behind a door, sentences are short, pages show what is printed."""

from __future__ import annotations

import csv
import doctest
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import click
import pytest
import yaml
from click.testing import CliRunner

from deniable_commands.main import main
from deniable_server.app import create_app
from tests.support.extras import with_extras
from tools import make_drawings, tutorials
from tools.packages import rscript
from tools.rig.patience import PATIENCE
from tools.site import docstrings, elsewhere, glossary
from tools.tutorials import NOT_RUN, blocks_of, commands_of, comparable, executed

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TUTORIALS = sorted((DOCS / "learn").glob("*.md"))
DEPLOY = ROOT / "deploy"
EXAMPLE = ROOT / "examples" / "exams"


def behind(door: str) -> list[str]:
    """The pages that a door lists, in order."""
    (listed,) = re.findall(r"```\{toctree\}\n:hidden:\n\n(.*?)```", (DOCS / f"{door}.md").read_text("utf-8"), re.DOTALL)
    return str(listed).split()


DOORS = {door: behind(door) for door in ("learn", "do", "look-up", "understand")}


def test_every_page_stands_behind_one_door_and_is_named_there() -> None:
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    outside = {"index", *behind("index")}
    listed = [page for pages in DOORS.values() for page in pages]
    assert len(listed) == len(set(listed))
    assert pages == {*listed, *outside}
    for door, of_door in DOORS.items():
        text = (DOCS / f"{door}.md").read_text(encoding="utf-8")
        named = set(re.findall(r"\]\(([\w/-]+)\.md", text))
        assert {page for page in of_door if not page.startswith("embedding/") or page.endswith("README")} <= named, door


def test_terms_of_the_glossary_are_explained_once_and_in_two_lines_or_so() -> None:
    page = (DOCS / "glossary.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert len(headings) == len(set(headings)) > 30
    words = glossary.terms(page)
    assert set(words.values()) <= set(headings)
    assert {"epsilon", "noisy report", "cohort", "release"} - words.keys() == {"release"}
    assert words["released"] == "Release"


@pytest.mark.parametrize("name", make_drawings.drawings())
def test_drawings_are_what_their_script_draws(name: str) -> None:
    assert (make_drawings.FOLDER / name).read_text("utf-8") == make_drawings.drawings()[name], (
        "run: python -m tools.make_drawings"
    )


def deniable_lines(page: Path) -> Iterator[list[str]]:
    """The command lines of a tutorial that begin with `deniable`, word by word."""
    for block in blocks_of(page.read_text(encoding="utf-8")):
        for line, _ in commands_of(block) if block.language == "console" else ():
            for part in re.split(r"[|;]|&&|>", line.replace("\\\n", " ")):
                if re.match(r"\s*(/opt/deniable/bin/)?deniable ", part):
                    yield shlex.split(part)[1:]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_options_of_a_tutorial_exist(page: Path) -> None:
    lines = list(deniable_lines(page))
    assert len(lines) > 4
    for words in lines:
        command: click.Command = main
        context = click.Context(main, info_name="deniable", obj=main, **main.context_settings)
        while isinstance(command, click.Group):
            _, found, words = command.resolve_command(context, words)
            assert found is not None
            command = found
            context = click.Context(command, parent=context)
        known = {name for each in command.get_params(context) for name in each.opts}
        assert {word for word in words if re.match("--[a-z]", word)} <= known, words


def with_named_extras(text: str) -> dict[str, str]:
    """Variables for commands to have the extras that a tutorial says to install, and no others."""
    (extras,) = re.findall(r"You need\s+an environment with `pip install '\.\[([\w,]+)\]'`", text)
    return {
        name: value for name, value in with_extras(str(extras).split(",")).items() if name in ("PYTHONPATH", "HIDDEN")
    }


def run(page: Path, leaving_out: frozenset[str]) -> None:
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        printed = executed(text, Path(folder), leaving_out, with_named_extras(text))
        assert comparable(printed) == comparable(text), "run: make tutorials"


@pytest.mark.parametrize("module", [glossary, docstrings, elsewhere, tutorials], ids=lambda module: module.__name__)
def test_examples_of_the_tools_hold(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)


@pytest.mark.long
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_shows_what_its_commands_print(page: Path) -> None:
    run(page, NOT_RUN | {"r"})


@pytest.mark.r
def test_the_tutorial_shows_what_r_prints() -> None:
    run(DOCS / "learn" / "paper.md", NOT_RUN)


@pytest.mark.r
def test_r_of_the_documents_subtracts_groups(tmp_path: Path) -> None:
    page = (DOCS / "researchers.md").read_text(encoding="utf-8")
    _, script, _ = re.findall(r"```r\n(.*?)```", page, re.DOTALL)
    data, toml = str(EXAMPLE / "reports.csv"), str(EXAMPLE / "exams.toml")
    for arguments in (
        ["shares", data, "--survey", toml, "--by", "cohort", "--to", str(tmp_path / "estimates.csv")],
        ["compare", data, "cheated", "--survey", toml, "--by", "cohort", "--to", str(tmp_path / "compare.csv")],
    ):
        done = CliRunner().invoke(main, ["analyze", *arguments])
        assert done.exit_code == 0, done.output
    command = [rscript(), "-e", f'estimates <- read.csv("estimates.csv")\n{script}']
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    difference, error = map(float, said.split()[-2:])
    with (tmp_path / "compare.csv").open(encoding="utf-8", newline="") as file:
        ours = next(csv.DictReader(file))
    assert (abs(difference), error) == pytest.approx((abs(float(ours["estimate"])), float(ours["std_error"])), abs=1e-4)


@pytest.mark.r
def test_r_of_the_page_by_hand_finds_its_numbers() -> None:
    page = (DOCS / "by-hand.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```r\n(.*?)```", page, re.DOTALL)
    reports, counted, of_cohort = re.findall(r"`((?:reports <- |table\().*?)`", page)
    shown = re.search(r"# (.*)", script)
    assert shown is not None
    code = f"{script}\n{reports}\n{counted}\n{of_cohort}"
    run_r = [rscript(), "-e", code]
    done = subprocess.run(run_r, cwd=DOCS.parent, capture_output=True, text=True, timeout=PATIENCE, check=True)
    first, *rest = done.stdout.splitlines()
    assert first.split()[1:] == shown[1].split() == ["0.293", "0.017"]
    zeros, ones = map(int, rest[2].split())
    assert (zeros + ones, ones) == (2000, 737)
    with (EXAMPLE / "reports.csv").open(encoding="utf-8", newline="") as file:
        final = [row["cheated"] for row in csv.DictReader(file) if row["cohort"] == "final year"]
    assert rest[5].split() == [str(final.count("0")), str(final.count("1"))]


def test_what_a_tutorial_does_not_run_needs_a_machine_of_its_own() -> None:
    """The one exception: what root does to a machine, which tests must not."""
    for page in TUTORIALS:
        for block in blocks_of(page.read_text(encoding="utf-8")):
            if block.notes & NOT_RUN:
                assert page.stem == "institution"
                assert re.search(r"apt-get|useradd|install|systemctl|runuser|/etc/", block.text)


def test_the_example_of_the_tutorial_is_what_its_script_draws() -> None:
    import importlib.util
    import random

    about = importlib.util.spec_from_file_location("exams", EXAMPLE / "make.py")
    assert about
    assert about.loader
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    drawn = {
        "reports": module.make(random.Random(1974)),
        "studied": module.make_studied(random.Random(1975)),
        "years": module.make_years(random.Random(1976)),
        "work": module.make_work(random.Random(1978)),
        "points": module.make_points(random.Random(1977)),
    }
    for name, text in drawn.items():
        assert text == (EXAMPLE / f"{name}.csv").read_bytes().decode(), "run: python examples/exams/make.py"


def test_alarms_and_dashboard_ask_for_figures_that_a_collector_has(tmp_path: Path) -> None:
    app = create_app(tmp_path / "test.db")
    try:
        collected = app.extensions["deniable-metrics"].collect()
        known = {sample for each in collected for sample in (each.name, *(f"{each.name}{end}" for end in SUFFIXES))}
    finally:
        app.extensions["deniable"]["writer"].stop()
        app.extensions["deniable"]["store"].close()
    rules = yaml.safe_load((DEPLOY / "deniable-alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    asked = [rule["expr"] for rule in rules]
    asked += [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    figures = {name for each in asked for name in re.findall(r"\bdeniable_\w+", each)}
    assert len(figures) == 6
    assert figures <= known
    jobs = {job["job_name"] for job in yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]}
    assert {name for each in asked for name in re.findall(r'job="([\w-]+)"', each)} == jobs
    assert "absent(probe_success" in next(each for each in asked if 'up{job="deniable-ready"}' in each)
    document = (DOCS / "monitoring.md").read_text(encoding="utf-8")
    severities = {rule["alert"]: rule["labels"]["severity"] for rule in rules}
    assert dict(re.findall(r"^\| `(Deniable\w+)` \| (\w+) \|", document, re.MULTILINE)) == severities


def test_an_empty_database_calls_somebody_although_it_gives_no_figures() -> None:
    """It knows no token of Prometheus, so that no rule on a figure can fire."""
    rules = yaml.safe_load((DEPLOY / "deniable-alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
    (refused,) = (rule for rule in rules if rule["alert"] == "DeniableTokenRefused")
    assert "deniable_" not in refused["expr"]
    assert (refused["labels"], "created a new database" in refused["annotations"]["description"]) == (
        {"severity": "page"},
        True,
    )


def test_lines_for_severities_and_for_a_second_collector_fit_the_files() -> None:
    document = (DOCS / "monitoring.md").read_text(encoding="utf-8")
    rules = yaml.safe_load((DEPLOY / "deniable-alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
    first, ready = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    (second,), (targets,) = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", document, re.DOTALL))
    routing = yaml.safe_load((DEPLOY / "alertmanager.yml").read_text("utf-8"))
    asked = {matcher for each in routing["route"]["routes"] for matcher in each["matchers"]}
    receivers = {routing["route"]["receiver"], *(each["receiver"] for each in routing["route"]["routes"])}
    assert receivers == {each["name"] for each in routing["receivers"]}
    assert document.index("deploy/alertmanager.yml /etc") < document.index("amtool alert add"), "first who is told"
    assert asked < {f'severity="{rule["labels"]["severity"]}"' for rule in rules}, "the others go to the first receiver"
    # A job of a name of its own, whose figures have the label for which the alerts ask.
    assert second["relabel_configs"] == [{"target_label": "job", "replacement": first["job_name"]}]
    own = ("job_name", "authorization", "static_configs", "relabel_configs")
    assert all(second[key] != first.get(key) for key in own)
    assert {key: second[key] for key in second if key not in own} == {
        key: first[key] for key in first if key not in own
    }
    assert set(ready["static_configs"][0]["targets"]) < set(targets["targets"])


SUFFIXES = ("_total", "_count", "_bucket", "_sum")
"""What Prometheus adds to the name of a counter or a histogram."""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_there_for_the_shells_that_the_page_names(shell: str) -> None:
    page = (DOCS / "completion.md").read_text(encoding="utf-8")
    assert f"_DENIABLE_COMPLETE={shell}_source deniable" in page
    done = CliRunner().invoke(main, [], prog_name="deniable", env={"_DENIABLE_COMPLETE": f"{shell}_source"})
    assert (done.exit_code, "_DENIABLE_COMPLETE" in done.stdout) == (0, True)


class Requests(HTMLParser):
    """What a browser fetches by itself to show a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag in {"script", "img", "iframe", "source"}:
            self.found += [names["src"] or ""] if "src" in names else []
        if tag == "link":
            self.found.append(names.get("href") or "")


class Prose(HTMLParser):
    """The prose of a page, part by part, and whether each part is a link to the glossary."""

    APART = frozenset({"code", "pre", "h1", "h2", "h3", "h4", "h5", "thead", "script", "style", "svg", "title"})

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[tuple[str, bool]] = []
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self._open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tags = {tag for tag, _ in self._open}
        in_link = next((classes for tag, classes in reversed(self._open) if tag == "a"), None)
        if "article" in tags and not tags & self.APART and in_link is None:
            self.parts.append((data, False))
        elif in_link is not None and "term" in in_link.split():
            self.parts.append((data, True))


VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "path", "source", "use", "wbr"})


def unlinked_terms(page: str, headings: dict[str, str]) -> list[str]:
    """Terms of the glossary that a page uses before it links them, or links more than once."""
    prose, pattern = Prose(), glossary.pattern_of(headings)
    prose.feed(page)
    linked: set[str] = set()
    wrong = []
    for text, is_link in prose.parts:
        for found in pattern.finditer(text):
            heading = headings[found[1].lower()]
            if is_link == (heading in linked):
                wrong.append(found[0])
            linked |= {heading} if is_link else set()
    return wrong


def test_terms_without_a_link_are_noticed() -> None:
    link = '<a class="term reference internal" href="g">epsilon</a>'
    for text, wrong in ((f"{link} epsilon", []), (f"epsilon {link}", ["epsilon"]), (link * 2, ["epsilon"])):
        assert unlinked_terms(f"<article><p>{text}<code>epsilon</code></p></article>", {"epsilon": "Epsilon"}) == wrong


def test_the_site_is_built_without_warnings_and_asks_no_other_host(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-c",
        "tools/site",
        "-W",
        "--keep-going",
        "--quiet",
        "docs",
        str(tmp_path),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    # Beside pages there are a part of the theme and the examples for embedding, which people download.
    pages = [each for each in tmp_path.rglob("*.html") if not {"_static", "_downloads"} & set(each.parts)]
    assert len(pages) > 50
    for page in pages:
        requests = Requests()
        requests.feed(page.read_text(encoding="utf-8"))
        assert requests.found
        assert [each for each in requests.found if re.match(r"(\w+:)?//", each)] == [], page
    for style in tmp_path.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", style.read_text(encoding="utf-8")), style
    headings = glossary.terms((DOCS / "glossary.md").read_text(encoding="utf-8"))
    for page in pages:
        name = page.relative_to(tmp_path).with_suffix("").as_posix()
        if not name.startswith((*glossary.UNLINKED, "search", "genindex", "py-modindex")) and name != "embedding/index":
            assert unlinked_terms(page.read_text(encoding="utf-8"), headings) == [], name
    survey = (tmp_path / "learn" / "survey.html").read_text(encoding="utf-8")
    assert survey.count('href="../glossary.html#epsilon"') == 1
    assert len(re.findall(r'class="term[^"]*"', survey)) >= 5
    assert "searchindex.js" in (tmp_path / "search.html").read_text(encoding="utf-8")

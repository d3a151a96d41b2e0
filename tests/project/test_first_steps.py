"""First steps by the documents alone: what the README says is done in the environment that it says to make.

So it is of the pages on which somebody goes on who has read it: for researchers, and about installing.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib.metadata import entry_points
from itertools import groupby
from pathlib import Path

import pandas as pd
import pytest

from deniable import read_survey
from deniable_statistics.data.writing import library
from tests.support.extras import results_with, with_extras
from tools.rig.collectors import answers, free_port
from tools.rig.patience import PATIENCE, wait_until

ROOT = Path(__file__).parents[2]
README, RESEARCHERS, INSTALLING = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/researchers.md", "docs/installing.md")
)
HELP = dict(
    re.findall(
        r"^## `(.+?)`\n\n```text\n(.*?)\n```$",
        (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
)
EXTRAS = {
    extra: [each.name for each in entry_points(group=f"deniable.commands.{extra}")]
    for extra in ("audit", "research", "server")
}


@pytest.mark.slow
@pytest.mark.parametrize("extras", [(), ("server",), ("research",)], ids=lambda extras: "+".join(extras) or "none")
def test_help_of_every_command_is_whole_without_its_extra(extras: tuple[str, ...]) -> None:
    commands = [name.split()[1:] for name in HELP]
    assert len(commands) > 30
    able = {each.name for each in entry_points(group="deniable.commands")}
    able |= {command for extra in extras for command in EXTRAS[extra]}
    printed = results_with(extras, [[*command, "--help"] for command in commands], ROOT)
    for command, help_text, (code, output) in zip(commands, HELP.values(), printed, strict=True):
        text, _, hint = output.strip().partition("\n\nIt needs ")
        assert (code, text) == (0, help_text.strip())
        assert re.fullmatch(r"(\w+; in a clone of the project: pip install '\.\[(audit|research|server)\]')?", hint)
        assert not hint or command[0] not in able


@pytest.mark.slow
def test_commands_that_need_no_extra_run_without_one() -> None:
    ((code, output),) = results_with((), [["risk", "--epsilon", "1"]], ROOT)
    assert (code, "at most 23.2 % likely" in output) == (0, True), output


@pytest.mark.slow
def test_a_command_without_its_extra_says_how_to_install_it() -> None:
    longer = {
        "demo": ("demo", "--exit"),
        "sealing": ("sealing", "list"),
        "place": ("place", "serve", "--origin", "https://place.example"),
    }  # what starts without its extra
    lines = {longer.get(each, (each,)): extra for extra in EXTRAS for each in EXTRAS[extra]}
    for extra, (code, output) in zip(lines.values(), results_with((), list(lines), ROOT), strict=True):
        assert (code, f"pip install '.[{extra}]'" in output) == (1, True), output


def told() -> list[tuple[tuple[str, ...], list[str]]]:
    """Every command line of the pages, in their order, and the extras that were installed where it stands."""
    return [each for page in (README, RESEARCHERS, INSTALLING) for each in told_by(page)]


def told_by(page: str) -> list[tuple[tuple[str, ...], list[str]]]:
    """Every command line of a page, and the extras that this page said to install before it."""
    found: list[tuple[tuple[str, ...], list[str]]] = []
    extras: tuple[str, ...] = ()
    pattern = r"pip install '?\.(?:\[([\w,]+)\])?|^deniable (.*?)(?:  #.*)?$|`deniable ([^`]+)`"
    for installed in re.finditer(pattern, page, re.MULTILINE):
        names, line, inline = installed.groups()
        if installed[0].startswith("pip"):
            extras = tuple(names.split(",")) if names else ()
        else:
            found.append((extras, shlex.split(line or inline)))
    return found


def by_environment(serve: list[str]) -> list[tuple[tuple[str, ...], list[str]]]:
    """All lines up to the collector's in their order; those after it by environment, each of which then starts once.

    A line that was run is not run again where there is more.
    """
    lines = [
        (extras, line)
        for number, (extras, line) in enumerate(told())
        if not any(line == before and set(fewer) <= set(extras) for fewer, before in told()[:number])
    ]
    first = next(number for number, (_, line) in enumerate(lines) if line == serve) + 1
    return lines[:first] + sorted(lines[first:], key=lambda each: each[0])


def test_the_pages_name_an_environment_before_their_commands() -> None:
    extras = {" ".join(line): extras for extras, line in told()}
    assert len(extras) > 15
    assert extras["survey check my-survey.toml"] == ("server",)
    assert extras["audit my-survey.toml"] == ("audit",)
    assert "playwright" not in with_extras(("audit",))["HIDDEN"].split(",")  # with which its sessions use a browser
    assert extras["analyze regress study.sav affair ~ age + C(region) --design study.toml --to model.xlsx"] == (
        "research",
        "files",
    )


DESIGN = """
[[questions]]
column = "affair"
design = "forced-response"
truth = "2/3"
codes = {no = "0", yes = "1"}
"""


ENDLESS = (["answer", "LINK"], ["survey", "preview", "my-survey.toml"])
SHORT = {"audit": ["--draws", "200", "--sessions", "0"], "survey try": ["--respondents", "50", "--exit"]}
"""What makes commands take seconds instead of minutes, and end by themselves. Audits with sessions: tests/browser."""
"""What waits for somebody, or goes on until somebody stops it."""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the survey of the README, and the other files that its commands read."""
    (toml,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    (tmp_path / "my-survey.toml").write_text(re.sub("closes = .*", "", toml), encoding="utf-8")
    rows = [f"{('paper', 'web')[row % 2]},{row % 3 % 2},{row % 4}" for row in range(400)]
    (tmp_path / "reports.csv").write_text("\n".join(["cohort,affair,religious", *rows]) + "\n", encoding="utf-8")
    survey = read_survey((tmp_path / "my-survey.toml").read_bytes())
    (tmp_path / "survey.json").write_bytes(survey.document)
    # As jsPsych exports it: a row for each trial, what the plugin gave as JSON in its response.
    trials = [
        [subject, 0, json.dumps({"affair": str(subject % 3 % 2), "religious": str(subject % 4)})]
        for subject in range(60)
    ]
    with (tmp_path / "data.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["subject", "trial_index", "response"], *trials])
    # As oTree does: a row for each participant.
    people = [[f"p{row}", "ab"[row % 2], row // 2 % 3 % 2, row % 4] for row in range(400)]
    with (tmp_path / "all_apps_wide.csv").open("w", encoding="utf-8", newline="") as file:
        head = ["participant.code", "participant.label", "rrt.1.player.affair", "rrt.1.player.religious"]
        csv.writer(file).writerows([head, *people])
    study = pd.DataFrame({"affair": [row % 3 % 2 for row in range(400)], "age": [20 + row % 41 for row in range(400)]})
    study["region"] = [("north", "south")[row // 2 % 2] for row in range(400)]
    library("pyreadstat", "study.sav").write_sav(study, tmp_path / "study.sav")
    (tmp_path / "study.toml").write_text(DESIGN, encoding="utf-8")
    return tmp_path


def as_tested(line: list[str]) -> list[str]:
    """A command line as the test runs it: short, and only its help of a command that waits or lacks its arguments."""
    if " ".join(["deniable", *line]) in HELP or line in ENDLESS:
        return [*line, "--help"]
    return [*line, *(word for start, words in SHORT.items() if " ".join(line).startswith(start) for word in words)]


@pytest.mark.slow
def test_commands_of_the_pages_run_in_the_environment_that_they_say_to_make(desk: Path) -> None:
    """In their order in each environment.

    The help is read of those without arguments, of the one that asks a person and of the preview.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    survey = read_survey((desk / "my-survey.toml").read_bytes()).id
    link = f"{url}/s/{survey}"
    here = {
        "SURVEY-ID": survey,
        "LINK": link,
        "https://collector.example/s/SURVEY-ID": link,
        "http://127.0.0.1:8000": url,
    }
    serve = ["serve", "--db", "deniable.db"]
    with ExitStack() as running:
        for (extras, serves), group in groupby(by_environment(serve), key=lambda each: (each[0], each[1] == serve)):
            if serves:
                command = [sys.executable, "-m", "deniable", *serve, "--port", str(port)]
                process = running.enter_context(subprocess.Popen(command, cwd=desk, env=with_extras(extras)))
                running.callback(process.terminate)
                wait_until(lambda: answers(url), "the collector answers")
                continue
            lines = [[here.get(word, word) for word in as_tested(line)] for _, line in group]
            for line, (code, output) in zip(lines, results_with(extras, lines, desk), strict=True):
                assert (code, "It needs" in output) == (0, False), (line, output)
    assert {"deniable.db", "reports.sav", "model.xlsx"} <= {each.name for each in desk.iterdir()}


DEBIAN = """#!/bin/sh
# Python as Debian has it without python3-venv: the module venv is there, ensurepip is not.
case "$*" in
    *"import version"*) echo "ModuleNotFoundError: No module named 'ensurepip'" >&2; exit 1 ;;
    "-m venv "*) mkdir -p "$3/bin"; touch "$3/bin/python" "$3/pyvenv.cfg"; exit 1 ;;
esac
exec {python} "$@"
"""
INTERRUPTED = DEBIAN.replace("import version", "no line")
"""Its environments stay half made, and it is not ensurepip that is missing."""


OFFLINE = """#!/bin/sh
# Its environments have a pip that reaches nothing.
case "$*" in
    *"import version"*) exit 0 ;;
    "-m venv "*) mkdir -p "$3/bin"; printf '#!/bin/sh\\nexit 1\\n' > "$3/bin/python"; chmod +x "$3/bin/python"; exit ;;
esac
exec {python} "$@"
"""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Make an environment in a folder, by a Python that is a script."""
    for name in ("Makefile", "constraints.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):  # of the make that runs the tests
        monkeypatch.delenv(name, raising=False)

    def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        python = tmp_path / "python3"
        python.write_text(script.replace("{python}", shlex.quote(sys.executable)), encoding="utf-8")
        python.chmod(0o700)
        command = ["make", f"PYTHON={python}", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=PATIENCE)

    return run


@pytest.mark.parametrize("target", ["demo", "test"])
@pytest.mark.parametrize("half", [False, True])
def test_make_names_the_package_that_debian_lacks_and_leaves_no_half_environment(
    make: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, target: str, half: bool
) -> None:
    if half:
        (tmp_path / ".venv" / "bin").mkdir(parents=True)
    done = make(DEBIAN, target)
    assert done.returncode == 2
    assert f"On Debian and Ubuntu: apt install python3.{sys.version_info.minor}-venv" in done.stderr
    assert not (tmp_path / ".venv").exists()


def test_an_environment_that_fails_half_made_is_removed(
    make: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    assert make(INTERRUPTED, "demo").returncode == 2
    assert not (tmp_path / ".venv").exists()


def test_an_environment_that_is_whole_stays(
    make: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    pip = tmp_path / ".venv" / "bin" / "pip"
    pip.parent.mkdir(parents=True)
    pip.touch()
    assert make(INTERRUPTED, "demo").returncode == 2
    assert pip.exists()


def test_make_says_that_packages_need_a_network(make: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = make(OFFLINE, "demo")
    assert (done.returncode, "If this machine has no network" in done.stderr) == (2, True)


def test_the_readme_names_what_its_first_command_takes() -> None:
    first = README.partition("make demo")[0]
    assert "apt install python3-venv make git" in first

"""The documents: generated pages are fresh, links lead somewhere. Their examples run as doctests."""

from __future__ import annotations

import math
import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from deniable import (
    DrawnBoxes,
    ForcedResponse,
    KAry,
    Longitudinal,
    Mechanism,
    OneBitMean,
    Subset,
    TickBoxes,
    TwoCoin,
    UnequalKAry,
    Warner,
    read_survey,
)
from deniable.installing import SOURCE
from deniable.mechanisms import MECHANISMS
from deniable.mechanisms.longitudinal import waves_of
from deniable.survey.question_types import QUESTION_TYPES
from deniable_server.authors.checking import warnings_about
from deniable_statistics.authoring import authoring
from deniable_statistics.authoring.filter_cost import filter_sentences
from deniable_statistics.authoring.look import LOOK_KEYS
from tools import make_docs
from tools.designs_page import CHOICES, LARGEST_RATIO
from tools.rig.presented import image_bytes

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def test_generated_pages_are_what_the_generator_writes() -> None:
    for name, content in make_docs.pages().items():
        assert (ROOT / name).read_text(encoding="utf-8") == content, f"run: make docs ({name})"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def test_survey_of_the_readme_can_be_published() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert [question.id for question in read_survey(text).questions] == ["affair", "religious"]


def sentences(document: str) -> list[str]:
    """What stands in whole sentences: prose without code, and the cells of tables."""
    prose = re.sub(r"```.*?```|^    .*?$|^\|[-|]+$|^#.*?$", "\n\n", document, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"\(([^()\s]*)\)", "", re.sub(r"`[^`]*`", "code", prose))
    parts = re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )|\n(?=[*|])|\|", prose)
    return [each for part in parts for each in re.split(r"(?<=[.?!])[*]*\s+", part) if each.strip()]


def test_readme_is_short() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 130
    assert len(sentences(readme)) > 60


EVERY_PAGE = [
    path.relative_to(ROOT).as_posix()
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
    if path.name != "CHANGELOG.md" and path.parent.name != "names"
]
"""All pages but the history of changes and the generated lists of names, whose sentences stand in docstrings."""

TITLE = "On the criterion that a given system of deviations"
"""How a title begins that is longer than a sentence of ours may be."""


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_no_sentence_has_more_than_35_words(page: str) -> None:
    found = sentences((ROOT / page).read_text(encoding="utf-8"))
    assert [each for each in found if len(each.split()) > 35 and TITLE not in each] == []


def test_pictures_of_the_readme_are_small_and_in_their_folder() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]{20,}\]\((docs/pictures/[\w-]+\.png)\)", readme)
    assert {ROOT / name for name in shown} == set((ROOT / "docs/pictures").iterdir())
    for name in shown:
        content = (ROOT / name).read_bytes()
        assert content.startswith(b"\x89PNG\r\n")
        assert len(content) <= 80_000, name


def test_files_that_documents_name_exist() -> None:
    for document in DOCUMENTS:
        for name in re.findall(
            r"`((?:shared|server|client|tests|tools|docs)/[\w./-]+)`", document.read_text(encoding="utf-8")
        ):
            assert (ROOT / name).exists(), f"{document.name} names {name}"


def test_table_of_noise_names_every_question_type_and_mechanism() -> None:
    document = (ROOT / "docs/survey-file.md").read_text(encoding="utf-8")
    rows = document.partition("| question | noise | mechanism |")[2].partition("\n\n")[0].splitlines()
    cells = [[set(re.findall(r"`([\w-]+)`", cell)) for cell in row.strip("|").split(" | ")] for row in rows if row]
    assert set().union(*(row[0] for row in cells)) >= set(QUESTION_TYPES)
    assert set().union(*(row[-1] for row in cells)) >= {each.__name__ for each in MECHANISMS.values()}


STRENGTHS: dict[str, Mechanism] = {
    "two-coin": TwoCoin("2/3", "1/4"),
    "warner": Warner("3/4"),
    "forced-response": ForcedResponse("1/2", ("1/2", "3/8", "1/8")),
    "k-ary": KAry.from_epsilon(5, 1.3),
    "subset": Subset.from_epsilon(11, 3, 1.5),
    "tick-boxes": TickBoxes.from_epsilon(3, 2),
    "drawn-boxes": DrawnBoxes.from_epsilon(8, 2),
    "mean": OneBitMean.from_epsilon(1, 7, 0.8),
    "longitudinal": Longitudinal.from_epsilon(4, 2, 1),
    "unequal-k-ary": UnequalKAry((2**30, 2**29, 2**29)),
}


def test_formulas_of_epsilon_are_what_is_computed() -> None:
    """As the page writes them, out of the published integers and what it says that its letters stand for."""
    written = {name: choice.epsilon for name, choice in CHOICES.items()}
    assert set(written) == set(MECHANISMS)
    assert {name for name, formula in written.items() if formula != LARGEST_RATIO} == set(STRENGTHS)
    for name, mechanism in STRENGTHS.items():
        published = mechanism.publish()
        assert published["name"] == name
        letters = {"p": "keep", "t": "truth", "y": "yes"}
        known = {letter: published[key] / 2**32 for letter, key in letters.items() if key in published}
        known["g"] = [each / 2**32 for each in published.get("forced", published.get("others", ()))]
        if "slope" in published:
            known["r"] = published["slope"] * (published["hi"] - published["lo"]) / 2**32
        functions = {"ln": math.log, "min": min, "abs": abs, "sum": sum}
        found = eval(written[name], {"__builtins__": {}} | functions | published | known)
        assert found == pytest.approx(mechanism.epsilon, rel=1e-6), name


def test_where_things_go_names_what_is_there() -> None:
    """Folders, files and lists in the table of CONTRIBUTING.md, also those that are named without their folder."""
    table = (
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Where things go")[2].partition("\n## ")[0]
    )
    files = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    code = [ROOT / name for name in files if name.endswith((".py", ".js"))]
    lists = set(re.findall(r"^(?:export const )?([A-Z_]{4,})\b", "\n".join(map(Path.read_text, code)), re.MULTILINE))
    named = re.findall(r"`([^`]+)`", table)
    paths = {each for each in named if re.fullmatch(r"[\w./-]+(?:/|\.(?:py|js|toml|md))", each)}
    assert len(paths) > 30
    assert [each for each in sorted(paths) if not any(f"/{each}" in f"/{name}" for name in files)] == []
    assert {each for each in named if re.fullmatch("[A-Z_]{4,}", each)} <= lists


ADVICE = re.compile(rb"\b(?:pipx?|uvx?|npm|npx)\s[^\n`]*?(?<=[\s'\"])deniable(?=[\[=~'\"`\s]|$)")


def served_and_written() -> list[Path]:
    """Everything that people are shown or told: documents, pages, texts of both clients, hints, service files."""
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [ROOT / name for name in names if not name.startswith(("tests/", "tools/")) and (ROOT / name).is_file()]


def test_nobody_is_told_to_install_a_name_that_is_not_registered() -> None:
    """Whoever registers it would get true answers; what works is a clone. See `deniable.installing`."""
    for path in served_and_written():
        found = ADVICE.search(path.read_bytes())
        assert SOURCE != "." or not found, f"{path.relative_to(ROOT)}: {found and found[0]!r}"


def test_extras_that_hints_name_exist() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for path in [*ROOT.glob("s*/**/*.py"), *ROOT.glob("client/deniable_client/**/*.py")]:
        for extra in re.findall(r"install_hint\(['\"](\w+)", path.read_text(encoding="utf-8")):
            assert extra in extras, path


@pytest.mark.parametrize(
    "wrong",
    ["pip install deniable", "pip install -U 'deniable[server]'", "npm install deniable", "uvx deniable answer"],
)
def test_such_advice_is_found(wrong: str) -> None:
    assert ADVICE.search(f"<code>{wrong}".encode())
    assert not ADVICE.search(b"/opt/deniable/bin/pip install '.[server]'")


def rows_of(heading: str) -> dict[str, tuple[str, ...]]:
    """Key to the other cells of the table below a heading of the reference page."""
    section = (ROOT / "docs/survey-file.md").read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [row.strip("| ").split(" | ") for row in section.splitlines() if row.startswith("| `")]
    return {key.strip("`"): tuple(rest) for first, *rest in rows for key in first.split(", ")}


def test_reference_of_the_survey_file_names_every_key() -> None:
    written, known = set(rows_of("Keys of the survey")), set(authoring.SURVEY_KEYS)
    assert written == known, (
        f"docs/survey-file.md lacks {sorted(known - written)}, knows too many {sorted(written - known)}"
    )
    assert set(rows_of("The way back to a panel")) == set(authoring.COMPLETION_KEYS)
    assert set(rows_of("Colour and logo")) == set(LOOK_KEYS)
    questions = rows_of("Keys of a question")
    for kind in QUESTION_TYPES.values():
        named = {key for key, (types, *_) in questions.items() if types == "all" or kind.name in types.split(", ")}
        keys = {*authoring.QUESTION_KEYS, *kind.keys}
        assert named == keys, f"docs/survey-file.md, {kind.name}: differs in {sorted(named ^ keys)}"


@pytest.mark.slow
def test_example_of_the_survey_file_holds_every_type_and_can_be_published(tmp_path: Path) -> None:
    document = (ROOT / "docs/survey-file.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", document, re.DOTALL)
    text, spoken, lines, around, section, grid, apart, back, code, look, shared, group, filtered, patterns, waves = (
        blocks
    )
    survey = read_survey(text)
    assert {question.type for question in survey.questions} == set(QUESTION_TYPES)
    assert set(tomllib.loads(text)) <= set(authoring.SURVEY_KEYS)
    assert warnings_about(replace(survey, opens=None, closes=None)) == []
    assert b'{"de":"Leben und Liebe","default":"Life and love","en":"Life and love"}' in read_survey(spoken).document
    assert "people are treated here. You may stop at any time.\n\nIf you want" in tomllib.loads(lines)["about"]
    assert read_survey(f'title = "Habits"\n{section}').sections_of("smokes")
    assert len(read_survey(f'title = "Trust"\n{grid}').questions) == 3
    assert read_survey(f'title = "Drugs"\n{apart}').questions[0].last == ("none", "decline")
    assert read_survey(f'title = "Smoking"\n{filtered}').questions[-1].ask_if
    assert read_survey(f'title = "Habits"\n{patterns}').units[0].group
    assert waves_of(read_survey(f'title = "A panel"\n{waves}').questions[0].mechanism)
    (tmp_path / "logo.png").write_bytes(image_bytes("png"))
    asked = re.search(r"\[\[questions\]\]\n.*?\n\n", text, re.DOTALL)
    assert asked
    for table in (back, code, look):
        around_it = read_survey(f"{around}\n{table}\n{asked[0]}", folder=tmp_path)
        assert (around_it.contact, around_it.layout, around_it.thanks) != (None, "steps", None)
        assert around_it.completion or around_it.look
    head, question = shared.split("# and")[0].split("[[questions]]")
    five = read_survey(head + "".join(f"[[questions]]{question.replace('affair', f'q{n}', 1)}" for n in range(5)))
    shared_by = five.questions[0].group
    assert shared_by is not None
    assert shared_by.draw == 2
    assert all(figure in document and figure in str(shared_by.why) for figure in ("2,540", "9,861"))
    head, question = group.split("[[questions]]")
    pair = f"[[questions]]{question}[[questions]]{question.replace('affair', 'tax', 1)}"
    assert list(read_survey(f'title = "Two"\n{head}{pair}').groups) == ["intimate"]


def test_what_a_filter_costs_in_the_documents_is_what_authors_are_told() -> None:
    written = [(ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("survey-file", "statistics")]
    example = next(each for each in re.findall(r"```toml\n(.*?)```", written[0], re.DOTALL) if "ask_if" in each)
    survey = read_survey(f'title = "Smoking"\n{example}')
    _, *prices = filter_sentences(survey.questions[-1], survey)
    for figure in ("10,965", "58,940", "866,325", "2,385", "10,221", "126,051"):
        assert any(figure in sentence for sentence in prices)
        assert figure in written[1]

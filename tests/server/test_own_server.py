"""A server of one's own as the documents have it: their very code, with values that devices send and others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
import urllib3

from deniable import ParameterError, ReportError, Survey, field_value, read_survey
from deniable_research import read
from tools.rig.php import php
from tools.rig.survey_files import question_toml, survey_toml

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "embedding" / "servers.md").read_text(encoding="utf-8")
PAGE_WITHOUT_HTML = (ROOT / "docs" / "embedding" / "without-html.md").read_text(encoding="utf-8")

NO_VALUES = (
    "",
    "2",
    "-1",
    "1.0",
    " 1",
    "1\n",
    "01",
    "+1",
    "\uff11",
    "yes",
    "1,1",
    "1" * 5000,
    "'; DROP TABLE data; --",
)
"""What a yes-no question never sends."""


def code_of(heading: str) -> str:
    """The block of code below a heading of the page."""
    block = re.search(rf"^## {heading}\n.*?```\w+\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE)
    assert block
    return block[1]


@pytest.fixture
def survey() -> Survey:
    return read_survey(
        survey_toml(
            "Servers",
            question_toml("affair", "yes-no", truth="1/2"),
            question_toml("stones", "ticks", options=["a", "b", "c"], epsilon=1, goal="together"),
            question_toml("drinks", "number", lo=-3, hi=5, epsilon=1, mechanism="geometric"),
            question_toml("shared", "yes-no", group="both"),
            question_toml("other", "yes-no", group="both"),
            question_toml("again", "yes-no", epsilon=1, ask_if="affair = yes"),
            groups={"both": {"epsilon": 1}},
        )
    )


@pytest.fixture
def folder(survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of somebody's server, with the survey that was downloaded."""
    (tmp_path / "survey.json").write_bytes(survey.document)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_field_has_one_form_of_each_value(survey: Survey) -> None:
    assert [field_value(survey, "affair", text) for text in ("0", "1")] == [0, 1]
    assert field_value(survey, "stones", "010") == "010"
    assert [field_value(survey, "affair", number) for number in (0, 1)] == [0, 1], "JSON brings numbers"
    with pytest.raises(ReportError, match="stones: must be a text of 3 characters 0 or 1, got 10"):
        field_value(survey, "stones", 10)
    with pytest.raises(ReportError, match="affair: must be 0 or 1, got nothing"):
        field_value(survey, "affair", None)
    assert [field_value(survey, "drinks", text) for text in ("-3", "0", "5")] == [-3, 0, 5]


@pytest.mark.parametrize("text", [*NO_VALUES, None, 2, 1.0, True, ["1"], b"1"])
def test_what_no_device_sends_is_refused_without_being_repeated(survey: Survey, text: Any) -> None:
    with pytest.raises(ReportError, match=r"affair: must be 0 or 1, got") as told:
        field_value(survey, "affair", text)
    assert len(str(told.value)) < 80
    assert "DROP" not in str(told.value)


@pytest.mark.parametrize("text", ["01", "0101", "012", "b010", "0 1", "\uff10\uff11\uff10"])
def test_sets_of_options_have_their_length_and_digits(survey: Survey, text: str) -> None:
    with pytest.raises(ReportError, match="stones: must be a text of 3 characters 0 or 1"):
        field_value(survey, "stones", text)


@pytest.mark.parametrize("name", ["shared", "again", "nobody"])
def test_questions_that_a_form_cannot_ask_have_no_field(survey: Survey, name: str) -> None:
    with pytest.raises(ParameterError, match=r"must be one that a form can ask alone \(affair, stones, drinks\)"):
        field_value(survey, name, "1")


def assert_is_read(folder: Path, survey: Survey) -> None:
    """The page's own command reads what the server stored: one yes and one no."""
    assert (folder / "data.csv").read_text(encoding="utf-8") == "affair\n1\n0\n"
    results = read(folder / "data.csv", survey, columns={"affair": "affair"})
    assert [row.count for row in results.shares().rows] == [1, 1]


def test_flask_stores_values_and_nothing_else(folder: Path, survey: Survey) -> None:
    names: dict[str, Any] = {"__name__": "study"}
    exec(compile(code_of("Flask"), "servers.md", "exec"), names)
    client = names["app"].test_client()
    for value in ("1", "0"):
        assert client.post("/store", data={"affair": value}).text == "Stored."
    for value in NO_VALUES:
        refused = client.post("/store", data={"affair": value})
        assert refused.status_code == 400
        assert len(value) < 3 or value not in refused.text
    assert client.post("/store").status_code == 400
    assert_is_read(folder, survey)


def test_codes_have_the_shape_that_the_page_checks() -> None:
    """The characters of `[completion]` codes, as forms without HTML check them."""
    from deniable.survey.completion import CODE_CHARACTERS

    (shape,) = set(re.findall(r"(\[\S+\])\{8\}", PAGE_WITHOUT_HTML))
    every = {chr(number) for number in range(128)}
    assert {each for each in every if re.fullmatch(shape, each)} == set(CODE_CHARACTERS)


FASTAPI = """
from fastapi.testclient import TestClient
client = TestClient(app)
for value in VALUES:
    assert client.post("/store", data={"affair": value}).status_code == 200, value
for value in NO_VALUES:
    assert client.post("/store", data={"affair": value}).status_code == 422, value
assert client.post("/store").status_code == 422
"""

DJANGO_FIRST = """
import django
from django.conf import settings
settings.configure(SECRET_KEY="x", USE_I18N=False)
django.setup()
"""
DJANGO = """
assert f'name="affair" question="affair" src="https://collector.example/s/{SURVEY.id}"' in str(StudyForm()["affair"])
stored = [StudyForm({"affair": value}) for value in VALUES]
assert all(each.is_valid() for each in stored), [each.errors for each in stored]
Path("data.csv").write_text("affair\\n" + "".join(f"{each.cleaned_data['affair']}\\n" for each in stored))
for value in NO_VALUES:
    form = StudyForm({"affair": value})
    assert not form.is_valid(), value
    assert len(value) < 3 or value not in str(form.errors)
assert not StudyForm({}).is_valid()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("heading", "packages", "first", "then"),
    [
        ("FastAPI", ["fastapi", "httpx", "python-multipart"], "", FASTAPI),
        ("Django", ["django"], DJANGO_FIRST, DJANGO),
    ],
)
def test_frameworks_that_are_installed_store_values_and_nothing_else(
    heading: str, packages: list[str], first: str, then: str, folder: Path, survey: Survey
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "own"], check=True)
    python = str(folder / "own" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    values = f"VALUES = ['1', '0']\nNO_VALUES = {NO_VALUES!r}\n"
    (folder / "study.py").write_text(values + first + code_of(heading) + then, encoding="utf-8")
    # The standard library alone beside the framework: what is shared, and nothing that it could bring.
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    done = subprocess.run([python, "study.py"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert_is_read(folder, survey)


@pytest.mark.long
def test_php_stores_values_and_nothing_else(folder: Path, survey: Survey) -> None:
    (folder / "store.php").write_text(code_of("PHP"), encoding="utf-8")
    with php(folder) as address:

        def sent(form: str) -> int:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            return urllib3.request("POST", f"{address}/store.php", body=form, headers=headers).status

        assert [sent(f"affair={value}") for value in "10"] == [200, 200]
        refused = [*(f"affair={urllib.parse.quote(value)}" for value in NO_VALUES), "affair[]=1", "other=1", ""]
        assert {sent(form) for form in refused} == {400}
    assert_is_read(folder, survey)

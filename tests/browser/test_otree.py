"""A question in oTree, installed for real: what `deniable embed` prints, answered, stored, exported and analysed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import urllib3
from playwright.sync_api import Browser, Page, expect

from deniable import Survey, read_survey
from deniable_research import read
from tools.rig.browsing import Witness
from tools.rig.collectors import Collector, free_port
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.survey_files import question_toml, survey_toml

pytestmark = pytest.mark.long

OTREE = "otree==6.0.15"
EMBED = CommandLine("embed")
OPTIONS = ["MARKED quartz", "MARKED zirconium", "MARKED opal"]

SETTINGS = """
SESSION_CONFIGS = [dict(name="rrt", app_sequence=["rrt"], num_demo_participants=3)]
SESSION_CONFIG_DEFAULTS = dict(real_world_currency_per_point=1.0, participation_fee=0.0)
LANGUAGE_CODE = "en"
REAL_WORLD_CURRENCY_CODE = "USD"
SECRET_KEY = "of a test"
ADMIN_USERNAME = "admin"
ADMIN_PASSWORD = "of a test"
"""

APP = """
from otree.api import *


class C(BaseConstants):
    NAME_IN_URL = "rrt"
    PLAYERS_PER_GROUP = None
    NUM_ROUNDS = 1


class Subsession(BaseSubsession):
    pass


class Group(BaseGroup):
    pass


THE_PLAYER


class Asked(Page):
    THE_PAGE


page_sequence = [Asked]
"""

TEMPLATE = "{{ block title }}x{{ endblock }}\n{{ block content }}\nASKED\n{{ endblock }}\n"


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(survey_toml("Hosts", question_toml("stone", "choice", "Which?", options=OPTIONS, epsilon=1)))


@pytest.fixture(scope="module")
def otree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with oTree."""
    folder = tmp_path_factory.mktemp("otree")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    # It imports the first of them without asking for it, where Python does not bring it.
    subprocess.run([*pip, "setuptools<81", OTREE], check=True)
    return folder / "bin"


@contextmanager
def running(programs: Path, project: Path) -> Iterator[str]:
    """An oTree of a project; ends with the block."""
    address = f"127.0.0.1:{free_port()}"
    environment = os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    with (project / "log").open("wb") as log:
        command = [str(programs / "otree"), "prodserver1of2", address]
        server = subprocess.Popen(command, cwd=project, env=environment, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_until(lambda: server.poll() is not None or _answers(address), "oTree answers")
        assert server.poll() is None, (project / "log").read_text(encoding="utf-8")
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait(PATIENCE)


def _answers(address: str) -> bool:
    try:
        return urllib3.request("GET", f"http://{address}/demo", retries=False).status == 200
    except urllib3.exceptions.HTTPError:
        return False


def project_of(said: str, folder: Path) -> Path:
    """A project of oTree with what `deniable embed` prints, pasted where it says."""
    parts = re.findall(r"^\d+\. (.*?):\n\n(.*?)\n\n(?=\d+\. |If )", said, re.DOTALL | re.MULTILINE)
    pasted = dict(parts)
    page = pasted["On the page's class"].replace("\n", "\n    ")
    for name in ("_static", "_templates", "rrt"):
        (folder / name).mkdir()
    (folder / "settings.py").write_text(SETTINGS, encoding="utf-8")
    app = APP.replace("THE_PLAYER", pasted["In __init__.py"]).replace("THE_PAGE", page)
    (folder / "rrt" / "__init__.py").write_text(app, encoding="utf-8")
    template = TEMPLATE.replace("ASKED", pasted["In the template of the page"])
    (folder / "rrt" / "Asked.html").write_text(template, encoding="utf-8")
    return folder


def answer(page: Page, link: str, option: str) -> None:
    page.goto(link)
    page.get_by_role("radio", name=option).check()
    page.get_by_role("button", name="Next").click()  # too early: the form stays
    expect(page.get_by_role("radio", name=option)).to_be_checked()
    page.get_by_role("button", name="Mix in chance").click()
    expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
    with page.expect_navigation():
        page.get_by_role("button", name="Next").click()


def test_otree_stores_the_value_alone_and_its_export_is_read(
    otree: Path, collector: Collector, survey: Survey, browser: Browser, tmp_path: Path
) -> None:
    said = EMBED.ok(collector.publish(survey), "--host", "otree", "--question", "stone")
    stored = []
    with running(otree, project_of(said, tmp_path)) as address:
        made = urllib3.request(
            "POST", f"{address}/api/sessions", json={"session_config_name": "rrt", "num_participants": 3}
        ).json()
        for option in OPTIONS[:2]:
            context = browser.new_context(locale="en-GB")
            context.set_default_timeout(PATIENCE * 1000)
            page = context.new_page()
            witness = Witness.of(page)
            answer(page, made["session_wide_url"], option)
            (body,) = [each.decode() for each in witness.posts()]
            assert "MARKED" not in body
            (value,) = re.findall(r"(?:^|&)stone=(\d)(?:&|$)", body)
            stored.append(int(value))
            context.close()
        exported = urllib3.request("GET", f"{address}/api/export_wide").data
    assert b"MARKED" not in exported
    assert not [path for path in tmp_path.rglob("*.sqlite3*") if b"MARKED" in path.read_bytes()]
    path = tmp_path / "all_apps_wide.csv"
    path.write_bytes(exported)
    export = read(path, survey, host="otree").table
    assert sorted(map(str, export.reports_of("stone"))) == sorted(map(str, stored))

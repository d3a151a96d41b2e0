"""The promises to respondents in Firefox: nothing leaks, one draw, no false alarm while loading, the keyboard."""

from __future__ import annotations

import itertools
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from deniable import Survey, read_survey
from deniable.survey.completion import Completion
from tests.support.marks import long
from tools import programs
from tools.rig.browsing import GIVE, another_site
from tools.rig.collectors import Collector
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml

WEB = Path(__file__).parents[2] / "client" / "deniable_web"

TWO_QUESTIONS = survey_toml(
    "Two questions in Firefox",
    question_toml("affair", "yes-no", "Have you had an affair?", truth="1/2"),
    question_toml("drugs", "ticks", "What have you tried?", options=["cannabis", "heroin"], epsilon=1),
    layout="page",
)


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(TWO_QUESTIONS)


InFirefox = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def in_firefox() -> Iterator[InFirefox]:
    """What a scenario of firefox.mjs found, on a device of its own in the one Firefox that all tests share."""
    command = [*programs.node_command(), str(Path(__file__).parent / "firefox.mjs"), programs.firefox()]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        asked, said = process.stdin, process.stdout
        assert asked is not None
        assert said is not None

        def found(scenario: str, link: str, **given: object) -> dict[str, Any]:
            print(json.dumps({"scenario": scenario, "link": link, "give": GIVE, **given}), file=asked, flush=True)
            hanging = threading.Timer(PATIENCE * 3, process.kill)
            hanging.start()
            line = said.readline()
            hanging.cancel()
            answer: dict[str, Any] = json.loads(line or '{"failed": "Firefox ended"}')
            assert "failed" not in answer, answer["failed"]
            result: dict[str, Any] = answer["found"]
            return result

        yield found


def test_notice_of_a_script_that_did_not_start_is_seen_only_where_it_did_not(
    collector: Collector, survey: Survey, in_firefox: InFirefox
) -> None:
    found = in_firefox("load", collector.publish(survey))
    assert set(found["seen"]) <= {"hidden"}
    assert found["blocked"] == ["hidden", "hidden", "visible"], "before three seconds, and after them"


@pytest.fixture(scope="module")
def changed_scripts() -> Iterator[str]:
    """A server of scripts whose second one is another than the first one holds the hash of.

    A server of its own, because Firefox compares nothing that a test puts into the place of a response.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.removeprefix("/")
            script = (WEB / name if "/" in name else WEB / "dist" / name).read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(b"globalThis.ran = true;\n" * (name == "deniable-answering.js") + script)

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("is_old", [False, True], ids=["modulepreload", "before modulepreload"])
def test_second_script_runs_only_as_it_was_reviewed(
    collector: Collector, survey: Survey, in_firefox: InFirefox, changed_scripts: str, is_old: bool
) -> None:
    script = f'<script type="module" src="{changed_scripts}/deniable.js"></script>'
    element = f'<deniable-survey src="{collector.publish(survey)}"></deniable-survey>'
    with another_site(f"<!doctype html><title>x</title>{script}{element}") as address:
        found = in_firefox("second", address, isOld=is_old)
    assert found == {"said": "This survey cannot be loaded", "ran": False}


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([(0, []), (1, [0]), (1, [0, 1])], id="three people"),
        long(list(itertools.product([0, 1], [[], [0], [0, 1]])), name="every answer"),
    ],
)
@pytest.mark.parametrize("layout", ["steps", "page"])
def test_nothing_depends_on_the_answers(
    collector: Collector, survey: Survey, in_firefox: InFirefox, layout: str, answers: list[tuple[int, list[int]]]
) -> None:
    survey = replace(survey, title=f"{survey.title}, {layout}", layout=layout)
    link = collector.publish(survey)
    before = collector.reports(survey)
    found = in_firefox("leak", link, answers=answers)
    assert len(set(map(_in_order, found["traffic"]))) == 1, found["traffic"]
    assert [method for method, _, _ in json.loads(found["traffic"][0])].count("POST") == 1
    for kept in found["kept"]:
        assert not any(secret in kept for secret in ("cannabis", "heroin", "yes"))
        everything = json.loads(kept)
        # Beside the database stand the marks of a memory, which hold nothing.
        assert (everything["names"], everything["others"]) == (["deniable"], [{"deniable": ""}, {}, "", ["deniable"]])
        assert set(everything["memory"]) == {"reports", "noisy", "told"}
    assert collector.reports(survey) == before + len(answers)


def _in_order(traffic: str) -> str:
    """Requests in their order, those for the icon by themselves: Firefox asks for it when it has time."""
    return json.dumps(sorted(json.loads(traffic), key=lambda request: request[1].endswith("/static/icon.png")))


def test_two_tabs_that_send_together_make_one_report(collector: Collector, in_firefox: InFirefox) -> None:
    survey = read_survey(TWO_QUESTIONS.replace("in Firefox", "in two tabs of Firefox"))
    in_firefox("race", collector.publish(survey), answers=[[0, []], [1, [0, 1]]])
    assert collector.reports(survey) == 1


def test_keyboard_alone(collector: Collector, in_firefox: InFirefox) -> None:
    survey = read_survey(TWO_QUESTIONS.replace("in Firefox", "with the keyboard in Firefox"))
    in_firefox("keyboard", collector.publish(survey), elsewhere=["affair", "drugs"])
    assert collector.reports(survey) == 1


def test_back_and_forward_walk_and_after_send_lead_to_no_question(collector: Collector, in_firefox: InFirefox) -> None:
    title = "Two questions, one at a time in Firefox"
    survey = replace(read_survey(TWO_QUESTIONS), title=title, layout="steps")
    found = in_firefox("steps", collector.publish(survey))
    both = ["affair1", "drugs0"]
    there = [("Question 1 of 2", list[str]()), ("Question 2 of 2", ["affair1"]), ("Check your answers", both)]
    back = [("Question 2 of 2", both), ("Question 1 of 2", both), (title, [])]
    again = [("Question 1 of 2", both), ("Question 2 of 2", both), ("Check your answers", both)]
    assert [(place, chosen) for place, chosen in found["found"]] == [*there, *back, *again]
    assert found["left"] == 0
    assert found["isSame"]
    assert collector.reports(survey) == 1


@pytest.mark.long
def test_filters_leave_requests_and_storage_alike_on_every_way(collector: Collector, in_firefox: InFirefox) -> None:
    filtered = survey_toml(
        "Filters in Firefox",
        question_toml("smokes", "yes-no", "Do you smoke?", epsilon=0.5),
        question_toml(
            "often", "choice", "How many a day?", options=["few", "many"], epsilon=0.5, ask_if="smokes = yes"
        ),
        question_toml("since", "number", "Since when?", lo=0, hi=60, epsilon=1, ask_if="often = many"),
    )
    ways = [{"smokes": 0}, {"smokes": 1, "often": 0}, {"smokes": 1, "often": 1, "since": 7}]
    found = in_firefox("leak", collector.publish(read_survey(filtered)), answers=ways * 2)
    assert len(set(map(_in_order, found["traffic"]))) == 1, found["traffic"]
    kept = [json.loads(each) for each in found["kept"]]
    assert len({str(each["names"]) + str(each["others"]) for each in kept}) == 1
    # Noisy values and ids differ, nothing else: neither the number of records nor their lengths.
    assert len({len(json.dumps(each["memory"])) for each in kept}) == 1


def test_the_way_back_is_shown_again_and_the_panel_hears_of_no_page(
    collector: Collector, survey: Survey, in_firefox: InFirefox
) -> None:
    completion = Completion(link="https://panel.example/done?cc={code}", code="C1AB")
    link = collector.publish(replace(survey, title="Back in Firefox", completion=completion))
    html = f"""<!doctype html><title>x</title><script type="module" src="{collector.url}/client/deniable.js"></script>
        <deniable-survey src="{link}"></deniable-survey>"""
    with another_site(html) as address:
        found = in_firefox("back", address, answers=(1, [0]))
    assert found["code"].startswith("Your code is C1AB.")
    assert found["asked"] == ["https://panel.example/done?cc=C1AB", None]

"""``deniable answer``: people at real terminals, and everything that is left behind."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import select
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import deniable_web
from deniable import AnswerError, Report, ReportError, Survey, odds_sentences, read_survey
from deniable.privacy.odds import plainest
from deniable_client import Client, Memory, randomize
from deniable_client.answer import command, messages, screens
from deniable_client.answer.asking import answer_from
from deniable_client.answer.simulator import PRESSES, split
from deniable_client.memory import Disclosure
from deniable_commands.main import main
from deniable_server.store.sqlite.store import SqliteStore
from deniable_statistics.designs.of_mechanisms import design_of
from tests.client.test_audit import EVERYTHING
from tests.client.test_client import misbehaving, untrusted
from tests.client.test_memory import never
from tools.rig.collectors import Collector, free_port
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import FIVE_TYPES, person

SECRET = "-471108"
"""A true answer that is nothing else: the minus keeps it apart from any hexadecimal id."""

FIVE = FIVE_TYPES.replace("lo = 0\nhi = 60\n", 'lo = -500000\nhi = 499999\nmechanism = "mean"\n').replace(
    'title = "Five types"', 'title = "Five types"\norganiser = "The tests"\nabout = "Why?"\ncohorts = ["web"]'
)
TYPED = ["", "yes", "3", "1,3", "6", SECRET, "send"]
"""Start, an answer to each question, send."""

BANNED = re.compile(r"epsilon|differential|anonym|guarantee|\blies?\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def five(collector: Collector) -> Survey:
    survey = read_survey(FIVE)
    collector.publish(survey)
    return survey


@pytest.fixture
def link(collector: Collector, five: Survey) -> str:
    return f"{collector.url}/s/{five.id}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own."""
    for name in ("XDG_DATA_HOME", "DENIABLE_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


IN_A_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal:
    """``deniable answer`` at a pseudo-terminal, which is its controlling one as in a terminal's window."""

    def __init__(self, *arguments: str) -> None:
        self._fd, inner = os.openpty()
        start = [sys.executable, "-c", IN_A_TERMINAL, sys.executable, "-m", "deniable", "answer", *arguments]
        self.process = subprocess.Popen(start, stdin=inner, stdout=inner, stderr=inner, start_new_session=True)
        os.close(inner)
        self.text = ""
        self._interrupt = b""

    def type(self, prompt: str, line: str) -> None:
        """Wait for a prompt, then type a line; a control character is pressed alone."""
        self.read_until(prompt)
        # A hidden prompt throws away what was typed before it, and shows its text after it does.
        pressed = line.encode() if line[:1] in ("\x03", "\x04") else f"{line}\n".encode()
        self._interrupt = pressed if pressed == b"\x03" else b""
        os.write(self._fd, pressed)

    def read_until(self, text: str | None) -> None:
        """Read until a text comes, or with None until the end."""
        start, deadline = len(self.text), time.monotonic() + PATIENCE
        while text is None or text not in self.text[start:]:
            ready, _, _ = select.select([self._fd], [], [], 1)
            if not ready and time.monotonic() < deadline:
                # Ctrl-C between the prompt and the read that follows it is seen by Python only after that read; a
                # person presses again.
                os.write(self._fd, self._interrupt)
                continue
            if not ready:
                self.process.kill()
                self.process.wait(PATIENCE)
            assert ready, f"waited for {text!r} after:\n{self.text}"
            try:
                content = os.read(self._fd, 65536)
            except OSError:  # how Linux tells that the other end is closed
                content = b""
            if not content:
                assert text is None, f"ended without {text!r}:\n{self.text}"
                return
            self.text += content.decode().replace("\r\n", "\n")

    def finish(self) -> int:
        """Read what is left; the exit status."""
        self.read_until(None)
        os.close(self._fd)
        return self.process.wait(PATIENCE)


PROMPTS = ["to start", "yes or no: ", "1 to 10: ", "for none: ", "1 to 7: ", "499999: ", "or stop: "]


@pytest.mark.slow
def test_whole_survey_leaves_no_answer_anywhere(collector: Collector, five: Survey, link: str, home: Path) -> None:
    before = collector.reports(five)
    terminal = Terminal(f"{link}#cohort=web", "--json")
    arguments = b""
    for prompt, line in zip(PROMPTS, TYPED, strict=True):
        terminal.type(prompt, line)
        if line == SECRET:
            arguments = Path(f"/proc/{terminal.process.pid}/cmdline").read_bytes()
    assert terminal.finish() == 0, terminal.text
    assert collector.reports(five) == before + 1
    assert f"See the results: {collector.url}/s/{five.id}/results" in re.sub(r"\n *", "", terminal.text)
    # What was typed as an answer was not shown: each prompt is followed by the end of its line.
    for prompt in PROMPTS[1:-1]:
        assert re.search(re.escape(prompt) + r"\n\n(Answered\.)\n", terminal.text), prompt
    kept = Memory().recall(five.id, collector.url)
    assert kept is not None
    sent = json.loads(kept.report)
    assert sent["cohort"] == "web"
    assert sent["values"]["drinks"] in (0, 1)
    assert kept.report.decode() in re.sub(r"\n    ", "", terminal.text), "asked for with --json"
    everything = [path for folder in (home, collector.database.parent) for path in folder.rglob("*") if path.is_file()]
    assert {path.name for path in everything} >= {"memory.db", "test.db", "log"}
    for content in [terminal.text.encode(), arguments, *(path.read_bytes() for path in everything)]:
        assert SECRET.encode() not in content
        assert b"471108" not in content.replace(sent["id"].encode(), b"")
    assert [path.name for path in home.rglob("*") if path.is_file()] == ["memory.db"]
    assert five.id.encode() in arguments, "the arguments were read, and hold the link alone"


NOBODY: dict[str, Any] = {"affair": "no", "town": "A", "drugs": [], "trust": 1, "drinks": 0}


def test_second_time_it_says_so(collector: Collector, five: Survey, link: str, home: Path) -> None:
    receipt = Client(collector.url, memory=Memory()).answer(five, NOBODY)
    before = collector.reports(five)
    terminal = Terminal(link)
    assert terminal.finish() == 0
    assert "Thank you. A reply was already given here." in terminal.text
    assert "Your device has forgotten what you chose." in terminal.text
    assert f"Survey: {five.id}" in terminal.text
    assert f"Sent by: {receipt.client}" in terminal.text
    assert "Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No." in terminal.text
    assert '"values"' not in terminal.text
    assert collector.reports(five) == before


@pytest.mark.slow
@pytest.mark.parametrize(("prompt", "key"), [("1 to 10: ", "\x03"), ("yes or no: ", "\x04"), ("to start", "\x03")])
def test_ctrl_c_and_ctrl_d_leave_nothing(
    collector: Collector, five: Survey, link: str, home: Path, prompt: str, key: str
) -> None:
    before = collector.reports(five)
    terminal = Terminal(link)
    for each, line in zip(PROMPTS, TYPED, strict=True):
        terminal.type(each, key if each == prompt else line)
        if each == prompt:
            break
    assert terminal.finish() == 130
    assert messages.STOPPED in terminal.text
    assert "Traceback" not in terminal.text
    assert list(home.rglob("*")) == []
    assert collector.reports(five) == before


class Typist:
    """``deniable answer`` within this process: what is typed as an answer goes in as at a terminal."""

    def __call__(self, *arguments: str, typed: list[str] = []) -> Result:  # noqa: B006 (never changed)
        return CliRunner().invoke(main, ["answer", *arguments], input="".join(f"{line}\n" for line in typed))


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Typist:
    monkeypatch.setattr(command, "in_terminal", lambda: True)
    monkeypatch.setattr(command, "Client", functools.partial(Client, retries=1))  # no test waits long for nothing
    return Typist()


def test_answers_can_be_looked_up_gone_back_to_read_and_changed(
    collector: Collector, five: Survey, link: str, run: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, Any]] = []

    def spy(_client: Client, noise: Survey, answers: dict[str, Any], cohort: str | None, *_more: Any) -> Report:
        given.append(dict(answers))
        return randomize(noise, answers, cohort)

    monkeypatch.setattr(Client, "randomize", spy)
    typed = ["", "?", "maybe", "no", "0", "11", "10", "back", "2", "4 1", "2,1", "8", "7", "", "60.5", "12"]
    typed += ["nonsense", "6", "show", "", "1", "back", "3", "0", "send"]
    result = run(link, typed=typed)
    assert result.exit_code == 0, result.output
    assert given == [{"affair": "no", "town": "B", "drugs": [], "trust": "7", "drinks": 12}]
    text = result.stdout
    assert "What chance does here:\nOf 100 people whose true answer is Yes" in text  # it protects little
    assert text.count("Please choose an answer.") == 7
    assert text.count("Please choose an answer. Enter a whole number from -500000 to 499999.") == 2
    unwrapped = " ".join(text.split())  # a terminal breaks lines
    assert "Please answer every question, or type stop: no answer is sent before you type send." in unwrapped
    assert text.count("Please type send, a number, show or stop.") == 2
    shown = text[text.index("Check your answers") :]
    for number, answer in enumerate(["No", "B", "cocaine, cannabis", "7", "12"], start=1):
        assert f"{number}  {answer}\n" in shown
    assert text.index("You can still change everything") > text.index("5 of 5")


@pytest.mark.parametrize("before", [[], ["", "yes", "4"], ["", "yes", "3", "1", "6", "0"]])
def test_stop_is_taken_everywhere(five: Survey, link: str, run: Typist, home: Path, before: list[str]) -> None:
    result = run(link, typed=[*before, "stop"])
    assert (result.exit_code, result.stderr.strip()) == (130, messages.STOPPED)
    assert list(home.rglob("*")) == []


def test_kiosk_forgets(collector: Collector, five: Survey, link: str, run: Typist, home: Path) -> None:
    before = collector.reports(five)
    for _ in range(2):
        result = run(link, "--kiosk", typed=TYPED)
        assert result.exit_code == 0, result.output
        assert "This device keeps nothing of you" in result.stdout
        said = " ".join(result.stdout.split())  # in lines of the terminal
        assert "Your reply has arrived." in said
        assert messages.KIOSK_CLEARED in said
        assert "keeps what was sent" not in said
    assert collector.reports(five) == before + 2
    assert list(home.rglob("*")) == []


def test_a_refusal_on_a_kiosk_does_not_say_that_something_is_kept(
    five: Survey, link: str, run: Typist, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_arguments: object) -> None:
        raise ReportError("report: must fit")

    monkeypatch.setattr(Client, "submit", refused)
    for flags, left in ((["--kiosk"], messages.KIOSK_CLEARED), ([], messages.NOT_KEPT)):
        result = run(link, *flags, typed=TYPED)
        assert result.exit_code == 1
        assert f"{messages.TOO_LATE} {left}" in " ".join(result.stderr.split())


def test_kiosk_asks_where_its_owner_was_asked_the_same_under_another_title(
    collector: Collector, five: Survey, link: str, run: Typist
) -> None:
    assert run(link, typed=TYPED).exit_code == 0
    again = collector.publish(replace(five, title="NoiseModel again"))
    result = run(again, "--kiosk", typed=["", *TYPED])
    assert result.exit_code == 0, result.output
    assert "Please go on only if you are another person" in result.stdout


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [([], "Your reply waits on this device."), (["--kiosk"], "This device keeps nothing of the reply")],
)
def test_ctrl_c_while_sending_says_what_became_of_the_report(
    five: Survey, link: str, run: Typist, monkeypatch: pytest.MonkeyPatch, flags: list[str], sentence: str
) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Client, "submit", interrupted)
    result = run(link, *flags, typed=TYPED)
    assert result.exit_code == 130
    assert sentence in result.stderr
    assert len(Memory().pending()) == (not flags)


def test_a_server_that_cannot_prove_who_it_is_is_not_blamed_on_the_connection(
    five: Survey, run: Typist, tmp_path: Path
) -> None:
    with untrusted(tmp_path) as url:
        result = run(f"{url}/s/{five.id}")
    assert result.exit_code == 1
    said = " ".join(result.stderr.split())
    assert said.startswith(f"{messages.UNREACHABLE}. {messages.UNTRUSTED_TEXT} {messages.DETAILS}:")
    assert "check your connection" not in said
    assert "cannot prove who it is, so your device sent nothing to it. Please tell the person who gave you" in said
    cut = run(f"http://127.0.0.1:{free_port()}/s/{five.id}")
    assert messages.UNREACHABLE_TEXT in " ".join(cut.stderr.split())


def test_report_waits_offline_and_goes_later(collector: Collector, five: Survey, run: Typist) -> None:
    before = collector.reports(five)
    with misbehaving([(200, five.document)] + [(503, b"")] * 4) as (url, bodies):
        result = run(f"{url}/s/{five.id}", typed=[*TYPED, "", "stop"])
    assert result.exit_code == 130
    assert result.stdout.count("Your reply has not arrived yet.") == 2
    assert "To send it: deniable answer --resend" in result.stderr
    (waits,) = Memory().pending()
    assert {waits.report} == set(bodies[1:])
    assert len(bodies) == 1 + 4
    assert run("--resend").exit_code == 1, "it still waits"
    Memory().once(five, collector.url, never)  # the collector is back, at another place
    Memory().mark(five.id, url, "refused")
    result = run("--resend")
    assert (result.exit_code, collector.reports(five)) == (0, before + 1)
    assert "Your reply has arrived." in result.stdout
    assert run("--resend").stdout.strip() == "No reply waits on this device."


def test_waiting_report_is_offered_instead_of_questions(
    collector: Collector, five: Survey, link: str, run: Typist
) -> None:
    report = Client(collector.url, memory=Memory()).randomize(five, NOBODY)
    before = collector.reports(five)
    result = run(link, typed=["stop"])
    assert "Your reply waits on this device" in result.stderr
    result = run(link, "--json", typed=[""])
    assert result.exit_code == 0
    assert "Your reply has not arrived yet." in result.stdout
    assert "Please answer truthfully" not in result.stdout
    assert report.encode().decode() in result.stdout.replace("\n    ", "")
    assert collector.reports(five) == before + 1


def changed(text: str, **optional: str) -> Survey:
    return read_survey("".join(f"{key} = {value}\n" for key, value in optional.items()) + text)


STRONG = 'title = "T"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = {}\n'


def test_closed_early_and_closing_surveys(collector: Collector, run: Typist, home: Path) -> None:
    text = STRONG.format(1)
    closed, early = changed(text, closes="2020-12-20"), changed(text, opens="2999-01-02")
    by_hand = changed(text, about='"closed by its author"')
    full = changed(text, about='"has all its replies"', closes_at="200")
    for survey in (closed, early, by_hand, full):
        collector.publish(survey)
    result = run(f"{collector.url}/s/{closed.id}")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "This survey is closed.\n\nIt took replies until 20 December 2020 (UTC).\n\n"
    assert "It takes replies from 2 January 2999 (UTC) on." in run(f"{collector.url}/s/{early.id}").stderr
    assert list(home.rglob("*")) == []
    store = SqliteStore(collector.database)
    for survey in (by_hand, full):
        store.close_survey(survey.id)
    store.close()
    assert "This survey takes at most 200 replies, and" in run(f"{collector.url}/s/{full.id}").stderr
    result = run(f"{collector.url}/s/{by_hand.id}", typed=[])
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        "This survey is closed.\n\nThe researchers are no longer taking replies.\n\nYou were not asked" in result.stderr
    )
    assert list(home.rglob("*")) == []
    assert collector.reports(by_hand) == 0


def test_refused_altered_and_unreachable_surveys_are_sentences(
    collector: Collector, five: Survey, run: Typist, home: Path
) -> None:
    greedy = read_survey(STRONG.format(4.1))
    collector.publish(greedy)
    weaker = read_survey(FIVE.replace('truth = "1/2"', 'truth = "0.9"')).document
    endings = {
        "take part here. You have done nothing wrong, and nothing was sent.": run(f"{collector.url}/s/{greedy.id}"),
        "Please do not answer this survey. Your device cannot be sure": run(f"{collector.url}/s/{'a' * 26}"),
        "This survey cannot be loaded. Nothing was sent.": run(f"http://127.0.0.1:1/s/{five.id}"),
        "the end of a link is easily lost or mistyped. Nothing": run(f"{collector.url}/s/{five.id}#cohort=elsewhere"),
    }  # fmt: skip
    with misbehaving([(200, weaker)]) as (url, bodies):
        endings["Please do not answer this survey. Your device cannot"] = run(f"{url}/s/{five.id}")
    assert len(bodies) == 1, "asked for, and nothing sent"
    for sentence, result in endings.items():
        assert sentence in " ".join(result.stderr.split())
        assert (result.exit_code, result.stdout) == (1, "")
        assert not BANNED.search(result.stderr), result.stderr
    assert list(home.rglob("*")) == []


def test_an_incomplete_link_is_a_kind_sentence(collector: Collector, five: Survey, run: Typist, home: Path) -> None:
    strict = replace(five, cohort_required=True)
    collector.publish(strict)
    result = run(f"{collector.url}/s/{strict.id}")
    assert "the end of a link is easily lost or mistyped. Nothing was sent. Please use the whole link" in " ".join(
        result.stderr.split()
    )
    assert (result.exit_code, collector.reports(strict)) == (1, 0)
    assert "Please answer truthfully" not in result.stdout


def test_spent_ledger_refuses_before_anybody_answers(collector: Collector, run: Typist) -> None:
    first, second, third = (read_survey(STRONG.format(3).replace("Q?", f"Q {number}?")) for number in range(3))
    for survey in (first, second, third):
        collector.publish(survey)
    for survey in (first, second):
        assert run(f"{collector.url}/s/{survey.id}", typed=["", "yes", "send"]).exit_code == 0
    result = run(f"{collector.url}/s/{third.id}")
    said = " ".join(result.stderr.split())
    assert "and nothing was sent. This survey would give away more" in said
    assert not BANNED.search(result.stderr)
    assert collector.reports(third) == 0


def test_damaged_memory_is_a_sentence_before_anybody_answers(link: str, run: Typist, tmp_path: Path) -> None:
    path = tmp_path / "mine"
    path.write_bytes(b"precious" * 100)
    result = run(link, "--memory", str(path))
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"Error: memory {path}: must be a file of this program" in result.stderr
    assert path.read_bytes() == b"precious" * 100


def test_scripts_are_sent_to_the_library(link: str, home: Path) -> None:
    for arguments, status, sentence in (
        ([link], 1, "asks a person, and must have a terminal"),
        ([], 2, "LINK: must be given, or --resend"),
        ([link, "--resend"], 2, "LINK: must be given, or --resend"),
    ):
        result = CliRunner().invoke(main, ["answer", *arguments])
        assert (result.exit_code, result.stdout) == (status, "")
        assert sentence in result.stderr
    assert list(home.rglob("*")) == []


def test_trial_shows_a_split_and_sends_nothing(collector: Collector, five: Survey, link: str, home: Path) -> None:
    before = collector.reports(five)
    result = CliRunner().invoke(main, ["answer", link, "--try"])  # needs no terminal
    assert result.exit_code == 0, result.output
    yes, no = re.findall(r"answer is (?:Yes|No):\n +(\d+)  No\n +(\d+)  Yes", result.stdout)
    assert int(yes[0]) + int(yes[1]) == int(no[0]) + int(no[1]) == PRESSES
    assert "If the true answer is all chosen:" in result.stdout
    assert collector.reports(five) == before
    assert list(home.rglob("*")) == []


@pytest.mark.slow
def test_split_counts_what_each_mechanism_sends() -> None:
    survey = read_survey(EVERYTHING)
    words = random.Random(6)
    for noise in survey.questions:
        answer: Any = {"ticks": ["a"], "number": 3}.get(noise.type) or noise.options[0]
        counts = split(noise, answer, 20_000, lambda: words.getrandbits(32))
        if noise.type == "ticks":
            assert counts["a"] > counts["b"] + 1000
        elif noise.mechanism.name == "discrete-laplace":
            assert set(counts) == {messages.TRY_SAME, messages.TRY_OTHER}
            assert sum(counts.values()) == 20_000
        else:
            matrix, place = design_of(noise.mechanism).channel_matrix, 0
            if noise.type == "number":
                place = noise.mechanism.answer_range.index(answer)
            for option, n in enumerate(counts.values()):
                assert n / 20_000 == pytest.approx(float(matrix[option][place]), abs=0.02)


@pytest.mark.parametrize(
    ("question", "typed", "answer"),
    [
        ("affair", "y", "yes"),
        ("affair", "no", "no"),
        ("affair", "1", None),
        ("affair", "", None),
        ("town", "1", "A"),
        ("town", "10", "J"),
        ("town", "0", None),
        ("town", "11", None),
        ("town", "-1", None),
        ("town", "a", None),
        ("town", "١", None),
        ("drugs", "0", []),
        ("drugs", "3, 1", ["heroin", "cannabis"]),
        ("drugs", "1 1", None),
        ("drugs", "1 0", None),
        ("drugs", "4", None),
        ("drugs", "", None),
        ("trust", "7", "7"),
        ("trust", "8", None),
        ("drinks", "499999", 499999),
        ("drinks", SECRET, int(SECRET)),
        ("drinks", "500000", None),
        ("drinks", "1_0", None),
        ("drinks", "9" * 400, None),
        ("drinks", "1e3", None),
    ],
)
def test_typed_lines_are_answers_or_refused_unsaid(question: str, typed: str, answer: object) -> None:
    noise = read_survey(FIVE).question(question)
    if answer is not None:
        assert answer_from(noise, typed) == answer
        return
    with pytest.raises(AnswerError) as caught:
        answer_from(noise, typed)
    with pytest.raises(AnswerError) as other:
        answer_from(noise, "something else")
    assert str(caught.value) == str(other.value) or typed == "1 1", "the message must not depend on what came"


def consent_words(survey: Survey, **how: Any) -> int:
    paragraphs = screens.consent(survey, None, **how)
    ours = [line for each in paragraphs for line in each.split("\n") if not line.startswith(screens.MARGIN)]
    return len(" ".join(ours).split())


def test_consent_says_what_it_must_in_at_most_120_words(five: Survey, demo_survey: Survey) -> None:
    for survey in (five, demo_survey, read_survey(STRONG.format(1))):
        for is_kiosk in (False, True):
            assert 60 < consent_words(survey, is_kiosk=is_kiosk) <= 120
    text = "\n".join(screens.consent(five, "web", is_kiosk=False))
    least = plainest(five.questions)
    for part in (five.title, "The tests", "Why?", messages.WHY_WEAK, "“web”", "Your 5 questions take"):
        assert part in text
    more = "\n".join(screens.onlookers(five, Disclosure()))
    assert messages.CAN_TEXT in more
    assert odds_sentences(least)[0] in screens.odds(five)[0]
    assert messages.GUESS in more
    assert messages.UNSURE not in text, "epsilons of 6 in all protect little, and that is said"
    assert messages.WEAK in text


def test_question_mark_before_the_start_shows_what_chance_does(run: Typist, collector: Collector, home: Path) -> None:
    coin = read_survey(
        'title = "NoiseModel first"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\ntruth = "1/2"\n'
    )
    result = run(collector.publish(coin), typed=["?", "stop"])
    assert odds_sentences(coin.questions[0])[0] in " ".join(result.stdout.split())
    assert collector.reports(coin) == 0


SHOWN = {
    messages.UNSURE: (0, 1),
    messages.HINT: (1, 2),
    messages.WEAK: (2, 4),
    messages.WEAK_SENT: (2, 4),
    messages.NO_ADMISSION: (0, 2),
    messages.CHANCE: (0, 2),
    messages.CANNOT: (0, 2),
    messages.GUESS: (2, 4),
}
"""The epsilons of a single question, above the first and up to the second, at which people read each sentence."""


@pytest.mark.parametrize("epsilon", ["0.2", "0.5", "1", "1.01", "1.5", "2", "2.01", "3", "3.9", "4"])
@pytest.mark.parametrize("others", [0.0, 1.9, 3.9])
def test_sentences_stand_only_where_the_protection_makes_them_true(epsilon: str, others: float) -> None:
    survey = read_survey(STRONG.format(epsilon))
    (coin,) = survey.questions
    told = Disclosure(survey.epsilon + others, survey.epsilon + others)
    card = [*screens.consent(survey, None, is_kiosk=False, told=told), *screens.onlookers(survey, told)]
    receipt = screens.receipt(survey, "https://a.example", is_old=False, told=told)
    strength = max(survey.epsilon, (survey.epsilon + others) / 2)  # a survey, or a collector, may ask twice as much
    for sentence, (above, most) in SHOWN.items():
        is_there = any(sentence in paragraph for paragraph in (*card, *receipt))
        assert is_there == (above < strength <= most), sentence
    assert (messages.WEAK in card) == (messages.WEAK_SENT in receipt)
    # Chance is said to protect only where it does.
    title = messages.ODDS_WEAK if messages.WEAK in card else messages.ODDS
    assert screens.odds(survey, told)[0].startswith(f"{title}:\n")
    # A Yes is no admission where one in nine who would say No sends Yes; nobody can be sure where one in four does.
    yes_if_no = float(design_of(coin.mechanism).channel_matrix[1][0])
    assert yes_if_no > 0.119 or messages.NO_ADMISSION not in " ".join(card)
    assert yes_if_no > 0.26 or messages.UNSURE not in card


def test_receipt_says_what_fits_the_questions(five: Survey) -> None:
    ticks = 'title = "T"\n[[questions]]\nid = "q"\ntype = "choice"\ntext = "Q?"\noptions = ["a", "b"]\nepsilon = 1\n'
    wanted = {messages.CHANCE_OTHER: read_survey(ticks), messages.WEAK_SENT: five}
    for sentence, survey in wanted.items():
        text = screens.receipt(survey, "https://a.example", is_old=False)
        assert [each for each in (messages.CHANCE, messages.CHANCE_OTHER, messages.WEAK_SENT) if each in text] == [
            sentence
        ]


def test_receipt_says_when_results_change(five: Survey) -> None:
    wanted = {
        "batches": messages.RESULTS_BATCHES.format(n=five.release, group=messages.OF_GROUP),
        "live": messages.RESULTS_LIVE,
        "closed": messages.RESULTS_CLOSED,
    }
    for results, sentence in wanted.items():
        text = screens.receipt(replace(five, results=results), "https://a.example", is_old=False)
        assert [each for each in wanted.values() if each in "\n".join(text)] == [sentence]
    # Each cohort is released by itself; without cohorts there are no groups.
    assert f"{five.release} replies of your group have arrived" in wanted["batches"]
    assert f"{five.release} replies have arrived" in screens.when_results_change(
        replace(five, results="batches", cohorts=()), 0
    )


def test_what_results_list_is_said_as_strongly_as_protection_is() -> None:
    for epsilon, said in ((1, messages.RESULTS_LIST), (3.9, messages.RESULTS_LIST_WEAK)):
        survey = read_survey(survey_toml("S", question_toml("q", "yes-no", "Ever?", epsilon=epsilon)))
        text = "\n".join(screens.receipt(survey, "https://a.example", is_old=False))
        both = (messages.RESULTS_LIST, messages.RESULTS_LIST_WEAK)
        assert [each for each in both if each in text] == [said]


@pytest.mark.parametrize("retention", ["reports", "tallies"])
@pytest.mark.parametrize("readers", ["public", "token"])
def test_receipt_says_what_results_show_and_to_whom(five: Survey, retention: str, readers: str) -> None:
    text = screens.receipt(replace(five, retention=retention, readers=readers), "https://a.example", is_old=False)
    lists = (messages.RESULTS_LIST, messages.RESULTS_LIST_WEAK)
    assert any(said in each for said in lists for each in text) == (retention == "reports")
    assert any(messages.RESULTS_TOTALS in each for each in text) == (retention == "tallies")
    assert any(messages.RESULTS_PUBLIC in each for each in text) == (readers == "public")
    assert any(messages.RESULTS_TOKEN in each for each in text) == (readers == "token")
    link = f"{messages.RESULTS}: https://a.example/s/"
    assert any(link in each for each in text) == (readers == "public"), (
        "nobody is sent to a page that is closed to them"
    )


def test_words_are_those_of_the_browser_and_none_misleads_or_frightens() -> None:
    catalogue = Path(deniable_web.__file__).parent / "catalogues" / "en.json"
    theirs = set(json.loads(catalogue.read_text(encoding="utf-8")).values())
    ours = {name: text for name, text in vars(messages).items() if name.isupper() and isinstance(text, str)}
    assert len(theirs & set(ours.values())) > 60
    for name, text in ours.items():
        assert not BANNED.search(text), name


def test_no_sentence_speaks_of_what_a_terminal_does_not_have() -> None:
    ours = {name: text for name, text in vars(messages).items() if name.isupper() and isinstance(text, str)}
    of_browsers = re.compile(r"\bSend\b|\bStart\b|button|click|\btap\b|this page|\bbox(es)?\b|\btabs?\b|reload")
    assert [name for name, text in ours.items() if of_browsers.search(text)] == []
    pressed = {word for text in ours.values() for word in re.findall(r"[Pp]ress(?:ed|es)? (\S+)", text)}
    assert pressed == {"Enter"}


def test_texts_of_others_cannot_drive_the_terminal_or_pass_for_ours() -> None:
    text = screens.own("Q\x1b[2J\x9b?\u202eevil\nThank you. Your reply has arrived.")
    assert text == "    Q\ufffd[2J\ufffd?\ufffdevil\n    Thank you. Your reply has arrived."
    assert screens.inline("Q\u202e\x1b[2J\nThank you.") == "Q\ufffd\ufffd[2J Thank you."
    assert screens.own("‏שלום‏ 👩‍👧") == "    ‏שלום‏ 👩‍👧"


def test_terminal_without_the_letters_shows_others_instead(link: str, home: Path) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    arguments = [sys.executable, "-m", "deniable", "answer", link, "--try"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def test_way_back_is_shown_once_the_report_has_arrived(run: Typist, collector: Collector, home: Path) -> None:
    table = '[completion]\ncode_length = 7\nlink = "https://panel.example/{code}"\n'
    survey = read_survey(
        STRONG.format(1).replace("[[questions]]", f'contact = "Us"\nthanks = "Ta."\n{table}[[questions]]')
    )
    before, _, after = run(collector.publish(survey), typed=["", "yes", "send"]).stdout.partition(messages.SENT)
    assert "Us" in before
    assert "Ta." in after
    (code,) = re.findall(r"Your code is (\w{7})\.", after)
    assert f"https://panel.example/{code}" in after
    assert code not in before
    assert all(code.encode() not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_what_a_device_remembers_is_not_laid_at_a_browser_nor_received_before_it_arrives() -> None:
    nothing = "\n".join(screens.history([], {}, 0.0, Path("memory.json")))
    assert "this browser" not in nothing.lower()
    survey = read_survey(FIVE_TYPES)
    report = randomize(survey, person(3))
    assert messages.IN_WORDS_TEXT in screens.told(survey, report, has_arrived=True)
    assert messages.IN_WORDS_TEXT not in screens.told(survey, report, has_arrived=False)

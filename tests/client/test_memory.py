"""The device's memory: one draw for each survey, whatever fails, and a ledger that holds."""

from __future__ import annotations

import datetime
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deniable import BudgetError, Ceiling, Report, Survey, read_survey
from deniable_client import Disclosure, Memory, UnusableMemory, memory_file, randomize
from deniable_client.memory import utc_today
from deniable_client.user_folder import user_data_folder
from tests.support.marks import long
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import Clock

HERE, ELSEWHERE = "https://collector.example", "https://elsewhere.example"


def coin_file(title: object, text: str = "Q?", **noise: object) -> str:
    return survey_toml(str(title), question_toml("affair", "yes-no", text, **noise))


def survey_of(epsilon: float = 1, title: str = "T", text: str | None = None) -> Survey:
    """A survey of one question, another one for each title unless its text is given."""
    return read_survey(coin_file(title, text or f"Q {title}?", epsilon=epsilon))


def draw_of(survey: Survey, answer: str = "yes") -> Callable[[], Report]:
    return lambda: randomize(survey, {"affair": answer})


def never() -> Report:
    raise AssertionError("must not be drawn")


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Memory:
    return Memory(tmp_path / "folder" / "memory.db", today=clock)


def test_100_asks_make_one_report_and_outlive_the_process(memory: Memory) -> None:
    survey = survey_of()
    bodies = {Memory(memory.path).once(survey, HERE, draw_of(survey)).encode() for _ in range(100)}
    assert len(bodies) == 1
    kept = memory.recall(survey.id, HERE)
    assert kept is not None
    assert ({kept.report}, kept.state) == (bodies, "waiting")
    assert (kept.survey, kept.collector) == (survey.id, HERE)
    assert memory.recall(survey_of(title="Other").id, HERE) is None


def test_all_replies_are_listed_once_for_each_collector(memory: Memory) -> None:
    assert memory.replies() == ()
    surveys = sorted((survey_of(title=title) for title in "AB"), key=lambda survey: survey.id)
    reports = {survey.id: memory.once(survey, HERE, draw_of(survey)).encode() for survey in reversed(surveys)}
    memory.once(surveys[1], ELSEWHERE, never)
    memory.mark(surveys[0].id, HERE, "sent")
    assert [(each.survey, each.collector, each.report, each.state) for each in memory.replies()] == [
        (surveys[0].id, HERE, reports[surveys[0].id], "sent"),
        (surveys[1].id, HERE, reports[surveys[1].id], "waiting"),
        (surveys[1].id, ELSEWHERE, reports[surveys[1].id], "waiting"),
    ]


def test_looking_makes_no_file(memory: Memory) -> None:
    assert (memory.recall("a" * 26, HERE), memory.pending(), memory.ledger(HERE).entries) == (None, (), ())
    memory.told(survey_of(), HERE)
    assert not memory.path.parent.exists()


def test_folders_above_it_are_made_and_no_other_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    survey, path = survey_of(), tmp_path / "one" / "two" / "memory.db"
    Memory(path).once(survey, HERE, draw_of(survey))
    Memory(path.with_name("other.db")).once(survey, HERE, draw_of(survey))
    assert sorted(each.name for each in path.parent.iterdir()) == ["memory.db", "other.db"]


def test_file_that_is_not_whole_yet_is_hidden_and_gone_if_it_cannot_be_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, _target: Path) -> None:
        assert [each.name for each in tmp_path.iterdir()] == [Path(source).name]
        assert Path(source).name.startswith(".")
        raise PermissionError("not here")

    monkeypatch.setattr("os.link", refuse)
    with pytest.raises(UnusableMemory, match="not here"):
        Memory(tmp_path / "memory.db").once(survey_of(), HERE, never)
    assert list(tmp_path.iterdir()) == []


def test_only_its_owner_may_read_it(memory: Memory) -> None:
    survey = survey_of()
    memory.once(survey, HERE, draw_of(survey))
    assert stat.S_IMODE(memory.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(memory.path.parent.stat().st_mode) == 0o700
    memory.path.chmod(0o644)
    memory.recall(survey.id, HERE)
    assert stat.S_IMODE(memory.path.stat().st_mode) == 0o600
    assert [each.name for each in memory.path.parent.iterdir()] == ["memory.db"], "no journal and no copy stays"


TWENTY = """
import os, sys
from deniable import read_survey
from deniable_client import Memory, randomize
path, text = sys.argv[1:]
survey = read_survey(text)
gate, open_gate = os.pipe()
children = []
for _ in range(20):
    if not (child := os.fork()):
        os.close(open_gate)
        os.read(gate, 1)  # until the parent closes its end: all at once
        body = Memory(path).once(survey, "https://collector.example", lambda: randomize(survey, {"affair": "yes"}))
        os.write(1, body.encode() + b"\\n")
        os._exit(0)
    children.append(child)
os.close(open_gate)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.slow
def test_20_processes_at_once_make_one_report(memory: Memory) -> None:
    for number in range(2):
        text = coin_file(number, epsilon=1)
        command = [sys.executable, "-c", TWENTY, str(memory.path), text]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        bodies = done.stdout.splitlines()
        assert (len(bodies), len(set(bodies))) == (20, 1)
        memory.path.unlink()  # so that the next 20 also make the file at once


def test_file_depends_on_the_report_alone(tmp_path: Path, clock: Clock) -> None:
    survey = read_survey(coin_file("T", truth="1/2"))
    contents = set()
    for answer in ("yes", "no"):
        memory = Memory(tmp_path / answer / "memory.db", today=clock)
        report = randomize(survey, {"affair": answer}, word=lambda: 2**32 - 1, report_id="00" * 16)  # chance says no
        memory.once(survey, HERE, lambda: report)  # noqa: B023
        memory.mark(survey.id, HERE, "sent")
        contents.add(memory.path.read_bytes())
    assert len(contents) == 1


def test_file_holds_these_columns_and_no_others(memory: Memory) -> None:
    survey = survey_of()
    memory.once(survey, HERE, draw_of(survey))
    db = sqlite3.connect(memory.path)
    tables = dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'"))
    columns = {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")] for table in tables}
    days = db.execute("SELECT day FROM told").fetchall()
    db.close()
    assert columns == {
        "reports": ["survey", "report"],
        "recipients": ["survey", "collector", "state"],
        "noisy": ["question", "value"],
        "told": ["origin", "question", "day", "millionths"],
        "tokens": ["survey", "request", "token"],
    }
    assert days == [("2026-11-25",)], "a day and no time"


def damage_header(path: Path) -> None:
    path.write_bytes(b"x" + path.read_bytes()[1:])


def damage_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page : page + 12] = b"\xff" * 12
    path.write_bytes(content)


def damage_counts(path: Path) -> None:
    """The rows are there, but their pages say that they hold none: an empty memory to who does not look twice."""
    content = bytearray(path.read_bytes())
    leaves = [page for page in range(4096, len(content), 4096) if content[page] == 0x0A]
    assert len(leaves) == 5, "one of each table"
    for page in leaves:
        content[page + 3 : page + 5] = b"\0\0"
    path.write_bytes(content)


def damage_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def damage_all(path: Path) -> None:
    path.write_bytes(b"")


def another_version(path: Path) -> None:
    execute(path, "PRAGMA user_version = 1")


def another_program(path: Path) -> None:
    path.unlink()
    execute(path, "CREATE TABLE reports (survey TEXT)")


def another_report(path: Path) -> None:
    execute(path, "UPDATE reports SET report = CAST(replace(report, 'affair', 'affairs') AS BLOB)")


def spaced_report(path: Path) -> None:
    execute(path, "UPDATE reports SET report = CAST(replace(report, ':', ': ') AS BLOB)")


def older_report(path: Path) -> None:
    execute(path, """UPDATE reports SET report = CAST(replace(report, '"values"', '"answers"') AS BLOB)""")


def execute(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize(
    "damage",
    [
        damage_header,
        damage_page,
        damage_counts,
        damage_end,
        damage_all,
        another_version,
        another_program,
        another_report,
        spaced_report,
        older_report,
    ],
)
def test_damaged_file_is_refused_and_left_as_it_is(memory: Memory, damage: Callable[[Path], None]) -> None:
    survey = survey_of()
    memory.once(survey, HERE, draw_of(survey))
    damage(memory.path)
    before = memory.path.read_bytes()
    with pytest.raises(UnusableMemory, match=r"memory .*/memory\.db: must be .*It was left as it is"):
        memory.once(survey, HERE, never)
    assert memory.path.read_bytes() == before
    assert [each.name for each in memory.path.parent.iterdir()] == ["memory.db"]


@pytest.mark.parametrize("apart", [97, long(41)])
def test_flipped_bit_anywhere_is_refused_with_the_way_out_or_harmless(tmp_path: Path, clock: Clock, apart: int) -> None:
    """Whatever bit of the file flips: what is read is what was kept, or the error is the project's own."""
    memory = Memory(tmp_path / "memory.db", today=clock)
    survey, new = survey_of(title="1"), survey_of(title="2")
    report = memory.once(survey, HERE, draw_of(survey))
    good = memory.path.read_bytes()
    refused: list[tuple[int, UnusableMemory]] = []
    left: list[bool] = []
    for place in [*range(100), *range(100, len(good), apart), *_text_in(good)]:
        damaged = bytearray(good)
        damaged[place] ^= 1 << place % 8 if place % 3 else 0x80
        memory.path.write_bytes(damaged)
        try:
            memory.told(new, HERE)
            memory.pending()
            memory.recall(survey.id, HERE)
            memory.ledger()
            if memory.recall(survey.id, HERE):
                assert memory.once(survey, HERE, never).values.keys() == report.values.keys(), place
        except UnusableMemory as error:
            refused.append((place, error))
            left.append(memory.path.read_bytes() == damaged)
    assert len(refused) > 100
    assert all(left)
    for place, error in refused:
        assert "It was left as it is; put back a copy, or move it away" in str(error), place


def _text_in(content: bytes) -> list[int]:
    """Where the names of tables and columns stand, which SQLite reads first."""
    start = content.index(b"CREATE TABLE")
    return list(range(start - 200, start + 1500, 7))


def test_file_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(UnusableMemory, match="must be a file of this program that it may read and write"):
        Memory(tmp_path / "file" / "memory.db").once(survey_of(), HERE, never)
    with pytest.raises(UnusableMemory, match="must be a file"):
        Memory(tmp_path).once(survey_of(), HERE, never)
    assert (tmp_path / "file").read_text() == "precious"


def test_file_that_another_process_holds_is_waited_for_and_then_refused(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = survey_of()
    memory.once(survey, HERE, draw_of(survey))
    monkeypatch.setattr(memory_file, "WAIT_SECONDS", 0.05)
    other = sqlite3.connect(memory.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(UnusableMemory, match="is in use by another process; try again"):
        memory.once(survey_of(title="Other"), HERE, never)
    other.close()
    memory.once(survey, HERE, never)


def test_failed_draw_leaves_nothing(memory: Memory) -> None:
    survey = survey_of()
    with pytest.raises(KeyError):
        memory.once(survey, HERE, lambda: {}["no report"])
    assert memory.recall(survey.id, HERE) is None
    assert memory.ledger(HERE).entries == ()


KILLED = """
import os, sys
from deniable import read_survey
from deniable_client import Memory
Memory(sys.argv[1]).once(read_survey(sys.argv[2]), "https://collector.example", lambda: os.kill(os.getpid(), 9))
"""


def test_process_killed_within_a_draw_leaves_a_good_file(memory: Memory) -> None:
    first, second = survey_of(), survey_of(title="Other")
    body = memory.once(first, HERE, draw_of(first)).encode()
    command = [sys.executable, "-c", KILLED, str(memory.path), coin_file("Other", "Q Other?", epsilon=1)]
    assert subprocess.run(command, check=False).returncode == -9
    assert memory.recall(second.id, HERE) is None
    assert memory.once(first, HERE, never).encode() == body
    memory.once(second, HERE, draw_of(second))


def test_ledger_adds_up_by_collector_within_90_days(memory: Memory, clock: Clock) -> None:
    surveys = [survey_of(3, f"S{number}") for number in range(4)]
    memory.once(surveys[0], HERE, draw_of(surveys[0]))
    clock.today += datetime.timedelta(days=1)
    memory.once(surveys[1], HERE, draw_of(surveys[1]))
    assert [entry.name for entry in memory.ledger(HERE).entries] == sorted(each.keys["affair"] for each in surveys[:2])
    message = rf"collector {HERE}: epsilons within 90 days must add up to at most 8 .* they add up to 9"
    for ask in (lambda: memory.told(surveys[2], HERE), lambda: memory.once(surveys[2], HERE, never)):
        with pytest.raises(BudgetError, match=message):
            ask()
    assert memory.recall(surveys[2].id, HERE) is None
    memory.told(surveys[2], HERE, Ceiling(survey=10))  # its owner may allow more
    memory.once(surveys[2], HERE, draw_of(surveys[2]), Ceiling(survey=10))
    memory.once(surveys[3], ELSEWHERE, draw_of(surveys[3]))
    assert memory.ledger(ELSEWHERE).epsilon == 3


@pytest.mark.parametrize(("days", "counts"), [(89, True), (90, False)])
def test_entry_counts_for_90_days(memory: Memory, clock: Clock, days: int, counts: bool) -> None:
    survey = survey_of(4)
    memory.once(survey, HERE, draw_of(survey))
    clock.today += datetime.timedelta(days=days)
    assert (memory.ledger(HERE).epsilon == 4) is counts
    clock.today += datetime.timedelta(days=1000)
    assert memory.once(survey, HERE, never).encode(), "the draw itself is kept for good"


def test_same_report_costs_its_collector_nothing_more_and_another_one_its_epsilon(memory: Memory) -> None:
    survey, other = survey_of(4), survey_of(4, "Other")
    for _ in range(5):
        memory.once(survey, HERE, draw_of(survey))
    assert memory.ledger(HERE).epsilon == 4
    memory.once(survey, ELSEWHERE, never)
    memory.once(other, ELSEWHERE, draw_of(other))
    assert memory.ledger(ELSEWHERE).epsilon == 8
    assert memory.ledger(HERE).epsilon == 4
    assert memory.ledger().epsilon == 8, "what several collectors were told counts once for the device"


def test_reports_wait_until_they_are_sent_or_refused(memory: Memory) -> None:
    sent, refused, waits = (survey_of(1, title) for title in ("sent", "refused", "waits"))
    for survey in (sent, refused, waits):
        memory.once(survey, HERE, draw_of(survey))
    memory.once(sent, ELSEWHERE, never)
    memory.mark(sent.id, HERE, "sent")
    memory.mark(sent.id, HERE, "refused")  # a collector that has it cannot give it back
    memory.mark(refused.id, HERE, "refused")
    assert [kept.survey for kept in memory.pending(HERE)] == [waits.id]
    assert {(kept.survey, kept.collector) for kept in memory.pending()} == {(waits.id, HERE), (sent.id, ELSEWHERE)}
    states = [kept.state for survey in (sent, refused, waits) if (kept := memory.recall(survey.id, HERE))]
    assert states == ["sent", "refused", "waiting"]
    kept = memory.recall(refused.id, "https://third.example")
    assert kept is not None
    assert kept.state == "waiting"


def test_question_under_other_titles_keeps_its_value_and_costs_nothing_more(memory: Memory) -> None:
    """Eight draws at epsilon 1 would tell the majority 91 times in 100."""
    surveys = [survey_of(1, f"Title {n}", "The same?") for n in range(40)]
    reports = [memory.once(each, HERE, draw_of(each, "yes" if n % 2 else "no")) for n, each in enumerate(surveys)]
    assert len({report.values["affair"] for report in reports}) == 1
    assert len({report.id for report in reports}) == 40
    assert memory.ledger(HERE).epsilon == 1
    told = memory.told(survey_of(1, "Title 40", "The same?"), HERE)
    assert told == Disclosure(collector=1, device=1, has_told=True, is_same=True)
    assert not memory.told(survey_of(1, "Title 40", "The same, though?"), HERE).is_same


def test_value_that_an_older_version_kept_is_not_drawn_again(memory: Memory) -> None:
    older, newer = survey_of(1, "Older", "The same?"), survey_of(1, "Newer", "The same?")
    value = memory.once(older, HERE, draw_of(older)).values["affair"]
    older_report(memory.path)
    for answer in ("yes", "no"):
        assert memory.once(newer, HERE, draw_of(newer, answer)).values["affair"] == value
    assert memory.ledger(HERE).epsilon == 1
    with pytest.raises(UnusableMemory, match=f"what it keeps of survey {older.id} is not a report of it"):
        memory.once(older, HERE, never)


def test_question_twice_in_one_survey_is_one_question(memory: Memory) -> None:
    text = "title = 'T'" + "".join(
        f"\n[[questions]]\nid = 'q{n}'\ntype = 'yes-no'\ntext = 'Q?'\nepsilon = 0.25" for n in range(20)
    )
    survey = read_survey(text)
    report = memory.once(survey, HERE, lambda: randomize(survey, dict.fromkeys(survey.keys, "yes")))
    assert len(set(report.values.values())) == 1
    assert memory.ledger(HERE).epsilon == 0.25


def test_each_wave_draws_and_costs_anew_where_its_survey_says_so(memory: Memory) -> None:
    plain = survey_of(1, "T", "Q?")
    waves = [replace(plain, title=f"Wave {n}", fresh="each wave") for n in range(7)]
    assert len({each.keys["affair"] for each in (plain, *waves)}) == 8
    for each in (plain, *waves):
        memory.once(each, HERE, draw_of(each))
    assert memory.ledger(HERE).epsilon == 8
    with pytest.raises(BudgetError):
        memory.once(replace(plain, title="Wave 7", fresh="each wave"), HERE, never)


def test_many_collectors_together_stay_below_the_devices_ceiling(memory: Memory) -> None:
    for n in range(16):
        survey = survey_of(1, f"S{n}")
        memory.once(survey, f"https://c{n}.example", draw_of(survey))
    message = "device: epsilons within 90 days must add up to at most 16 over all collectors, .* add up to 17"
    with pytest.raises(BudgetError, match=message):
        memory.once(survey_of(1, "S16"), "https://c16.example", never)
    memory.once(survey_of(1, "S3"), "https://c16.example", never)  # which others know already
    assert memory.told(survey_of(1, "S3"), HERE).device == 16


@pytest.mark.parametrize(
    "spelling",
    [
        "https://Collector.Example/",
        "https://collector.example:443",
        "https://collector.example/other/path",
        "https://x@collector.example",
    ],
)
def test_ledger_is_that_of_the_origin_however_it_is_spelt(memory: Memory, spelling: str) -> None:
    first, second = survey_of(4, "1"), survey_of(4, "2")
    memory.once(first, HERE, draw_of(first))
    memory.once(second, spelling, draw_of(second))
    assert memory.ledger(HERE).epsilon == memory.ledger(spelling).epsilon == 8
    with pytest.raises(BudgetError):
        memory.once(survey_of(1, "3"), spelling, never)


def test_day_is_that_of_utc_wherever_the_device_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for zone in ("AAA+12", "BBB-12"):  # in one of them the local day is another one now
        with monkeypatch.context() as patch:
            patch.setenv("TZ", zone)
            time.tzset()
            before = datetime.datetime.fromtimestamp(time.time(), datetime.UTC).date()
            today = utc_today()
            assert before <= today <= datetime.datetime.fromtimestamp(time.time(), datetime.UTC).date()
        time.tzset()


def test_clock_that_goes_back_dates_no_entry_before_the_last_one(memory: Memory, clock: Clock) -> None:
    first, second = survey_of(4, "1"), survey_of(4, "2")
    memory.once(first, HERE, draw_of(first))
    noon = clock.today
    clock.today = datetime.date(1970, 1, 1)
    memory.once(second, HERE, draw_of(second))
    for day in (clock.today, noon, noon + datetime.timedelta(days=89)):
        clock.today = day
        with pytest.raises(BudgetError):
            memory.once(survey_of(1, "3"), HERE, never)


def test_clock_that_was_once_at_2099_locks_nobody_out_for_ever(memory: Memory, clock: Clock) -> None:
    """What it dated counts for 90 days from when the clock was seen to be right again, and so does what came since."""
    first, second, third = survey_of(4, "1"), survey_of(2, "2"), survey_of(4, "3")
    noon, clock.today = clock.today, datetime.date(2099, 1, 1)
    memory.once(first, HERE, draw_of(first))
    clock.today = noon
    memory.told(second, HERE)
    clock.today = noon + datetime.timedelta(days=30)
    memory.once(second, HERE, draw_of(second))
    for days, sum_ in ((89, 6), (90, 2), (119, 2), (120, 0)):
        clock.today = noon + datetime.timedelta(days=days)
        assert memory.ledger(HERE).epsilon == pytest.approx(sum_, abs=1e-5), days
    memory.once(third, HERE, draw_of(third))


def test_value_that_does_not_fit_its_question_is_refused(memory: Memory) -> None:
    first, second = survey_of(1, "1", "Q?"), survey_of(1, "2", "Q?")
    memory.once(first, HERE, draw_of(first))
    execute(memory.path, "UPDATE noisy SET value = 7")
    with pytest.raises(UnusableMemory):
        memory.once(second, HERE, draw_of(second))
    assert memory.recall(second.id, HERE) is None


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, ".local/share/deniable"),
        ("linux", {"XDG_DATA_HOME": "/data"}, "/data/deniable"),
        ("linux", {"XDG_DATA_HOME": "data"}, ".local/share/deniable"),
        ("darwin", {"XDG_DATA_HOME": "/data"}, "Library/Application Support/deniable"),
        ("win32", {"LOCALAPPDATA": "/users/ada/local"}, "/users/ada/local/deniable"),
        ("win32", {}, "AppData/Local/deniable"),
    ],
)
def test_default_is_in_the_users_data_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, environment: dict[str, str], folder: str
) -> None:
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (environment | {"HOME": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert user_data_folder() == tmp_path / folder
    assert Memory().path == tmp_path / folder / "memory.db"


def test_a_revised_survey_gets_the_value_that_its_predecessor_got_and_costs_nothing_more(memory: Memory) -> None:
    old = survey_of(1, "T", "Q?")
    first = memory.once(old, HERE, draw_of(old))
    for title, named in (("Corrected", old.id), ("Corrected again", old.id), ("Said to revise a stranger's", "a" * 26)):
        new = replace(old, title=title, revises=named)
        again = memory.once(new, HERE, draw_of(new, "no"))
        assert (again.values, again.id == first.id) == (first.values, False)
        assert memory.told(new, HERE).is_same
    assert memory.ledger(HERE).epsilon == 1


def test_naming_a_survey_makes_no_question_of_it_known(memory: Memory) -> None:
    """Whoever names the survey of others learns neither its value nor whether somebody answered it."""
    theirs, mine = survey_of(1, "Theirs", "Q?"), survey_of(1, "Mine", "Something else?")
    named = replace(mine, revises=theirs.id)
    assert named.keys == mine.keys
    before = memory.told(named, HERE)
    memory.once(theirs, ELSEWHERE, draw_of(theirs))
    after = memory.told(named, HERE)
    assert (before.collector, before.is_same, after.collector, after.is_same) == (1, False, 1, False)
    assert memory.recall(named.id, HERE) is None

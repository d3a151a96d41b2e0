"""``deniable invite``: links, rosters, letters, and who has not answered. What leaves the machine are hashes."""

from __future__ import annotations

import csv
import datetime
import json
import stat
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
import urllib3

from deniable import Survey, read_survey
from deniable.access.invitation import hash_of
from deniable.errors import CollectorError, ParameterError
from deniable_server.access import remote, tokens
from deniable_server.people.sheet import sheet_page
from deniable_server.store.interface import InvitationCounts, InvitationUsage
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.collectors import StartCollector
from tests.support.serving import Web, web
from tools.rig.access import invited_survey, key_number, publish, report_for, unlinkable_survey
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE
from tools.rig.surveys import SURVEY

__all__ = ["web"]

INVITE = CommandLine("invite")
ok, refused = INVITE.ok, INVITE.refused

PUBLIC = "https://collector.example"

ALWAYS: dict[str, Any] = {"opens": None, "closes": None, "results": "batches"}
"""Changes of the survey of the tests, which is live and has closed when somebody runs this next year."""

PEOPLE = '=name,email,phone\n"Love\nlace, Ada",ada@x.example,+49 170 1\n=1+1,bob@x.example,5\n'


def collector_with(folder: Path, survey: Survey) -> Path:
    """A database where a survey is published, and signed."""
    database = folder / "test.db"
    with closing(SqliteStore(database)) as store:
        publish(store, survey)
    return database


def places(database: Path) -> list[str]:
    """Options of a command that say where."""
    return ["--db", str(database), "--public-url", PUBLIC]


def invitations_of(links: list[str]) -> list[str]:
    """The invitations in links, as browsers read them."""
    return [parse_qs(urlsplit(link).fragment)["invitation"][0] for link in links]


def answer(database: Path, survey: Survey, invitations: list[str]) -> None:
    """SqliteStore a report for each invitation."""
    store = SqliteStore(database)
    store.store_reports([(survey, [report_for(survey, each) for each in invitations])])
    store.close()


def roster(folder: Path, text: str = PEOPLE) -> Path:
    path = folder / "people.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def is_private(path: Path) -> bool:
    return stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "survey", [invited_survey(**ALWAYS, cohorts=("on paper",)), unlinkable_survey(**ALWAYS, cohorts=("on paper",))]
)
def test_links_are_made_here_and_the_database_has_their_hashes_alone(survey: Survey, tmp_path: Path) -> None:
    database, to = collector_with(tmp_path, survey), tmp_path / "links.csv"
    result = INVITE.run(survey.id, "-n", 50, "--cohort", "on paper", "--to", to, *places(database))
    assert result.exit_code == 0, result.output
    table = pd.read_csv(to)
    assert list(table.columns) == ["number", "cohort", "link"]
    assert table["number"].tolist() == [*range(1, 51)]
    assert set(table["cohort"]) == {"on paper"}
    assert all(link.startswith(f"{PUBLIC}/s/{survey.id}#cohort=on%20paper&invitation=") for link in table["link"])
    invitations = invitations_of(table["link"].tolist())
    assert len({*invitations}) == 50
    store = SqliteStore(database)
    assert store.unused_invitations(survey.id, [*map(hash_of, invitations)])[:2] == (50, 50)
    store.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("test.db*"))
    for each in invitations:
        assert hash_of(each).encode() in kept
        assert each.encode() not in kept
        assert bytes.fromhex(each) not in kept
        assert each not in result.output
    assert is_private(to)


def test_links_are_printed_where_no_file_is_named_and_count_once(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database = collector_with(tmp_path, survey)
    printed = ok(f"{PUBLIC}/s/{survey.id}", "-n", 3, "--db", database)
    header, *rows = csv.reader(printed.splitlines())
    assert header == ["number", "cohort", "link"]
    assert [row[:2] for row in rows] == [["1", ""], ["2", ""], ["3", ""]]
    invitations = invitations_of([row[2] for row in rows])
    answer(database, survey, invitations[:1])
    assert ok("unused", survey.id, "--db", database) == "3 invited, 2 unused\n"
    assert ok("unused", survey.id, "--db", database) == "3 invited, 2 unused\n"


def test_a_roster_keeps_its_columns_and_nothing_of_it_is_stored(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database, to = collector_with(tmp_path, survey), tmp_path / "links.csv"
    ok(survey.id, "--roster", roster(tmp_path), "--column", "email", "--to", to, *places(database))
    table = pd.read_csv(to, dtype=str)
    assert list(table.columns) == ["'=name", "email", "phone", "link"]
    assert table["'=name"].tolist() == ["Love\nlace, Ada", "'=1+1"]
    assert table["phone"].tolist() == ["'+49 170 1", "5"]  # a spreadsheet would calculate both
    assert len({*invitations_of(table["link"].tolist())}) == 2
    kept = b"".join(path.read_bytes() for path in tmp_path.glob("test.db*"))
    assert b"x.example" not in kept
    assert is_private(to)


def test_all_that_is_sent_are_hashes_in_an_order_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey, to, calls = invited_survey(**ALWAYS), tmp_path / "links.csv", list[tuple[str, str, Any]]()

    class Answer:
        """Of a collector."""

        status = 200
        data = survey.document

        def json(self) -> dict[str, Any]:
            """How many were invited, or are."""
            return {"invited": 0, "unused": 0, "hashes": None} if calls[-1][2] == b"{}" else {"added": 3, "known": 0}

    def request(method: str, url: str, body: bytes | None = None, **_headers: object) -> Answer:
        calls.append((method, url, body))
        return Answer()

    monkeypatch.setattr(remote._http, "request", request)
    people = roster(tmp_path, "name,email\n" + "".join(f"n{each},{each}@x\n" for each in range(30)))
    rows = ["--roster", people, "--column", "email", "--to", to]
    ok(f"{PUBLIC}/s/{survey.id}", *rows, "--token", "dn_x")
    hashes = sorted(map(hash_of, invitations_of(pd.read_csv(to)["link"].tolist())))
    base = f"{PUBLIC}/api/v1/surveys/{survey.id}"
    assert calls == [
        ("GET", base, None),
        ("POST", f"{base}/invitations/unused", b"{}"),
        ("POST", f"{base}/invitations", json.dumps({"hashes": hashes}).encode()),
    ]
    calls.clear()
    mail = ["--roster", to, "--column", "email", "--to", tmp_path / "mail.csv"]
    ok("mail", f"{PUBLIC}/s/{survey.id}", *mail, "--token", "dn_x")
    assert calls == [], "links that are there already need nobody"


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        (
            "name,email\na,x@y\n\nb,\nc, X@Y \n",
            "email",
            "people.csv: email: each row must have one of its own; line 4 is empty, line 5 repeats line 2",
        ),
        ('email,name\na,"two\nlines"\na,b\n', "email", "line 4 repeats line 2"),
        ("email\ncaf\u00e9@x\nCafe\u0301@x\u200b\n", "email", "line 3 repeats line 2"),
        ("email\nb@x\n\uff42@x\n\u200b\n", "email", "line 3 repeats line 2, line 4 is empty"),
        ("name\na\n", "email", "must have a column 'email', has name"),
        ("a,a\n1,2\n", "a", "columns must have names of their own"),
        ("a,b\n1\n", "a", "line 2 must have 2 cells, got 1"),
        ("a\n", "a", "must have 1 to 100,000 rows, got 0"),
        ("", "a", "must have a header and rows, got nothing"),
        ('a\n"1', "a", "must be CSV: a quote opens a cell and none closes it"),
        (
            'email\na@x\nb@\nc@x\n"d@x\nBcc: e@x"\nf@x\n',
            "email",
            "email: must be an address of mail, as in most rows; line 3 is none, line 5 is none",
        ),
        ("email,link\na,b\n", "email", "has a column link already"),
    ],
)
def test_what_is_wrong_with_a_roster_is_said_by_line(text: str, column: str, said: str, tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database, to = collector_with(tmp_path, survey), tmp_path / "links.csv"
    message = refused(survey.id, "--roster", roster(tmp_path, text), "--column", column, "--to", to, *places(database))
    assert said in message
    assert "x@y" not in message.lower()
    assert not to.exists()
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


def test_rosters_of_spreadsheets_are_read(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database = collector_with(tmp_path, survey)
    for number, (text, encoding) in enumerate(
        [("email;name\r\na@x;\u00e9\r\nb@x;\u00fc\r\n", "utf-8-sig"), ("email\tname\na@x\t1\nb@x\t2\n", "utf-8")]
    ):
        path = tmp_path / f"{number}.csv"
        path.write_text(text, encoding=encoding, newline="")
        assert ok(survey.id, "--roster", path, "--column", "email", *places(database)).startswith("email,name,link")
    path.write_text("email\n\u00e9\n", encoding="latin-1")
    assert "must be UTF-8" in refused(survey.id, "--roster", path, "--column", "email", *places(database))


def test_a_mail_merge_has_a_letter_for_each_row(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database, to, letter = collector_with(tmp_path, survey), tmp_path / "mail.csv", tmp_path / "letter.txt"
    letter.write_text("Subject: For {name}\n\nDear {name},\n\n{link}\n", encoding="utf-8")
    path = roster(tmp_path, 'name,email\nAda {link},a@x\n"Eve\nBcc: all@x",e@x\n')
    ok("mail", survey.id, "--roster", path, "--column", "email", "--letter", letter, "--to", to, *places(database))
    table = pd.read_csv(to)
    assert list(table.columns) == ["name", "email", "link", "subject", "body"]
    assert table["subject"].tolist() == ["For Ada {link}", "For Eve Bcc: all@x"]  # no header of a mail is made up
    assert table["body"][0] == f"Dear Ada {{link}},\n\n{table['link'][0]}\n"
    assert is_private(to)
    assert ok("unused", survey.id, "--db", database) == "2 invited, 2 unused\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Dear {name}: {link}", "must start with a line"),
        ("Subject: \n\n{link}", "must start with a line"),
        ("Subject: x\n\nDear {name}", "must hold {link} below its subject"),
        ("Subject: {link}\n\n{link}", "subject must not hold {link}"),
        ("Subject: x\n\n{link} {link.__class__}", "{link.__class__} must be {link} or a column: email, link, name"),
    ],
)
def test_a_letter_that_would_fail_is_refused_before_anybody_is_invited(text: str, said: str, tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database, letter = collector_with(tmp_path, survey), tmp_path / "letter.txt"
    letter.write_text(text, encoding="utf-8")
    rows = ["--roster", roster(tmp_path, "name,email\nAda,a@x\n"), "--column", "email", "--letter", letter]
    assert said in refused("mail", survey.id, *rows, "--to", tmp_path / "mail.csv", *places(database))
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


def test_a_reminder_has_the_rows_and_the_links_of_those_who_have_not_answered(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database, links, left = collector_with(tmp_path, survey), tmp_path / "links.csv", tmp_path / "left.csv"
    ok(survey.id, "--roster", roster(tmp_path), "--column", "email", "--to", links, *places(database))
    before = pd.read_csv(links, dtype=str)
    answer(database, survey, invitations_of(before["link"].tolist()[:1]))
    assert ok("unused", survey.id, "--list", links, "--to", left, "--db", database) == ""
    assert is_private(left)
    pd.testing.assert_frame_equal(pd.read_csv(left, dtype=str), before[1:].reset_index(drop=True))
    mail = tmp_path / "mail.csv"
    ok("mail", survey.id, "--roster", left, "--column", "email", "--to", mail, "--db", tmp_path / "none.db")
    pd.testing.assert_frame_equal(pd.read_csv(mail, dtype=str), pd.read_csv(left, dtype=str))
    assert ok("unused", survey.id, "--db", database) == "2 invited, 1 unused\n"


def test_personal_links_may_lead_to_a_page_that_embeds_the_survey(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database = collector_with(tmp_path, survey)
    links, left, page = tmp_path / "links.csv", tmp_path / "left.csv", "https://uni.example/study.html?wave=2"
    ok(survey.id, "-n", 3, "--page", page, *places(database), "--to", links)
    with links.open(encoding="utf-8") as file:
        made = [each["link"] for each in csv.DictReader(file)]
    assert all(each.startswith(f"{page}#survey={survey.id}&invitation=") for each in made)
    answer(database, survey, invitations_of(made[:1]))
    ok("unused", survey.id, "--list", links, *places(database), "--to", left)
    with left.open(encoding="utf-8") as file:
        assert [each["link"] for each in csv.DictReader(file)] == made[1:]
    assert "0 invited, 3 known before" in INVITE.run("again", survey.id, links, *places(database)).stderr
    for wrong in (f"{page}#top", "uni.example", PUBLIC + "/s/" + survey.id, "file:///study.html"):
        assert "--page: must be like" in refused(survey.id, "-n", 1, "--page", wrong, *places(database))
    # A link says of which survey it is, so the list of another survey is refused.
    links.write_text(links.read_text(encoding="utf-8").replace(survey.id, "a" * 26), encoding="utf-8")
    assert "link" in refused("unused", survey.id, "--list", links, *places(database))


def test_beside_live_results_only_the_number_is_told(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS | {"results": "live"})
    database, links = collector_with(tmp_path, survey), tmp_path / "links.csv"
    ok(survey.id, "-n", 4, "--to", links, *places(database))
    answer(database, survey, invitations_of(pd.read_csv(links)["link"].tolist()[:1]))
    assert ok("unused", survey.id, "--db", database) == "4 invited, 3 unused\n"
    message = refused("unused", survey.id, "--list", links, "--db", database)
    assert "4 invited, 3 unused; not told who, because its results are live" in message


def test_a_list_of_another_survey_is_refused_without_repeating_its_links(tmp_path: Path) -> None:
    survey, other = invited_survey(**ALWAYS), invited_survey(**ALWAYS, title="Another")
    database, links = collector_with(tmp_path, survey), tmp_path / "links.csv"
    ok(survey.id, "-n", 2, "--to", links, *places(database))
    store = SqliteStore(database)
    store.publish(other)
    store.close()
    with links.open("a", encoding="utf-8", newline="") as file:
        file.write(links.read_text().splitlines()[1] + "\n")
    message = refused("unused", survey.id, "--list", links, "--db", database)
    assert "line 4 repeats line 2" in message
    assert "invitation=" not in message
    links.write_text("\n".join(links.read_text().splitlines()[:3]))
    message = refused("unused", other.id, "--list", links, "--db", database)
    assert f"link: must be links with an invitation to survey {other.id}; line 2 has none, line 3 has none" in message
    assert "invitation=" not in message


def test_rows_of_unused_links_are_written_only_of_a_list(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database = collector_with(tmp_path, survey)
    assert "--to goes with --list" in refused("unused", survey.id, "--to", tmp_path / "left.csv", "--db", database)


def test_a_sheet_of_one_link_is_for_open_surveys(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database = collector_with(tmp_path, survey)
    message = refused("sheet", survey.id, "-n", 3, "--to", tmp_path / "cards.html", *places(database))
    assert "has a link for each person; see 'deniable invite people --sheet'" in message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say how many people with -n"),
        (["-n", "0"], "0 is not in the range"),
        (["-n", "3", "--roster", "people.csv", "--column", "email"], "say how many people with -n"),
        (["--roster", "people.csv"], "--roster and --column go together"),
        (["-n", "3", "--cohort", "web"], "--cohort: must be one of the survey's: paper"),
        (["-n", "3", "--cohort", "paper", "--public-url", "collector.example"], "--public-url: must be like https://"),
        (
            ["-n", "3", "--cohort", "paper", "--public-url", "https://c.example/#x"],
            "--public-url: must be like https://",
        ),
        (["-n", "3"], "--cohort: must be given, because every report must carry one: paper"),
        (["-n", "3", "--to", "links.txt"], "must end in .csv"),
        (["-n", "3", "--to", "no/links.csv"], "there is no folder 'no'"),
        (["-n", "3", "--to", "people.csv"], "exists, and may hold links that nobody else has"),
        (["-n", "3", "--sentence", "x"], "--sentence goes with --sheet"),
        *(
            (
                ["-n", "3", "--cohort", "paper", "--public-url", f"https://{wrong}"],
                "--public-url: must be like https://",
            )
            for wrong in ("c example", "me:secret@c.example", "ü.example", f"c.example/s/{'a' * 26}")
        ),
    ],
)
def test_bad_input_is_refused_and_nobody_is_invited(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    survey = invited_survey(**ALWAYS, cohorts=("paper",), cohort_required=True)
    database = collector_with(tmp_path, survey)
    before = roster(tmp_path).read_bytes()
    message = refused(survey.id, *places(database), *arguments)
    assert said in message
    assert "secret" not in message
    assert roster(tmp_path).read_bytes() == before
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


class Breaking(SqliteStore):
    """Takes one invitation, and no second."""

    def add_invitations(self, survey_id: str, hashes: Iterable[str]) -> InvitationCounts:
        """Break off in the middle."""
        super().add_invitations(survey_id, [*hashes][:1])
        raise CollectorError("https://collector.example: cannot be reached")


@pytest.mark.parametrize("printed", [False, True], ids=["file", "printed"])
def test_where_inviting_breaks_off_the_links_stay_and_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: bool
) -> None:
    survey, to = invited_survey(**ALWAYS), tmp_path / "links.csv"
    database = collector_with(tmp_path, survey)
    with monkeypatch.context() as broken:
        broken.setattr("deniable_server.access.inviting.open_store", Breaking)
        result = INVITE.run(survey.id, "-n", 3, *([] if printed else ["--to", to]), *places(database))
    assert result.exit_code == 1
    assert "cannot be reached" in result.stderr
    assert "Not everybody is invited yet: keep the links" in result.stderr
    if printed:
        to.write_text(result.stdout, encoding="utf-8")
    assert len(pd.read_csv(to)) == 3
    message = refused("unused", survey.id, "--list", to, "--db", database)
    assert "hashes: must be of people who are invited here; 2 of 3 are not" in message
    assert "2 invited, 1 known before" in INVITE.run("again", survey.id, to, "--db", database).stderr
    assert "0 invited, 3 known before" in INVITE.run("again", survey.id, to, "--db", database).stderr
    assert ok("unused", survey.id, "--list", to, "--db", database).count("invitation=") == 3


def test_a_sheet_alone_that_nothing_reads_again_goes_where_inviting_breaks_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, sheet = invited_survey(**ALWAYS), tmp_path / "cards.html"
    database = collector_with(tmp_path, survey)
    monkeypatch.setattr("deniable_server.access.inviting.open_store", Breaking)
    assert "keep the links" not in refused(survey.id, "-n", 3, "--sheet", sheet, *places(database))
    assert not sheet.exists()


def test_a_file_that_came_meanwhile_stays_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once: each looks, before either writes."""
    survey, to = invited_survey(**ALWAYS), tmp_path / "links.csv"
    database = collector_with(tmp_path, survey)

    class Slow(SqliteStore):
        """While it answers, somebody else writes his links."""

        def unused_invitations(self, survey_id: str, hashes: Iterable[str] | None = None) -> InvitationUsage:
            """As it is, late."""
            to.write_text("somebody's")
            return super().unused_invitations(survey_id, hashes)

    monkeypatch.setattr("deniable_server.access.inviting.open_store", Slow)
    cards = tmp_path / "cards.html"
    message = refused(survey.id, "-n", 3, "--to", to, "--sheet", cards, *places(database))
    assert "links.csv: exists, and may hold links that nobody else has" in message
    assert to.read_text() == "somebody's"
    assert not cards.exists()
    monkeypatch.undo()
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


def read_one_line(*arguments: object) -> tuple[int, str]:
    """Exit status and errors of ``deniable invite ... | head -1``, without a buffer.

    A system call writes what fits into the pipe then, and says how much.
    """
    command = [sys.executable, "-u", "-m", "deniable", "invite", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
        assert done.stdout
        assert done.stderr
        done.stdout.readline()
        done.stdout.close()
        errors = done.stderr.read().decode()
    return done.returncode, errors


@pytest.mark.slow
def test_nobody_is_invited_whose_link_was_printed_in_part(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database = collector_with(tmp_path, survey)
    status, errors = read_one_line(survey.id, "-n", 3000, *places(database))
    assert status == 1
    assert "nobody is invited" in errors
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


@pytest.mark.slow
def test_a_list_of_the_unused_that_was_printed_in_part_is_an_error(tmp_path: Path) -> None:
    survey, links = invited_survey(**ALWAYS), tmp_path / "links.csv"
    database = collector_with(tmp_path, survey)
    ok(survey.id, "-n", 3000, "--to", links, *places(database))
    status, errors = read_one_line("unused", survey.id, "--list", links, "--db", database)
    assert status == 1
    assert "links: cannot be printed: Broken pipe; the list is incomplete" in errors


def test_a_sentence_that_no_card_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="sentence: must have 180 characters at most to fit a card, got 181"):
        sheet_page("Life and love", ["https://c.example/s/x"], "a" * 181)


@pytest.mark.parametrize(("letters", "length"), [(33, 403), (200, 1906)])
def test_links_that_no_card_holds_are_refused_before_anybody_is_invited(
    tmp_path: Path, letters: int, length: int
) -> None:
    """A cohort's letters beyond ASCII take nine characters each in a link, and codes have an end, too."""
    cohort, sheet = "\u304a" * letters, tmp_path / "cards.html"
    survey = invited_survey(**ALWAYS, cohorts=(cohort,))
    database = collector_with(tmp_path, survey)
    message = refused(survey.id, "-n", 3, "--cohort", cohort, "--sheet", sheet, *places(database))
    assert f"sheet: links must have 400 characters at most to fit a card, got {length}; a shorter cohort" in message
    assert "invitation" not in message
    assert not sheet.exists()
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nobody_is_invited_whose_link_cannot_be_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unbuffered: str
) -> None:
    """The only error is ours, also where Python writes what a buffer still holds when it ends."""
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    survey = invited_survey(**ALWAYS)
    database = collector_with(tmp_path, survey)
    command = [sys.executable, "-m", "deniable", "invite", survey.id, "-n", "3", *map(str, places(database))]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert "links: cannot be printed: No space left on device; nobody is invited" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


@pytest.mark.parametrize("hashes", [False, True])
def test_nobody_is_invited_where_nothing_can_be_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hashes: bool
) -> None:
    """Neither here nor by whoever adds the hashes."""
    survey, file = invited_survey(**ALWAYS), tmp_path / "hashes.txt"
    database = collector_with(tmp_path, survey)
    monkeypatch.setattr("deniable_server.commands.invite.sys", SimpleNamespace(stdout=None))
    message = refused(survey.id, "-n", 3, *(["--hashes", file] if hashes else []), *places(database))
    assert "links: cannot be printed: standard output is closed; nobody is invited" in message
    assert not file.exists()
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b'{"x":1}', b"\xff"])
def test_what_no_collector_answers_is_said(web: Web, tmp_path: Path, answer: bytes) -> None:
    survey, to = invited_survey(**ALWAYS), tmp_path / "links.csv"
    address = f"/api/v1/surveys/{survey.id}"
    web.pages |= {address: (200, survey.document), f"{address}/invitations/unused": (200, answer)}
    message = refused(f"{web.url}/s/{survey.id}", "-n", 3, "--token", "dn_x", "--to", to)
    assert f"Error: {web.url}: must answer as a collector does, got something else" in message
    assert not to.exists()


def test_nobody_is_invited_to_a_survey_that_was_closed(tmp_path: Path) -> None:
    survey, to = invited_survey(**ALWAYS), tmp_path / "links.csv"
    database = collector_with(tmp_path, survey)
    with closing(SqliteStore(database)) as store:
        store.close_survey(survey.id)
    assert "(UTC); nobody could answer" in refused(survey.id, "-n", 3, "--to", to, *places(database))
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"


def test_surveys_to_which_nobody_can_be_invited_are_refused(tmp_path: Path) -> None:
    database = collector_with(tmp_path, read_survey(SURVEY))
    survey = read_survey(SURVEY)
    message = refused(survey.id, "-n", 3, *places(database))
    assert f"survey {survey.id}: is open to everybody who has its link, so it has no invitations" in message
    past = invited_survey(opens=None, closes=datetime.date(2020, 1, 1))
    store = SqliteStore(database)
    store.publish(past)
    store.close()
    assert "it closed at the end of 2020-01-01 (UTC); nobody could answer" in refused(
        past.id, "-n", 3, *places(database)
    )
    assert "does not exist" in refused(past.id, "-n", 3, "--db", tmp_path / "none.db")
    for wrong in ("abc", f"https://c.example/{survey.id}#invitation={'0' * 32}"):
        message = refused(wrong, "-n", 3, *places(database))
        assert "survey: must be 26 letters and digits or a link" in message
        assert "0" * 32 not in message


def test_a_sheet_of_an_open_survey_has_its_one_link(tmp_path: Path) -> None:
    survey = read_survey(SURVEY)
    database, sheet = collector_with(tmp_path, survey), tmp_path / "handout.html"
    said = INVITE.run("sheet", survey.id, "-n", 9, "--to", sheet, *places(database))
    assert "one report a person: not enforced" in said.stderr
    page = sheet.read_text(encoding="utf-8")
    assert page.count(f"/s/{survey.id}<") == 9
    assert "invitation" not in page
    assert "lets one person take part" not in page
    message = refused(survey.id, "-n", 3, "--sheet", tmp_path / "2.html", "--to", tmp_path / "2.csv", *places(database))
    assert "so it has no invitations" in message


def test_a_link_that_only_this_machine_reaches_is_warned_of(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS)
    database = collector_with(tmp_path, survey)
    warned = INVITE.run(survey.id, "-n", 1, "--db", database, "--public-url", "http://127.0.0.1:8000")
    assert "Warning: links start with http://127.0.0.1:8000, which only this machine reaches" in warned.stderr
    assert "Warning: links" not in INVITE.run(survey.id, "-n", 1, *places(database)).stderr


def test_an_issuer_elsewhere_gets_the_hashes_from_its_operator(tmp_path: Path) -> None:
    survey = unlinkable_survey(url="https://issuer.example", **ALWAYS)
    database = tmp_path / "collector.db"
    store = SqliteStore(database)
    store.publish(survey)  # a collector without the key
    store.close()
    message = refused(survey.id, "-n", 3, *places(database))
    assert "its invitations belong to its issuer, https://issuer.example" in message
    hashes, links = tmp_path / "hashes.txt", tmp_path / "links.csv"
    ok(survey.id, "-n", 3, "--hashes", hashes, "--to", links, *places(database))
    issuer = tmp_path / "issuer.db"
    store = SqliteStore(issuer)
    store.add_key(key_number(0))
    store.publish(survey, signs=True)
    store.close()
    assert ok("add", survey.id, hashes, "--db", issuer) == "3 invited, 0 known before\n"
    assert ok("add", survey.id, hashes, "--db", issuer) == "0 invited, 3 known before\n"
    assert ok("unused", survey.id, "--list", links, "--db", issuer) == links.read_text().replace("\r\n", "\n")
    assert not {*invitations_of(pd.read_csv(links)["link"].tolist())} & {*hashes.read_text().split()}
    secret = invitations_of(pd.read_csv(links)["link"].tolist())[0]
    hashes.write_text(f"{secret}\n")
    message = refused("add", survey.id, hashes, "--db", issuer)
    assert "number 1 is not one" in message
    assert secret not in message


@pytest.mark.slow
def test_a_running_collector_gets_hashes_and_nothing_else(start_collector: StartCollector, tmp_path: Path) -> None:
    collector = start_collector()
    store = SqliteStore(collector.database)
    token = tokens.create_token(store, "ada", "publish", 30)
    other = tokens.create_token(store, "bob", "publish", 30)
    survey = invited_survey(**ALWAYS)
    store.publish(survey, "ada")
    link, to = f"{collector.url}/s/{survey.id}", tmp_path / "links.csv"
    rows = ["--roster", roster(tmp_path), "--column", "email", "--to", to]
    assert "belongs to another token than 'bob'" in refused(link, *rows, "--token", other)
    assert not to.exists(), "links that do not work"
    assert "--token: is needed" in refused(link, *rows)
    assert not to.exists(), "links that do not work"
    ok(link, *rows, "--token", token)
    invitations = invitations_of(pd.read_csv(to)["link"].tolist())
    report = report_for(survey, invitations[0])
    sent = {"id": report.id, "cohort": None, "values": report.values, "credential": report.credential}
    address = f"{collector.url}/api/v1/surveys/{survey.id}/reports"
    assert urllib3.request("POST", address, json=sent).status == 201
    printed = ok("unused", link, "--list", to, "--token", token)
    assert [row["link"] for row in csv.DictReader(printed.splitlines())] == pd.read_csv(to)["link"].tolist()[1:]
    log = collector.log.read_text()
    assert not any(each in log or hash_of(each) in log for each in invitations)
    elsewhere = unlinkable_survey(url="https://issuer.example", **ALWAYS)
    store.publish(elsewhere, "ada")
    store.close()
    message = refused(f"{collector.url}/s/{elsewhere.id}", "-n", 2, "--token", token)
    assert "its tokens are signed at https://issuer.example" in message
    assert "--hashes" in message


def test_links_start_where_the_survey_was_published(tmp_path: Path) -> None:
    """Links that open nothing cost every invitation, so the address of `survey publish` holds, or none is made."""
    file, elsewhere = tmp_path / "survey.toml", "http://127.0.0.1:18180"
    file.write_text(
        'title = "T"\naccess = "invited"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1\n',
        encoding="utf-8",
    )
    survey = read_survey(file.read_bytes())
    database = collector_with(tmp_path, survey)
    said = refused(survey.id, "-n", 2, "--db", database)
    assert "its links have no address to start with, and nobody was invited" in said
    assert ok("unused", survey.id, "--db", database) == "0 invited, 0 unused\n"
    publish_it = CommandLine("survey", "publish")
    publish_it.ok(file, "--db", database, "--public-url", elsewhere)
    # A second call that names no address must not put the default in its place.
    assert f"{elsewhere}/s/{survey.id}/results" in publish_it.ok(file, "--db", database)
    links = ok(survey.id, "-n", 2, "--db", database)
    assert links.count(f"{elsewhere}/s/{survey.id}#invitation=") == 2
    assert f"{PUBLIC}/s/" in ok(survey.id, "-n", 1, *places(database)), "a named address is used"
    assert "sound" in CommandLine("check").ok("--db", database)


def test_too_few_people_are_told_before_and_after(tmp_path: Path) -> None:
    survey = invited_survey(**ALWAYS | {"release": 50}, cohorts=("paper", "web"), cohort_required=True)
    database = collector_with(tmp_path, survey)
    where = places(database)
    lines = INVITE.run(survey.id, "-n", 10, "--cohort", "paper", *where).stderr.splitlines()
    assert lines[0].startswith("Warning: 10 people are invited to 'paper' now, and results of a cohort appear once 50 ")
    assert lines[0].endswith("its results appear only when you close the survey, which counts all replies.")
    assert lines[1].startswith("Warning: Even if all 10 answer, the margin of error of every question is \u00b1")
    assert '"add_invitations"' in lines[2], "the warnings come before anybody is invited"
    assert "Warning" not in INVITE.run(survey.id, "-n", 2000, "--cohort", "web", *where).stderr
    closed = CommandLine("survey", "close").ok(survey.id, "--db", database)
    assert "0 replies are counted: too few to say anything about any question." in closed

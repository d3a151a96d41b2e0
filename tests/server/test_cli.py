"""The command line as people type it."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import EntryPoint
from pathlib import Path

import click
import pandas as pd
import pytest

from deniable import Report, read_survey
from deniable_client import Client
from deniable_commands import main as command_line
from deniable_commands import working
from deniable_commands.main import MAY_TAKE_LONG, main
from deniable_server.access.tokens import create_token
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.collectors import Collector, running_collector
from tools.rig.command_line import CommandLine
from tools.rig.patience import wait_until
from tools.rig.presented import image_bytes
from tools.rig.survey_files import question_toml, survey_toml
from tools.rig.surveys import SURVEY


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


DENIABLE = CommandLine()
run, ok, refused = DENIABLE.run, DENIABLE.ok, DENIABLE.refused


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(SURVEY.replace("opens = 2026-11-20\ncloses = 2026-12-20\n", ""), encoding="utf-8")
    return path


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "test.db"


@pytest.mark.parametrize(
    ("path", "command"), list(commands(main)), ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_every_command_has_help_and_an_example(path: tuple[str, ...], command: click.Command) -> None:
    text = ok(*path, "--help")
    assert command.help
    assert command.help.strip().splitlines()[0].endswith(".")
    if not isinstance(command, click.Group):
        assert f"Examples:\n    deniable {' '.join(path)}" in text.replace("DENIABLE_DB=survey.db ", "")


def test_check_says_what_the_noise_does(file: Path) -> None:
    text = ok("survey", "check", file)
    assert "two-coin, epsilon 1.0986" in text
    assert "Of 100 people whose true answer is Yes, about 75 send Yes and 25 send No." in text
    assert "Whole survey: epsilon 2.0986" in text
    assert "Warning" not in text


def test_check_names_what_stands_around_the_questions(file: Path) -> None:
    recommended = 'Note: contact says whom respondents can ask, such as contact = "ethics@uni.example"; it is not set'
    assert recommended in ok("survey", "check", file).splitlines()
    text = file.read_text(encoding="utf-8")
    around = """
contact = "Ethics\\noffice"
[completion]
link = "https://panel.example/{code}"
code_length = 8
[look]
accent = "#0b5d82"
logo = "logo.png"
logo_text = "Logo"
"""
    (file.parent / "logo.png").write_bytes(image_bytes("png", 640, 77))
    file.write_text(text.replace("[[questions]]", f"{around}[[questions]]", 1), encoding="utf-8")
    found = ok("survey", "check", file)
    assert recommended not in found
    for line in (
        "Contact: Ethics office",
        "Layout page: all questions are on one page",
        "Completion: link https://panel.example/{code}; each device draws a code of 8 letters and digits",
        "Look: accent #0b5d82, #98baca in dark mode; logo image/png of 640 x 77 pixels, 29 bytes, read out as 'Logo'",
    ):
        assert line in found.splitlines()
    file.write_text(text.replace("[[questions]]", '[completion]\ncode = "C-1"\n[[questions]]', 1), encoding="utf-8")
    assert "Completion: code C-1 for everybody" in ok("survey", "check", file).splitlines()


def test_logo_is_looked_for_beside_the_file_by_every_command_that_reads_it(file: Path, database: Path) -> None:
    (file.parent / "logo.png").write_bytes(image_bytes("png"))
    look = '[look]\nlogo = "logo.png"\nlogo_text = "Institute"\n'
    text = file.read_text(encoding="utf-8").replace("[[questions]]", f"{look}[[questions]]", 1)
    file.write_text(text, encoding="utf-8")
    published = read_survey(path=file)
    assert f"id       {published.id}" in ok("survey", "publish", file, "--db", database)
    assert "Life and love" in ok("codebook", file)
    ok("plan", "--survey", file, "--respondents", 1000)
    ok("risk", "--survey", file)
    ok("simulate", file, "--respondents", 100, "--repetitions", 2)
    ok("audit", file, "--draws", 200, "--sessions", 0, "--client", "python")


def test_one_is_not_many(file: Path, database: Path, tmp_path: Path) -> None:
    file.write_text(
        survey_toml("One", question_toml("q", "yes-no", epsilon=1), results="live", organiser="O"), encoding="utf-8"
    )
    assert "1 question a person" in ok("survey", "check", file)
    ok("survey", "publish", file, "--db", database)
    survey = read_survey(file.read_bytes())
    with closing(SqliteStore(database)) as store:
        store.store_reports([(survey, [Report("7" * 32, None, {"q": 1})])])
    assert "\n1 report, 95 % CI" in ok("estimate", survey.id, "--db", database)
    assert "x.csv: 1 report\n" in ok("export", survey.id, "--db", database, "--to", tmp_path / "x.csv")


def test_check_warns_of_little_protection_and_past_days(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text("closes = 2020-01-01\n" + text.replace('truth = "1/2"', "epsilon = 4.5"), encoding="utf-8")
    text = ok("survey", "check", file)
    assert "epsilon 4.5 protects little" in text
    assert "devices refuse this survey" in text
    assert "2020-01-01 is past" in text


def test_mistakes_in_a_survey_are_one_sentence(file: Path) -> None:
    file.write_text("titel = 'T'", encoding="utf-8")
    assert refused("survey", "check", file) == ("Error: survey: has the unknown key 'titel'; did you mean 'title'?\n")
    assert "No such file" in refused("survey", "check", file.with_name("none.toml"))


def test_publish_list_close_and_estimate_in_a_file(file: Path, database: Path) -> None:
    published = read_survey(file.read_bytes())
    text = ok("survey", "publish", file, "--db", database, "--public-url", "https://ask.example/")
    assert text.splitlines() == [
        f"id       {published.id}",
        f"answer   https://ask.example/s/{published.id}",
        f"         https://ask.example/s/{published.id}#cohort=paper",
        f"         https://ask.example/s/{published.id}#cohort=web",
        f"results  https://ask.example/s/{published.id}/results",
    ]
    again = run("survey", "publish", file, "--db", database)
    assert again.exit_code == 0
    assert "This very survey was published before; its id is the same.\n" in again.stderr
    assert f"{published.id}        0        0  open   Life and love, 1974" in ok("survey", "list", "--db", database)
    assert "is closed" in ok("survey", "close", published.id, "--db", database)
    assert "closed" in ok("survey", "list", "--db", database)
    assert "0 reports" in ok("estimate", published.id, "--db", database)


def test_publish_says_who_can_open_results_that_are_private(file: Path, database: Path) -> None:
    file.write_text(f'readers = "token"\n{file.read_text(encoding="utf-8")}', encoding="utf-8")
    published = read_survey(file.read_bytes())
    printed = ok("survey", "publish", file, "--db", database, "--public-url", "https://ask.example/").splitlines()
    where = f"https://ask.example/s/{published.id}/results"
    assert printed[-1] == f"results  {where} (only with a token that reads them)"


def test_links_of_a_file_say_how_to_name_another_place_unless_it_was_named(
    file: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Links start with http://127.0.0.1:8000, the default address of 'deniable serve'"
    assert said in run("survey", "publish", file, "--db", database).stderr
    assert said not in run("survey", "publish", file, "--db", database, "--public-url", "https://ask.example").stderr
    monkeypatch.setenv("DENIABLE_PUBLIC_URL", "http://127.0.0.1:8642")
    named = run("survey", "publish", file, "--db", database)
    assert said not in named.stderr
    moved = "its id is the same, and its links now start with http://127.0.0.1:8642, no longer with https://ask.example"
    assert moved in named.stderr
    assert "answer   http://127.0.0.1:8642/s/" in named.stdout


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("http://ask.uni.example", ["without TLS"]),
        ("https://uni.example/ask", ["below the path /ask pages find neither their script nor their style"]),
        ("https://collector.example", ["the name in our examples; put your own into DENIABLE_PUBLIC_URL"]),
        ("https://ask.uni.example", []),
        ("http://localhost:8000", []),
        ("http://[::1]:8000", []),
        ("http://abcdefghijklmnop.onion", []),
    ],
)
def test_an_address_that_people_cannot_use_is_warned_of(
    file: Path, database: Path, address: str, said: list[str]
) -> None:
    printed = run("survey", "publish", file, "--db", database, "--public-url", address).stderr
    warnings = [line for line in printed.splitlines() if line.startswith("Warning: links start with")]
    assert len(warnings) == len(said)
    assert all(each in line for each, line in zip(said, warnings, strict=True))


@pytest.mark.slow
def test_links_of_a_collector_that_is_reached_on_its_own_machine_are_those_of_people(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The collector knows its public address; a link to the machine of whoever publishes opens for nobody else."""
    survey = read_survey(file.read_bytes())
    public, named = "https://ask.uni.example", "https://other.uni.example"
    with running_collector(tmp_path, "--public-url", public) as collector:
        with closing(SqliteStore(collector.database)) as store:
            token = create_token(store, "ada")
        line = ["survey", "publish", file, "--url", collector.url, "--token", token]
        published = run(*line)
        assert f"answer   {public}/s/{survey.id}\n" in published.stdout
        assert f"Links start with {public}, at which people reach this collector.\n" in published.stderr
        assert f"answer   {named}/s/{survey.id}\n" in ok(*line, "--public-url", named)
        monkeypatch.setenv("DENIABLE_PUBLIC_URL", named)
        assert f"answer   {named}/s/{survey.id}\n" in ok(*line)


@pytest.mark.slow
def test_links_of_a_collector_without_a_public_address_start_where_it_was_reached(
    collector: Collector, file: Path
) -> None:
    with closing(SqliteStore(collector.database)) as store:
        token = create_token(store, "ada")
    published = run("survey", "publish", file, "--url", collector.url, "--token", token)
    assert f"answer   {collector.url}/s/" in published.stdout
    assert "can be opened on this computer only" in published.stderr


def test_a_survey_is_listed_as_not_open_yet_before_its_first_day(file: Path, database: Path) -> None:
    file.write_text(f"opens = 2099-01-01\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    ok("survey", "publish", file, "--db", database)
    assert "  not open yet  Life and love, 1974" in ok("survey", "list", "--db", database)
    ok("survey", "close", read_survey(file.read_bytes()).id, "--db", database)
    assert "  closed  Life and love, 1974" in ok("survey", "list", "--db", database)


@pytest.mark.slow
def test_estimate_in_every_format_from_a_file_and_over_http(collector: Collector, file: Path) -> None:
    survey = read_survey(file.read_bytes())
    collector.publish(survey)
    client = Client(collector.url)
    for cohort in ("paper", "web"):
        for _ in range(10):
            client.answer(survey, {"affair": "yes", "religious": "not"}, cohort)
    for source in (["--db", collector.database], ["--url", collector.url]):
        assert "20 reports, 95 % CI: Feldman-Cousins intervals" in ok("estimate", survey.id, *source)
        assert "Cohort" in ok("estimate", survey.id, *source, "--by", "cohort")
        result = json.loads(ok("estimate", survey.id, *source, "--format", "json", "--confidence", "0.9"))
        assert (result["n"], result["estimates"][0]["conf_level"]) == (20, 0.9)
        assert result["estimates"][0]["misbehaving"] is None
        robust = ok("estimate", survey.id, *source, "--misbehaving", "0.05", "--misbehaviour", "lying")
        assert "95 % robust CI" in robust
        assert "robust if at most 5.0 % of the people misbehave" in robust
        row = json.loads(ok("estimate", survey.id, *source, "--format", "json", "--misbehaving", "0.1"))["estimates"][1]
        assert row["robust_low"] <= row["bound_low"] <= row["bound_high"] <= row["robust_high"]
        assert "go with" in refused("estimate", survey.id, *source, "--misbehaviour", "lying").replace("goes", "go")
        both = ("--misbehaving", "0.1", "--target", "respondents")
        assert "target population" in refused("estimate", survey.id, *source, *both)
        held = ok("estimate", survey.id, *source, "--assume-fake", "0.1")
        assert "95 % CI: Feldman-Cousins intervals that hold if up to 10.0 % of all reports are fake" in held
        assert "one of the two" in refused(
            "estimate", survey.id, *source, "--assume-fake", "0.1", "--misbehaving", "0.1"
        )
        assert "0.5" in refused("estimate", survey.id, *source, "--assume-fake", "0.7")
        path = file.with_suffix(".csv")
        path.write_text(ok("estimate", survey.id, *source, "--format", "csv", "--by", "cohort"), encoding="utf-8")
        frame = pd.read_csv(path)
        assert frame.groupby("cohort")["n"].first().to_dict() == {"paper": 10, "web": 10}
    same = [
        ok("estimate", survey.id, *source, "--format", "json")
        for source in (["--db", collector.database], ["--url", collector.url])
    ]
    assert same[0] == same[1]


@pytest.mark.slow
def test_publish_list_and_close_over_http(collector: Collector, file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace("Life and love, 1974", "Over HTTP"), encoding="utf-8")
    survey = read_survey(file.read_bytes())
    there = ["--url", collector.url]
    assert "--token: is needed" in refused("survey", "publish", file, *there)
    assert "refused with status 401" in refused("survey", "publish", file, *there, "--token", "dn_wrong")
    token = ok("token", "create", "over-http", "--db", collector.database).strip()
    assert f"answer   {collector.url}/s/{survey.id}" in ok("survey", "publish", file, *there, "--token", token)
    assert "Over HTTP" in ok("survey", "list", *there, "--token", token)
    assert "is closed" in ok("survey", "close", survey.id, *there, "--token", token)
    assert "refused with status 404" in refused("survey", "close", "a" * 26, *there, "--token", token)
    assert "cannot be reached" in refused("estimate", survey.id, "--url", "http://127.0.0.1:1")


def test_tokens_are_listed_by_name_and_revoked(database: Path) -> None:
    SqliteStore(database).close()
    token = ok("token", "create", "ada", "--days", "7", "--db", database).strip()
    assert token.startswith("dn_")
    assert len(token) == 46
    listed = ok("token", "list", "--db", database)
    assert "ada" in listed
    assert token not in listed
    assert "there is a token 'ada' already" in refused("token", "create", "ada", "--db", database)
    assert "revoked" in ok("token", "revoke", "ada", "--db", database)
    assert "there is no token 'ada'" in refused("token", "revoke", "ada", "--db", database)


@pytest.mark.parametrize(
    "arguments",
    [
        ("survey", "list"),
        ("survey", "close", "a" * 26),
        ("estimate", "a" * 26),
        ("token", "list"),
        ("token", "create", "ada"),
        ("token", "revoke", "ada"),
        ("invite", "a" * 26, "-n", "3"),
        ("issuer", "reissue", "a" * 26, "-n", "1"),
        ("check",),
    ],
)
def test_a_typing_mistake_makes_no_new_database(arguments: tuple[str, ...], database: Path) -> None:
    said = refused(*arguments, "--db", database)
    assert f"database {database}: does not exist; name the one of the collector with --db or DENIABLE_DB" in said
    # Who makes tokens or checks a database has it.
    asks = arguments[0] in ("survey", "estimate", "invite")
    assert ("or ask a collector: give its link, or --url" in said) == asks
    assert not database.exists()


@pytest.mark.parametrize("arguments", [("survey", "publish", "survey.toml"), ("issuer", "key")])
def test_a_command_that_begins_a_database_says_so_once_and_asks_where_none_was_named(
    arguments: tuple[str, ...], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    monkeypatch.delenv("DENIABLE_DB", raising=False)
    begun = run(*arguments)
    said = "Created a new database: deniable.db. If a collector uses another one, name it with --db or DENIABLE_DB.\n"
    assert begun.exit_code == 0
    assert said in begun.stderr
    assert "Created" not in run(*arguments).stderr
    assert "Created a new database: named.db.\n" in run(*arguments, "--db", "named.db").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("place", "allow", "https://collector.example", "--db", "missing/place.db"),
        ("place", "folder", "file/page"),
        ("sealing", "keys", "--weeks", "2", "--keys", "file/keys"),
        ("survey", "publish", "survey.toml", "--db", "missing/deniable.db"),
    ],
    ids=lambda each: " ".join(each[:2]),
)
def test_a_file_that_cannot_be_opened_is_a_sentence(
    arguments: tuple[str, ...], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    Path("file").touch()
    error = refused(*arguments)
    assert re.search(
        r"Error: .*(missing|file)/\S+: cannot be (opened|read or written): (No such file|Not a dir)", error
    )
    assert "Errno" not in error


def test_check_does_not_call_another_file_damaged(file: Path) -> None:
    assert "is none, or its beginning is destroyed; name it with --db" in refused("check", "--db", file)


@pytest.mark.parametrize("level", ["nan", "0", "1e-9", "0.9999999999999", "0,95"])
def test_a_level_that_no_collector_serves_is_a_sentence(level: str, file: Path, database: Path) -> None:
    ok("survey", "publish", file, "--db", database)
    assert "Invalid value for '--confidence'" in refused("estimate", "a" * 26, "--db", database, "--confidence", level)


def test_unknown_survey_is_a_sentence(file: Path, database: Path) -> None:
    ok("survey", "publish", file, "--db", database)
    assert "survey: there is none at this address" in refused("estimate", "a" * 26, "--db", database)


def test_a_side_that_is_not_installed_costs_its_commands_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_entry: object) -> None:
        raise ModuleNotFoundError(name="flask")

    monkeypatch.setattr("importlib.metadata.EntryPoint.load", missing)
    assert "Run the collector until Ctrl-C." in ok("--help")
    assert "needs flask; in a clone of the project: pip install '.[server]'" in refused("serve", "--port", "8000")


def test_the_list_of_commands_says_what_their_help_says() -> None:
    context = click.Context(main, info_name="deniable", terminal_width=1000)
    listed = main.get_help(context)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command is not None
        sentence = " ".join((command.help or "").partition("\n\n")[0].split())
        assert f"  {name:<8}  {sentence}\n" in f"{listed}\n"


def test_a_command_that_the_page_does_not_have_is_loaded_to_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(command_line._page(), "deniable risk")
    assert "risk      Explain an epsilon" in ok("--help")


def test_a_new_command_needs_its_file_and_its_entry_point_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    added = EntryPoint("hello", "tests.support.hello:hello", "deniable.commands.server")
    monkeypatch.setitem(command_line._entries(), "hello", added)
    assert "  hello     Greet whoever asks.\n" in ok("--help").partition("Commands that need the extra server")[2]
    assert ok("hello") == "Hello.\n"


def printed_by(program: str) -> str:
    """What a program prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_help_loads_no_command() -> None:
    program = (
        "import sys; from deniable_commands.main import main; main(['--help'], standalone_mode=False); "
        "print(sorted(each for each in sys.modules if each.split('.')[0] in ('deniable', 'deniable_commands',"
        " 'numpy', 'scipy', 'pandas', 'matplotlib', 'flask', 'urllib3', 'deniable_client')))"
    )
    printed = printed_by(program)
    needed = "['deniable', 'deniable.errors', 'deniable.installing', 'deniable_commands', 'deniable_commands.main']"
    assert printed.splitlines()[-1] == needed


def test_a_collector_starts_without_what_only_files_and_images_need() -> None:
    program = "import sys, deniable_server.app; print(sorted({'matplotlib', 'pandas', 'scipy'} & set(sys.modules)))"
    assert printed_by(program) == "[]\n"


def test_the_package_has_its_public_names_without_loading_them() -> None:
    program = (
        "import sys, deniable; assert 'deniable.mechanisms' not in sys.modules; "
        "names = {'KAry', 'read_survey', '__version__'}; assert names <= set(dir(deniable)); "
        "from deniable import *; print(KAry(3, 2**32 - 2).k, deniable.KAry is KAry, hasattr(deniable, 'Kary'))"
    )
    printed = printed_by(program)
    assert printed == "3 True False\n"


def test_csv_without_rows_has_its_header(file: Path, database: Path) -> None:
    text = file.read_text(encoding="utf-8").replace('cohorts = ["paper", "web"]\n', "")
    file.write_text(text, encoding="utf-8")
    ok("survey", "publish", file, "--db", database)
    csv = ok("estimate", read_survey(file.read_bytes()).id, "--db", database, "--by", "cohort", "--format", "csv")
    assert csv.splitlines()[0].startswith("question,option,cohort,n,count,estimate,std_error")


def test_a_link_stands_wherever_an_id_does(file: Path, database: Path, collector: Collector, tmp_path: Path) -> None:
    survey = read_survey(file.read_bytes())
    ok("survey", "publish", file, "--db", database)
    link = f"https://collector.example/s/{survey.id}#cohort=web&invitation={'0' * 32}"
    where = ["--db", database]
    assert ok("estimate", link, *where) == ok("estimate", survey.id, *where)
    ok("export", link, *where, "--to", tmp_path / "r.csv")
    said = refused("estimate", link, "--url", collector.url)
    assert f"must be at the collector of --url {collector.url}, got a link to https://collector.example" in said
    assert f"the id {survey.id} alone" in said
    assert "0000" not in said
    assert "the link" in refused("export", link, "--url", collector.url, "--to", tmp_path / "s.csv")
    assert "/s/ and them" in refused("estimate", "https://collector.example/s/short", *where)
    assert "is closed" in ok("survey", "close", link, *where)


def test_a_link_names_its_collector_unless_a_database_is_given_beside_it(
    collector: Collector, file: Path, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = read_survey(file.read_bytes())
    link = f"{collector.publish(survey)}#cohort=web"
    monkeypatch.chdir(tmp_path)  # where no database lies
    assert ok("estimate", link) == ok("estimate", survey.id, "--url", collector.url)
    results = link.replace("#", "/results#")  # which publishing prints
    assert ok("estimate", results) == ok("estimate", link)
    assert "/s/ and them" in refused("estimate", link.replace("#", "/other#"))
    assert "does not exist" in refused("estimate", link, "--db", database)
    ok("export", link, "--to", tmp_path / "by-link.csv")
    assert "token" in refused("survey", "close", link)
    assert "is closed" in ok("survey", "close", link, "--db", collector.database)


def test_a_link_wins_over_the_database_in_the_environment(
    collector: Collector, file: Path, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = read_survey(file.read_bytes().replace(b"1974", b"1975"))
    link = collector.publish(survey)
    Client(collector.url).answer(survey, {"affair": "yes", "religious": "not"}, "web")
    with closing(SqliteStore(database)) as store:
        store.publish(survey)
    monkeypatch.setenv("DENIABLE_DB", str(database))
    assert "1 report," in ok("estimate", link)
    assert "0 reports," in ok("estimate", survey.id)
    assert "0 reports," in ok("estimate", link, "--db", database)
    assert "1 report\n" in ok("export", link, "--to", tmp_path / "by-link.csv")
    assert "0 reports\n" in ok("export", survey.id, "--to", tmp_path / "by-id.csv")
    assert "beside its database, give the survey's id" in refused("survey", "close", link)
    assert "is closed" in ok("survey", "close", survey.id)
    assert "1 report," in ok("estimate", link)


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_command_that_takes_long_says_so_at_a_terminal_and_clears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "AFTER", 0.0)
    monkeypatch.setattr(working, "EVERY", 0.01)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    context = click.Context(click.Command("simulate"))
    with context, working.working(context):
        working.done(40, of=1000)
        wait_until(lambda: "40 of 1,000" in terminal.getvalue(), "the line shows how far the command has come")
    assert re.search(r"Working, \d+ s, 40 of 1,000\r", terminal.getvalue())
    assert terminal.getvalue().endswith(working.CLEAR)


def test_nothing_is_said_where_nobody_looks_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "AFTER", 0.0)
    monkeypatch.setattr(sys, "stderr", log := io.StringIO())
    context = click.Context(click.Command("simulate"))
    with working.working(context):
        working.done(1, of=2)
    assert log.getvalue() == ""


def test_commands_that_may_take_long_exist_and_samples_are_counted(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(main.list_commands(click.Context(main))) >= MAY_TAKE_LONG
    told: list[tuple[int, int]] = []
    monkeypatch.setattr("deniable_research.commands.simulate.done", lambda count, of: told.append((count, of)))
    power = ["--formula", "affair ~ age", "--covariate", "age=young,old", "--effect", "age[T.young]=1"]
    asked = ["--truth", "affair=0.3", "--respondents", 200, "--repetitions", 3, "--over", "respondents=200,300"]
    ok("simulate", file, *power, *asked)
    assert told == [(n, 6) for n in range(1, 7)]


def test_a_mistyped_command_of_a_group_gets_the_nearest() -> None:
    assert "Did you mean 'check'?" in refused("survey", "chek", "x.toml")
    assert "Did you mean 'create'?" in refused("token", "creat")


STUDY = ["tests/data/study.csv", "--design", "tests/data/study.toml"]


@pytest.mark.parametrize(
    "asked",
    [
        ["plan", "--epsilon", 1],
        ["plan", "--epsilon", 1, "--respondents", 100],
        ["plan", "--epsilon", 1, "--questions", 3],
        ["plan", "--epsilon", 1, "--share", 0.1, "--against", 0.2],
        ["analyze", "shares", *STUDY],
        ["analyze", "shares", *STUDY, "--by", "wave"],
        ["analyze", "compare", *STUDY, "affair", "--by", "wave"],
        ["analyze", "crosstab", *STUDY, "affair", "drugs"],
        ["analyze", "regress", *STUDY, "affair ~ age"],
        ["analyze", "predict", *STUDY, "affair ~ age"],
        ["analyze", "sensitivity", *STUDY, "affair"],
    ],
    ids=lambda asked: " ".join(map(str, asked)),
)
def test_columns_of_csv_are_in_snake_case(asked: list[object]) -> None:
    _snake_case(ok(*asked[:2], *asked[2:], "--format", "csv"))


def _snake_case(text: str) -> None:
    header = next(csv.reader(text.splitlines()))
    assert header
    assert all(re.fullmatch("[a-z][a-z0-9_]*", name) for name in header), header


def test_columns_of_surveys_are_in_snake_case(file: Path, database: Path, tmp_path: Path) -> None:
    survey = read_survey(file.read_bytes())
    ok("survey", "publish", file, "--db", database)
    _snake_case(ok("estimate", survey.id, "--db", database, "--format", "csv"))
    _snake_case(ok("simulate", file, "--respondents", 20, "--repetitions", 2, "--format", "csv"))
    for name in ("reports", "estimates"):
        path = tmp_path / f"{name}.csv"
        ok("export" if name == "reports" else "estimate", survey.id, "--db", database, "--to", path)
        _snake_case(path.read_text(encoding="utf-8"))
    folder = tmp_path / "exports"
    ok("export", survey.id, "--db", database, "--to", folder, "--format", "csv")
    for path in folder.rglob("*.csv"):
        _snake_case(path.read_text(encoding="utf-8"))
    invited = read_survey('access = "invited"\n' + file.read_text(encoding="utf-8"))
    file.write_text('access = "invited"\n' + file.read_text(encoding="utf-8"), encoding="utf-8")
    ok("survey", "publish", file, "--db", database)
    cohort = ["--cohort", invited.cohorts[0]] if invited.cohorts else []
    _snake_case(ok("invite", invited.id, "-n", 2, "--db", database, *cohort))

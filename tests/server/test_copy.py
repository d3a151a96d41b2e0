"""From one store into another: everything, compared, and again after it was interrupted."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable import Survey, read_survey
from deniable.access.invitation import hash_of
from deniable.errors import DeniableError
from deniable_client import randomize
from deniable_server.access.tokens import create_token
from deniable_server.commands.copy import copy as command
from deniable_server.location import Address
from deniable_server.results.releases import ReleaseLog
from deniable_server.store import StoreDamaged, Verdict, copy_everything, copying, database_at, open_store
from deniable_server.store.postgresql import connection, database
from deniable_server.store.sql_store import SqlStore
from deniable_server.store.sqlite.lock import Lock
from deniable_server.store.tables import reports_table, tables_of
from tests.support.drawn_questions import shared_survey
from tests.support.marks import long
from tests.support.postgresql import postgresql, template
from tests.support.stores import KINDS, Place, new_place
from tools.rig.access import Purchase, invite, invited_survey, key_number, report_for, unlinkable_survey
from tools.rig.surveys import SURVEY, Clock
from tools.torture import storage_copy

__all__ = ["postgresql", "template"]

pytestmark = pytest.mark.slow

OF_ALL = {
    "surveys": "id, document, published_on, closed_on",
    "owners": "survey, token",
    "public_urls": "survey, url",
    "signing_keys": "key_id, private, survey, reissue",
    "releases": "survey, number, record, signature",
    "release_keys": "name, private",
    "tokens": "sha256, name, scope, expires_on, surveys",
    "agenda": "survey, day",
    "calendar": "believed, doubted_since, latest",
    "totals": "survey, cohort, n",
    "tallies": "survey, cohort, question, option, n",
}


@pytest.fixture
def places(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[dict[str, Place]]:
    """An empty database of each kind, and one more."""
    with ExitStack() as made:
        places = {}
        for name in (*KINDS, "last"):
            folder = tmp_path / name
            folder.mkdir()
            kind = name if name in KINDS else "sqlite"
            places[name] = made.enter_context(new_place(kind, folder, clock, request))
        yield places


def fill_anew(place: Place, survey: Survey) -> list[Survey]:
    """Some of everything that there is."""
    batches = replace(survey, results="batches")
    surveys = [
        batches,
        replace(batches, retention="tallies"),
        replace(batches, title="Closed"),
        shared_survey(4, 2.0, draw=2, results="live"),
        invited_survey(results="batches"),
        unlinkable_survey(),
    ]
    with place.opened() as store:
        store.add_key(key_number(0))
        store.add_key(key_number(1))  # of a survey that is not written yet
        for number, each in enumerate(surveys):
            store.publish(each, ["ada", None][number % 2])
        for each in surveys[:4]:
            answers = {question.id: question.options[0] for question in each.questions}
            for n, cohort in ((230, None), (250, "web"), (40, "web")):
                sent = [randomize(each, answers, cohort if each.cohorts else None) for _ in range(n)]
                store.store_reports([(each, sent)])
                if n > 200:
                    store.settle()
        store.close_survey(surveys[2].id)
        (mine, _) = invite(store, surveys[4], 2)
        assert store.store_reports([(surveys[4], [report_for(surveys[4], mine)])]) == [[Verdict.STORED]]
        (his,) = invite(store, surveys[5], 1)
        store.issue(surveys[5].id, hash_of(his), Purchase(surveys[5], his).blinded[:64])
        ReleaseLog(store).rows(store.state(batches.id))  # which records and signs its first release
        store.remember_public_url(batches.id, "https://collector.example")
        create_token(store, "ada", "operate")
        create_token(store, "prometheus", "metrics")
    return surveys


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Survey]]:
    """A file with some of everything that there is, and its surveys; tests take copies of it."""
    path = tmp_path_factory.mktemp("filled") / "filled.db"
    surveys = fill_anew(Place(path, Clock()), read_survey(SURVEY))
    assert [each.name for each in path.parent.glob("filled.db-*") if each.name != "filled.db-lock"] == []
    return path, surveys


def fill(place: Place, filled: tuple[Path, list[Survey]]) -> list[Survey]:
    """Some of everything that there is."""
    path, surveys = filled
    assert isinstance(place.where, Path)
    shutil.copy(path, place.where)
    return surveys


def everything(place: Place, surveys: list[Survey]) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a database, whatever keeps them."""
    with place.opened() as store, store._snapshot(*surveys) as db:
        tables = OF_ALL | {table: "*" for survey in surveys for table in tables_of(survey)}
        found = {
            name: sorted((tuple(row) for row in db.execute(f"SELECT {columns} FROM {name}")), key=repr)
            for name, columns in tables.items()
        }
        found["checksums"] = [(survey.id, db.checksum(survey.id)) for survey in surveys]
    return found


def test_everything_arrives_by_way_of_every_kind(places: dict[str, Place], filled: tuple[Path, list[Survey]]) -> None:
    surveys = fill(places["sqlite"], filled)
    told: list[Survey] = []
    copied = copy_everything(places["sqlite"].where, places["postgresql"].where, told.append)
    assert copied == (6, 230 * 4 + 250 * 4 + 2 * 40)  # results of the closed one show all, and so do live ones
    assert told == [state.survey for state in open_states(places["sqlite"])]
    copy_everything(places["postgresql"].where, places["last"].where)
    expected = everything(places["sqlite"], surveys)
    assert all(expected[table] for table in OF_ALL), "there is something of everything"
    for name in ("postgresql", "last"):
        assert everything(places[name], surveys) == expected
        assert places[name].findings() == ()


def open_states(place: Place) -> list:  # type: ignore[type-arg]
    with place.opened() as store:
        return store.states()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [long(1), 40, long(1000)])
def test_goes_on_where_it_was_interrupted(
    places: dict[str, Place], filled: tuple[Path, list[Survey]], kind: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    surveys = fill(places["sqlite"], filled)
    target = places["last" if kind == "sqlite" else kind]
    monkeypatch.setattr(copying, "ROWS", 50)
    written = 0
    original = copying._pages

    def pages(*arguments: object) -> Iterator[list[tuple[object, ...]]]:
        nonlocal written
        for page in original(*arguments):  # type: ignore[arg-type]
            if written > rows:
                raise KeyboardInterrupt
            written += len(page)
            yield page

    with monkeypatch.context() as patch:
        patch.setattr(copying, "_pages", pages)
        with pytest.raises(KeyboardInterrupt):
            copy_everything(places["sqlite"].where, target.where)
    assert database_at(target.where).inspect(most_rows=0).findings, "what is not complete is not served, however large"
    with pytest.raises(DeniableError, match="is a copy that is not complete"), target.opened():
        pass
    with pytest.raises(DeniableError, match="must be of a complete database"):
        copy_everything(target.where, places["last" if kind == "postgresql" else "postgresql"].where)
    copy_everything(places["sqlite"].where, target.where)
    copy_everything(places["sqlite"].where, target.where)  # once more changes nothing
    assert everything(target, surveys) == everything(places["sqlite"], surveys)
    assert target.findings() == ()


@pytest.mark.parametrize("kind", KINDS)
def test_some_surveys_whole_and_others_not_begun_are_not_complete(
    places: dict[str, Place], filled: tuple[Path, list[Survey]], kind: str
) -> None:
    fill(places["sqlite"], filled)
    target = places["last" if kind == "sqlite" else kind]

    def stop(_: Survey) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_everything(places["sqlite"].where, target.where, stop)
    assert target.findings() == ("it is a copy that is not complete; run 'deniable copy' again",)
    with pytest.raises(DeniableError, match="is a copy that is not complete"), target.opened():
        pass


def test_a_copy_that_is_in_use_stays_in_use_when_somebody_copies_once_more(
    places: dict[str, Place], filled: tuple[Path, list[Survey]]
) -> None:
    surveys = fill(places["sqlite"], filled)
    copy_everything(places["sqlite"].where, places["postgresql"].where)
    with places["postgresql"].opened() as store:
        store.close_survey(surveys[0].id)
    with pytest.raises(DeniableError, match="changed in"):
        copy_everything(places["sqlite"].where, places["postgresql"].where)
    assert places["postgresql"].findings() == ()


def test_into_a_database_with_something_else_is_refused(
    places: dict[str, Place], filled: tuple[Path, list[Survey]], survey: Survey
) -> None:
    fill(places["sqlite"], filled)
    other = replace(survey, title="Another one")
    with places["postgresql"].opened() as store:
        store.publish(other)
    with pytest.raises(DeniableError, match=rf"must be empty or an unfinished copy of .* survey {other.id}"):
        copy_everything(places["sqlite"].where, places["postgresql"].where)
    with places["last"].opened() as store:
        create_token(store, "eve")
    with pytest.raises(DeniableError, match="with the token 'eve'"):
        copy_everything(places["sqlite"].where, places["last"].where)
    with pytest.raises(DeniableError, match="must be of two databases"):
        copy_everything(places["sqlite"].where, places["sqlite"].where)


def test_of_a_source_that_went_on_has_to_begin_anew(
    places: dict[str, Place], filled: tuple[Path, list[Survey]]
) -> None:
    surveys = fill(places["sqlite"], filled)
    copy_everything(places["sqlite"].where, places["postgresql"].where)
    with places["sqlite"].opened() as store:
        store.close_survey(surveys[0].id)
    with pytest.raises(DeniableError, match=r"changed in .* since its copy was begun; begin anew"):
        copy_everything(places["sqlite"].where, places["postgresql"].where)


@pytest.mark.parametrize("what", ["a report", "a survey"])
@pytest.mark.parametrize(("one", "other"), [("sqlite", "postgresql"), ("postgresql", "last")])
def test_of_a_source_that_somebody_used_meanwhile_is_not_complete(
    places: dict[str, Place], survey: Survey, one: str, other: str, what: str
) -> None:
    def meanwhile(_survey: Survey) -> None:
        with places[one].opened() as store:
            if what == "a survey":
                store.publish(replace(survey, title="Another one"))
            else:
                report = randomize(survey, {"affair": "yes", "religious": "not"})
                assert store.store_reports([(survey, [report])]) == [[Verdict.STORED]]

    with places[one].opened() as store, places[other].opened() as into:
        store.publish(survey)
        with pytest.raises(DeniableError, match=r"changed in .* since its copy was begun"):
            copying.copy(store, into, meanwhile)
        assert into.is_unfinished


def test_a_file_by_another_name_is_the_same(places: dict[str, Place], survey: Survey, tmp_path: Path) -> None:
    where = places["sqlite"].where
    assert isinstance(where, Path)
    with places["sqlite"].opened() as store:
        store.publish(survey)
    (tmp_path / "soft.db").symlink_to(where)
    (tmp_path / "hard.db").hardlink_to(where)
    for other in (tmp_path / "soft.db", tmp_path / "hard.db", where.parent / ".." / where.parent.name / where.name):
        with pytest.raises(DeniableError, match="must be of two databases"):
            copy_everything(where, other)


def test_a_database_by_another_address_is_the_same(
    places: dict[str, Place], survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "SECONDS_TO_LEAVE", 0.3)
    where = places["postgresql"].where
    assert isinstance(where, Address)
    with pytest.raises(DeniableError, match="or this one is of a database to itself"):
        copy_everything(where, Address(f"{where.url}&application_name=another"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_was_bound_meanwhile_comes_with_its_survey(
    places: dict[str, Place], survey: Survey, kind: str
) -> None:
    with places["last"].opened() as store:
        store.add_key(key_number(0))
    copy_everything(places["last"].where, places[kind].where)
    unlinkable = unlinkable_survey()
    with places["last"].opened() as store:
        store.publish(unlinkable, signs=True)
    copy_everything(places["last"].where, places[kind].where)
    assert everything(places[kind], [unlinkable]) == everything(places["last"], [unlinkable])


def test_of_a_damaged_source_is_refused(places: dict[str, Place], filled: tuple[Path, list[Survey]]) -> None:
    surveys = fill(places["sqlite"], filled)
    with places["sqlite"].opened() as store, store._transaction() as db:
        db.execute(f"DELETE FROM {reports_table(surveys[0])} WHERE affair = 0")
    with pytest.raises(StoreDamaged, match="is not what was stored: its rows are not those that were written"):
        copy_everything(places["sqlite"].where, places["postgresql"].where)


def test_while_a_collector_serves_one_of_them_is_refused(
    places: dict[str, Place], filled: tuple[Path, list[Survey]], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(places["sqlite"], filled)
    where = places["sqlite"].where
    assert isinstance(where, Path)
    with Lock(where), pytest.raises(DeniableError, match="another one serves it"):
        copy_everything(where, places["postgresql"].where)
    monkeypatch.setattr(connection, "SECONDS_TO_LEAVE", 0.3)
    with places["postgresql"].opened(), pytest.raises(DeniableError, match="must be used by no collector meanwhile"):
        copy_everything(where, places["postgresql"].where)


def test_a_connection_that_is_about_to_end_is_waited_for(
    places: dict[str, Place], filled: tuple[Path, list[Survey]]
) -> None:
    fill(places["sqlite"], filled)
    leaving = ExitStack()
    leaving.enter_context(places["postgresql"].opened())
    timer = threading.Timer(0.5, leaving.close)
    timer.start()
    copy_everything(places["sqlite"].where, places["postgresql"].where)
    timer.join()
    assert not timer.is_alive()


def test_command_says_what_it_copied(
    places: dict[str, Place], filled: tuple[Path, list[Survey]], survey: Survey
) -> None:
    surveys = fill(places["sqlite"], filled)
    address = places["postgresql"].where
    assert isinstance(address, Address)
    done = CliRunner().invoke(command, [str(places["sqlite"].where), address.url])
    assert done.exit_code == 0, done.output
    assert done.output.endswith("6 surveys, 2000 released reports\n")
    assert all(survey.id in done.output for survey in surveys)
    assert database_at(address).inspect().reports == 2000
    with closing(open_store(address)) as store:
        assert isinstance(store, SqlStore)


@pytest.mark.long
def test_killed_again_and_again_it_arrives() -> None:
    assert "checksums and tallies equal" in storage_copy.copy(short=True)

"""Several collectors, each with a database and a share of the ids of its own: what adds up, and what does not."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

from deniable import Report, Survey, Tally, estimate, read_survey, tally_reports
from deniable.access.invitation import hash_of, new_invitation
from deniable_client import randomize
from deniable_server.store import Verdict, counts
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.drawn_questions import shared_survey
from tools.rig.access import invited_survey, report_for, store_one
from tools.rig.command_line import CommandLine
from tools.rig.surveys import FIVE_TYPES, SURVEY, Clock, person

SHARDS = 8
PEOPLE = 1200


def shard_of(report: Report) -> int:
    """The collector of a report: the ids that begin with 0 or 1 are the first one's, and so on."""
    return int(report.id[0], 16) * SHARDS // 16


@pytest.fixture
def shards(tmp_path: Path, clock: Clock) -> Iterator[list[SqliteStore]]:
    """Eight collectors' databases."""
    with ExitStack() as opened:
        yield [opened.enter_context(closing(SqliteStore(tmp_path / f"{place}.db", clock))) for place in range(SHARDS)]


@pytest.fixture
def alone(tmp_path: Path, clock: Clock) -> Iterator[SqliteStore]:
    """The database of the one collector that gets all reports."""
    with closing(SqliteStore(tmp_path / "alone.db", clock)) as store:
        yield store


def surveys() -> list[Survey]:
    five, drawn = read_survey(FIVE_TYPES), shared_survey(3, 1.5, 2)
    return [
        replace(five, cohorts=("paper", "web")),
        replace(five, cohorts=("paper", "web"), retention="tallies"),
        drawn,
    ]


def sent_to(survey: Survey) -> list[Report]:
    dice = random.Random(3)
    answers = {each.id: "yes" for each in survey.questions}
    return [
        randomize(
            survey,
            person(number) if len(survey.questions) == 5 else answers,
            dice.choice([None, *survey.cohorts]),
        )
        for number in range(PEOPLE)
    ]


def send(stores: Sequence[SqliteStore], survey: Survey, reports: Sequence[Report]) -> list[Verdict]:
    """Each report to its collector; some come in batches, some alone."""
    outcomes: list[Verdict] = []
    for place, store in enumerate(stores):
        mine = [each for each in reports if len(stores) == 1 or shard_of(each) == place]
        for batch in (mine[:60], *([each] for each in mine[60:70]), mine[70:]):
            (found,) = store.store_reports([(survey, batch)])
            outcomes += found
    return outcomes


def added_up(stores: Sequence[SqliteStore], survey: Survey) -> dict[str | None, Tally]:
    return functools.reduce(counts.together, [store.tallies(survey) for store in stores])


def published(tallies: dict[str | None, Tally], survey: Survey) -> str:
    """Estimates to the last byte, by cohort and of all."""
    return repr([estimate(tallies, survey), estimate(tallies, survey, by_cohort=True)])


@pytest.mark.slow
@pytest.mark.parametrize("survey", surveys(), ids=["rows kept", "tallies kept", "drawn questions"])
def test_tallies_of_eight_collectors_are_those_of_one(
    survey: Survey, shards: list[SqliteStore], alone: SqliteStore
) -> None:
    survey = replace(survey, results="live")
    reports = sent_to(survey)
    for store in (*shards, alone):
        store.publish(survey)
    for stores in (shards, [alone]):
        assert send(stores, survey, reports) == [Verdict.STORED] * PEOPLE
        assert send(stores, survey, reports[:300]) == [Verdict.KNOWN] * 300  # sent again, to the same collector
    assert all(0.5 * PEOPLE / SHARDS < store.state(survey.id).reports < 1.5 * PEOPLE / SHARDS for store in shards)
    for settle in (False, True):  # while some wait for a fold, and when none do
        if settle:
            assert all(store.settle() for store in (*shards, alone))
        together = added_up(shards, survey)
        assert together == alone.tallies(survey) == tally_reports(reports, survey)
        assert published(together, survey) == published(alone.tallies(survey), survey)


def test_rows_of_eight_collectors_are_those_of_one_in_order(shards: list[SqliteStore], alone: SqliteStore) -> None:
    """Each has the ids of its prefixes, so one after the other they are sorted as one would sort them."""
    survey = read_survey(SURVEY)
    reports = [randomize(survey, {"affair": "yes", "religious": "not"}) for _ in range(500)]
    for store in (*shards, alone):
        store.publish(survey)
    send(shards, survey, reports)
    send([alone], survey, reports)
    assert [each for store in shards for each in store.reports(survey)] == [*alone.reports(survey)]


def test_each_collector_waits_for_releases_of_its_own_and_closing_shows_all(
    shards: list[SqliteStore], alone: SqliteStore
) -> None:
    survey = replace(read_survey(SURVEY), results="batches", cohorts=())
    reports = [randomize(survey, {"affair": "yes", "religious": "not"}) for _ in range(survey.release * 4)]
    for store in (*shards, alone):
        store.publish(survey)
    send(shards, survey, reports)
    send([alone], survey, reports)
    for store in (*shards, alone):
        store.settle()
    assert alone.release_of(survey.id) >= survey.release
    assert [store.release_of(survey.id) for store in shards] == [0] * SHARDS
    for store in (*shards, alone):
        store.close_survey(survey.id)
        store.settle()
    assert added_up(shards, survey) == alone.tallies(survey) == tally_reports(reports, survey)
    assert published(added_up(shards, survey), survey) == published(alone.tallies(survey), survey)


def test_a_report_sent_to_two_collectors_counts_twice(shards: list[SqliteStore]) -> None:
    """Why the same id must always go to the same one."""
    survey = read_survey(SURVEY)
    report = randomize(survey, {"affair": "yes", "religious": "not"})
    for store in shards[:2]:
        store.publish(survey)
        assert store.store_reports([(survey, [report])]) == [[Verdict.STORED]]
    assert added_up(shards[:2], survey)[None].n == 2


def test_an_invitation_known_to_two_collectors_counts_twice_and_known_to_one_once(shards: list[SqliteStore]) -> None:
    """Why invitations are divided among collectors, and reports follow them."""
    survey = invited_survey()
    everywhere, mine = new_invitation(), new_invitation()
    for store in shards[:2]:
        store.publish(survey)
        store.add_invitations(survey.id, [hash_of(everywhere)])
    shards[0].add_invitations(survey.id, [hash_of(mine)])
    assert [store_one(store, report_for(survey, everywhere), survey) for store in shards[:2]] == [Verdict.STORED] * 2
    outcomes = [store_one(store, report_for(survey, mine), survey) for store in (*shards[:2], shards[0])]
    assert outcomes == [Verdict.STORED, Verdict.UNINVITED, Verdict.SPENT]


@pytest.mark.slow
def test_exports_of_eight_collectors_in_one_folder_are_analysed_as_one(
    tmp_path: Path, shards: list[SqliteStore], alone: SqliteStore
) -> None:
    survey = replace(read_survey(FIVE_TYPES), cohorts=("paper", "web"))
    for store in (*shards, alone):
        store.publish(survey)
    reports = sent_to(survey)
    send(shards, survey, reports)
    send([alone], survey, reports)
    (tmp_path / "survey.json").write_bytes(survey.document)
    for folder, stores in (("eight", shards), ("one", [alone])):
        (tmp_path / folder).mkdir()
        for place, store in enumerate(stores):
            store.settle()
            CommandLine("export").ok(survey.id, "--db", store.path, "--to", tmp_path / folder / f"{place}.csv")
    eight, one = (
        CommandLine("analyze", "shares").ok(
            "--from", tmp_path / folder, "--survey", tmp_path / "survey.json", "--by", "cohort", "--format", "json"
        )
        for folder in ("eight", "one")
    )
    assert json.loads(one)["rows"] == PEOPLE
    assert eight == one

"""A collector that is killed while people use invitations and get tokens: nobody is shut out or counts twice."""

from __future__ import annotations

import json
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import urllib3

from deniable import Survey
from deniable_server.store.sqlite.store import SqliteStore
from tools.rig.access import Purchase, invite, invited_survey, publish, report_for, unlinkable_survey
from tools.rig.collectors import Collector
from tools.rig.patience import PATIENCE
from tools.torture.storage_kill import copied, end, start

ROUNDS = 200

THREADS = 8

PEOPLE_A_ROUND = 30
"""People of each of the two surveys in a round; whoever was not done goes on in the next one."""


def access(short: bool) -> str:
    """Rounds of kill -9 between issuing, spending and storing; then everybody tries to count once more."""
    rounds = 4 if short else ROUNDS
    dice = random.Random(9474)
    surveys = [replace(each, opens=None, closes=None) for each in (invited_survey(), unlinkable_survey())]
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "test.db"
        people: list[Person] = []
        with closing(SqliteStore(database)) as store:
            for survey in surveys:
                publish(store, survey)
                made = invite(store, survey, rounds * PEOPLE_A_ROUND)
                people += [Person(survey, each, dice.choice([0.0, 0.02, 0.2])) for each in made]
        dice.shuffle(people)
        waiting: list[Person] = []
        stages: Counter[str] = Counter()
        for number in range(rounds):
            waiting += people[number * 2 * PEOPLE_A_ROUND : (number + 1) * 2 * PEOPLE_A_ROUND]
            collector = start(database)
            try:
                crowd = Crowd(collector, waiting)
                time.sleep(dice.uniform(0.02, 0.6))
            finally:
                end(collector, signal.SIGKILL)
            crowd.join()
            stages.update(each.stage for each in waiting)
            waiting = [each for each in waiting if each.stage != "counted"]
            look_at_a_copy(database, people, f"after kill {number + 1}")
        collector = start(database)
        try:
            Crowd(collector, waiting).join()
            cheats = [each.again() for each in people[: 300 if short else 2000]]
            Crowd(collector, cheats).join()
            counted = sum(collector.reports(each) for each in surveys)
        finally:
            end(collector, signal.SIGTERM)
        look_at_a_copy(database, people, "at the end")
    assert all(each.stage == "counted" for each in people), Counter(each.stage for each in people)
    assert counted == len(people), (counted, len(people))
    assert {each.stage for each in cheats} == {"refused"}, Counter(each.stage for each in cheats)
    left = ", ".join(f"{stages[stage]} {what}" for stage, what in LEFT.items())
    assert short or all(stages[stage] for stage in LEFT), left
    return (
        f"{rounds} rounds of kill -9, {len(people)} people invited to two surveys, found by a kill {left}: all of them "
        f"were counted once, {len(cheats)} second tries were refused, tallies equal a recount each time"
    )


SCENARIOS: dict[str, Callable[[bool], str]] = {"access": access}

LEFT = {"asked": "with a request for a token", "token": "with a token", "sent": "with a report"}
"""Where a kill may find somebody, and what the device holds then."""


@dataclass
class Person:
    """Somebody who was invited, and a device that keeps what it sends before it sends it."""

    survey: Survey
    invitation: str
    hesitates: float
    stage: str = "invited"

    def __post_init__(self) -> None:
        self._purchase = Purchase(self.survey, self.invitation) if self.survey.issuer else None
        self._credential = None if self._purchase else self.invitation
        self._report: bytes | None = None

    @property
    def report_id(self) -> str | None:
        """Under which id the person may have been counted, if the device has decided on one."""
        if self._purchase:
            return self._purchase.report_id
        return None if self._report is None else self._report.decode()[7:39]

    def again(self) -> Person:
        """This person, who tries to be counted another time."""
        return replace(self, stage="invited", hesitates=0.0)

    def go_on(self, pool: urllib3.PoolManager, url: str) -> None:
        """Do what is left, from where the device was; raises where the collector does not answer."""
        path = f"{url}/api/v1/surveys/{self.survey.id}"
        if self._credential is None:
            assert self._purchase
            body = {"invitation": self.invitation, "blinded": self._purchase.blinded}
            answer = self._post(pool, f"{path}/tokens", "asked", json.dumps(body).encode("ascii"))
            if not self._is_taken(answer.status, {200}):
                return
            self._credential = self._purchase.token(answer.json()["signature"])
            self.stage = "token"
            time.sleep(self.hesitates)
        if self._report is None:
            self._report = report_for(self.survey, self._credential).encode()
        answer = self._post(pool, f"{path}/reports", "sent", self._report)
        if self._is_taken(answer.status, {200, 201}):
            self.stage = "counted"

    def _post(self, pool: urllib3.PoolManager, url: str, stage: str, body: bytes) -> urllib3.BaseHTTPResponse:
        """Send something; the stage is reached unless it did not leave the device."""
        try:
            answer = pool.request("POST", url, body=body, headers={"Content-Type": "application/json"})
        except urllib3.exceptions.NewConnectionError:
            raise
        except urllib3.exceptions.HTTPError:
            self.stage = stage
            raise
        self.stage = stage
        return answer

    def _is_taken(self, status: int, good: set[int]) -> bool:
        if status in (403, 409):
            self.stage = "refused"
        elif status not in good:
            assert status in (429, 503), f"answered with {status}"
        return status in good


class Crowd:
    """People who go on until they are done or the collector is gone."""

    def __init__(self, collector: Collector, people: list[Person]) -> None:
        self._url = collector.url
        self._mistakes: list[BaseException] = []
        parts = [people[number::THREADS] for number in range(THREADS)]
        self._threads = [threading.Thread(target=self._run, args=(part,)) for part in parts]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait for them."""
        for thread in self._threads:
            thread.join()
        if self._mistakes:
            raise self._mistakes[0]

    def _run(self, people: list[Person]) -> None:
        pool = urllib3.PoolManager(retries=False, timeout=PATIENCE)
        try:
            for person in people:
                person.go_on(pool, self._url)
        except urllib3.exceptions.HTTPError:
            return  # it was killed
        except BaseException as error:
            self._mistakes.append(error)


def look_at_a_copy(database: Path, people: list[Person], when: str) -> None:
    """Compare what is on the disk with what people were told. A copy, so that the collector itself recovers the log."""
    refused = [each for each in people if each.stage == "refused"]
    assert not refused, f"{when}: {len(refused)} people were refused"
    with copied(database, when) as store:
        for survey in {each.survey.id: each.survey for each in people}.values():
            ours = {each.report_id: each for each in people if each.survey.id == survey.id}
            stored = [report.id for report in store.reports(survey)]
            assert len(stored) == len(set(stored)), f"{when}: counted twice"
            assert set(stored) <= ours.keys(), f"{when}: a report that nobody sent"
            lost = [each for each in ours.values() if each.stage == "counted" and each.report_id not in stored]
            assert not lost, f"{when}: {len(lost)} acknowledged reports lost"
            used = store.unused_invitations(survey.id)
            assert used.invited - used.unused >= len(stored), f"{when}: a report without an invitation"

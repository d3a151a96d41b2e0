"""How long a reader waits for results: ``python -m tools.bench.views``.

The largest survey that there may be has 21,000 rows of estimates, 100 questions of 10 options in 20 cohorts. One more
has its questions without cohorts, and one 9 of them in 20 cohorts, which a page shows together. After each release
every view is asked for the first time, so nothing of it was kept but what the collector prepares itself when a release
comes; at a level that is not the default nothing is prepared.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import Report, Survey, read_survey
from deniable.table import format_table
from deniable_research.simulation.draw import generator_of, randomize_people, words_of
from deniable_server.app import create_app
from deniable_server.results.service import ResultsService
from deniable_server.settings import Settings
from deniable_server.store import Store
from tools.rig.in_process import ended

OPTIONS, PEOPLE = 10, 200
ROUNDS = 7

LARGE = (("100 questions", 100, 1), ("20 cohorts", 9, 20), ("100 questions, 20 cohorts", 100, 20))
"""Name, questions and cohorts of each survey."""

SHARES = (0.24, 0.18, 0.14, 0.1, 0.08, 0.08, 0.06, 0.05, 0.04, 0.03)
"""True shares of the options; each question begins with another one."""

FIGURES = "figures of all questions, one by one"

VIEWS = {
    "overview, first view of a release": "results",
    "overview, nothing of it prepared": "results?confidence=0.96",
    "overview in another language": "results?lang=de",
    "overview again": "results",
    "a question": "results/q1",
    "all questions by cohort": "results?by=cohort",
    "a question by cohort": "results/q2?by=cohort",
    "cohorts compared with one": "results/q3?compare=cohort&against=c0",
    "two questions crossed": "results/q4?with=q5",
    "a question as CSV": "results/q6.csv?by=cohort",
    "a question as JSON": "results/q7.json",
    "a question as SVG": "results/q8.svg",
    "all questions on one page": "results?view=all",
    "all questions as CSV by cohort": "results.csv?by=cohort",
    FIGURES: "results/{}.svg?lang=fr",
    "releases": "releases",
}
"""Paths below a survey's address, in the order in which they are asked."""


@dataclass(frozen=True)
class Large:
    """A collector with the large survey."""

    http: FlaskClient
    store: Store
    results: ResultsService
    survey: Survey

    def take(self, n: int, cohort: str, seed: int) -> None:
        """Let people of one cohort answer, and release what they sent."""
        generator = generator_of(seed)
        first = range(len(self.survey.questions))
        answers = {
            each.id: (generator.choice(OPTIONS, n, p=SHARES) + number) % OPTIONS
            for number, each in zip(first, self.survey.questions, strict=True)
        }
        columns = randomize_people(self.survey.questions, answers, words_of(generator))
        values = zip(*(columns[each.id].values.tolist() for each in self.survey.questions), strict=True)
        names = [each.id for each in self.survey.questions]
        reports = [Report(generator.bytes(16).hex(), cohort, dict(zip(names, row, strict=True))) for row in values]
        self.store.store_reports([(self.survey, reports)])
        self.store.settle()
        assert self.results.ahead.wait(60)


def large_survey(questions: int, cohorts: int) -> Survey:
    """The survey that is asked."""
    asked = "".join(
        f'[[questions]]\nid = "q{number}"\ntype = "choice"\ntext = "Question {number}?"\nepsilon = 1\n'
        f"options = {[f'Answer {option}' for option in range(OPTIONS)]}\nmechanism = 'k-ary'\n"
        for number in range(questions)
    )
    labels = [f"c{number}" for number in range(cohorts)]
    read = read_survey(f'title = "Large"\ncohorts = {labels}\n{asked}')
    return replace(read, results="batches", release=PEOPLE)


def filled(app: APIFlask, survey: Survey) -> Large:
    """The collector with a first release, of 4,000 people."""
    store: Store = app.extensions["deniable"]["store"]
    results: ResultsService = app.extensions["deniable-results"]
    results.prepare_releases()
    large = Large(app.test_client(), store, results, survey)
    store.publish(survey)
    for number in range(20):
        large.take(PEOPLE, survey.cohorts[number % len(survey.cohorts)], number)
    assert large.http.get(f"/s/{large.survey.id}/results").status_code == 200  # starts the processes that compute
    return large


def seconds(large: Large) -> Iterator[tuple[str, list[float]]]:
    """How long each view took, release after release."""
    found: dict[str, list[float]] = {name: [] for name in VIEWS}
    for round_ in range(ROUNDS):
        large.take(PEOPLE, large.survey.cohorts[round_ % len(large.survey.cohorts)], 1000 + round_)
        for name, path in VIEWS.items():
            asked = [path.format(each.id) for each in large.survey.questions] if name == FIGURES else [path]
            start = time.perf_counter()
            for each in asked:
                with closing(large.http.get(f"/s/{large.survey.id}/{each}")) as response:
                    assert response.status_code == 200, (each, response.get_data(as_text=True))
            found[name].append(time.perf_counter() - start)
    yield from found.items()


def rows() -> list[tuple[str, ...]]:
    """A row for each view: its median and its largest time, in each survey."""
    found: list[tuple[str, ...]] = []
    for name, questions, cohorts in LARGE:
        settings = Settings(rate_limit=None, fold_seconds=86_400)
        with (
            tempfile.TemporaryDirectory() as folder,
            ended(create_app(Path(folder) / "views.db", settings=settings)) as app,
        ):
            large = filled(app, large_survey(questions, cohorts))
            found += [
                (name, view, f"{1000 * statistics.median(times):.0f} ms", f"{1000 * max(times):.0f} ms")
                for view, times in seconds(large)
            ]
    return found


HEADER = ("survey", "view after a release", "median", "largest")

if __name__ == "__main__":
    print(format_table(HEADER, rows(), right=HEADER[2:]))

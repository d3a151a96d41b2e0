"""The results of surveys: one set of numbers for the API, the pages and the command line."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from apiflask import APIFlask
from flask import current_app, request

from deniable import EstimateRow, Question, Survey, Tally
from deniable.errors import ParameterError
from deniable_server.edge.limits import ROWS_A_REQUEST, asker, get_limits
from deniable_server.results.ahead import Ahead
from deniable_server.results.cache import ResultCache
from deniable_server.results.computing import ProcessPool
from deniable_server.results.field_dates import FieldDates, field_dates
from deniable_server.results.query import EstimatesQuery, ViewQuery
from deniable_server.results.releases import ReleaseLog, ShownRelease, newest_record
from deniable_server.results.versions import Versions
from deniable_server.results.waves import Wave, WaveIndex
from deniable_server.results.work import (
    NO_DATES,
    NOTHING,
    Dates,
    ResultNotes,
    files_of,
    image_of,
    pooled_rows,
    rows_of,
    table_of,
    text_of,
    view_rows,
)
from deniable_server.results.work import estimates_document as make_document
from deniable_server.store import Store, SurveyState
from deniable_statistics.designs.of_mechanisms import design_of
from deniable_statistics.intervals.methods import MOST_TRUTHS
from deniable_statistics.published.charts import Panel
from deniable_statistics.published.published_rows import EstimateOptions
from deniable_statistics.release.record import ReleaseRecord
from deniable_statistics.robustness.misbehaviour import Misbehaving
from deniable_statistics.views.figures import Caption
from deniable_statistics.views.view_row import MOST_CROSSED_CELLS, JointCounts, ViewOptions, ViewRow, share_view
from deniable_statistics.views.view_rows import MOST_DIFFERENCES

MOST_KEPT = 64 * 2**20
"""Size of the cache of results, in bytes: twice as much as all rows of the largest survey."""

MOST_TOGETHER = 2000
"""Largest number of rows that are computed together before somebody asks for them."""

ROW_BYTES = 700
"""Approximate size of a row in memory, in bytes."""

SEARCHED_ROWS = 40
"""Cost of a share whose interval is searched numerically (15 ms), in plain rows: a robust interval, an exact one for
few respondents, or one of counts that are not binomial."""

MEAN_ROWS = 160
"""Cost of a mean of several answers (60 ms alone, 6 ms beside many), in plain rows."""

FAKES_ROWS = 40
"""Cost of a binomial share whose interval is valid for any fakes, in plain rows. Allowing for fakes multiplies the cost
of a searched share by ten and that of a mean by three."""

DIFFERENCE_ROWS = 4
"""Cost of a difference of two cohorts, in plain rows."""

MOST_REQUESTS = 40
"""Largest cost of a query, in requests, so that its address can still send reports in the same minute."""

CHART_ROWS = 400
"""Cost of drawing a small chart, in plain rows."""

EVERYBODY = EstimatesQuery.model_validate({})
"""The query of everybody's estimates."""

EVERYBODY_VIEW, BY_COHORT_VIEW = ViewQuery.model_validate({}), ViewQuery.model_validate({"by": "cohort"})
"""The queries that are computed ahead."""

AHEAD = b"ahead"
"""The key under which the pool counts work that nobody asked for yet."""

_POOL = ProcessPool()  # of this process: applications of tests share it

R = TypeVar("R")


def init_app(app: APIFlask, store: Store) -> None:
    """Add the results service to an application."""
    app.extensions["deniable-results"] = ResultsService(store, _POOL)


def start_computing(app: APIFlask) -> None:
    """Start the processes that compute, which takes seconds, before somebody asks, and prepare each release."""
    _POOL.start()
    results: ResultsService = app.extensions["deniable-results"]
    results.prepare_releases()


def get_results() -> ResultsService:
    """The results service of the application that serves this request."""
    results: ResultsService = current_app.extensions["deniable-results"]
    return results


View = tuple[Sequence[ViewRow], Sequence[EstimateRow]]
"""The rows of a view of one question, and the estimates behind them where shares are shown."""


class ResultsService:
    """Results of the surveys in a store, computed in other processes and cached until the next release.

    A release is the value of `Store.release_of`. Every query counts against the rate limit of its address: a cached
    result as one request, another one by its number of rows.
    """

    def __init__(self, store: Store, pool: ProcessPool) -> None:
        self._store = store
        self._pool = pool
        self._kept = ResultCache(MOST_KEPT)
        self.releases = ReleaseLog(store)
        self.waves = WaveIndex(store)
        self.ahead = Ahead(self._prepare)

    def prepare_releases(self) -> None:
        """From now on record each release, and compute its estimates, when it comes."""
        before = self._store.on_release

        def come(survey: Survey) -> None:
            before(survey)
            self.ahead.add(survey.id)

        self._store.on_release = come

    def _prepare(self, survey_id: str) -> None:
        state = self._store.state(survey_id)
        if not (shown := self.releases.shown(state)).n:
            return
        wanted: list[tuple[ViewQuery, Hashable, Callable[[SurveyState, ShownRelease, ViewQuery], tuple[Any, int]]]]
        wanted = [(EVERYBODY_VIEW, "views", self._views_of)]
        if state.survey.cohorts and state.survey.rows <= MOST_TOGETHER:
            wanted.append((BY_COHORT_VIEW, "views", self._views_of))
        elif state.survey.cohorts:
            # No page shows so many rows, and whoever asks for a question by cohort waits for that question alone.
            wanted.append((BY_COHORT_VIEW, self._table_name(state, shown, BY_COHORT_VIEW), self._table_of))
        for query, form, compute in wanted:
            # The very name under which a reader asks, or the work would be done twice.
            name = self._name(survey_id, query, form, shown.n)
            if self._kept.get(name) is None:
                with self._pool.place(AHEAD):
                    found, size = compute(state, shown, query)
                self._kept.put(name, found, size)

    def estimates(self, survey: Survey, query: EstimatesQuery) -> tuple[int, Sequence[EstimateRow]]:
        """The number of reports, and all estimates of a survey."""

        def compute(survey: Survey) -> tuple[tuple[int, Sequence[EstimateRow]], int]:
            tallies = self._store.tallies(survey)
            found = self._pool.run(rows_of, survey.document, tallies, wanted_of(query))
            return (sum(tally.n for tally in tallies.values()), found), ROW_BYTES * len(found)

        return self._computed(survey, query, "rows", 0, compute)

    def text(self, state: SurveyState, query: EstimatesQuery, form: str) -> bytes:
        """The estimates as JSON or CSV."""
        said = ResultNotes(state.hidden_because, state.more_may_wait(self._store.today()))
        dates = self.dates(state, self.releases.record(state)).columns

        def write(survey: Survey) -> tuple[bytes, int]:
            tallies = self._store.tallies(survey)
            text = self._pool.run(text_of, survey.document, tallies, wanted_of(query), said, form, dates)
            return text, len(text)

        return self._computed(state.survey, query, (form, *said, *dates.values()), 0, write, release=state.release)

    def dates(self, state: SurveyState, record: ReleaseRecord | None) -> FieldDates:
        """When a survey took replies, and of which day results are: that of the record, or today."""
        return field_dates(state, record, self._store.today())

    def files_about(self, survey: Survey, title: str | None = None) -> Mapping[str, bytes]:
        """The codebook and the scripts of an archive, which are the same for every release.

        `title` stands in the codebook in place of the survey's.
        """

        def write(survey: Survey) -> tuple[Mapping[str, bytes], int]:
            files = self._pool.run(files_of, survey.document, title)
            return files, sum(map(len, files.values()))

        return self._computed(survey, EVERYBODY, ("files", title), 0, write)

    def views(self, state: SurveyState, shown: ShownRelease, query: ViewQuery) -> Mapping[str, View]:
        """The shares of all questions by the id of each, computed at once: one by one they would wait in the queue."""

        def compute(_survey: Survey) -> tuple[Mapping[str, View], int]:
            return self._views_of(state, shown, query)

        return self._computed(state.survey, plain(query), "views", 0, compute, release=shown.n)

    def table(self, state: SurveyState, shown: ShownRelease, query: ViewQuery) -> bytes:
        """The shares of all questions as CSV, written where they are computed."""

        def write(_survey: Survey) -> tuple[bytes, int]:
            return self._table_of(state, shown, query)

        name = self._table_name(state, shown, query)
        return self._computed(state.survey, plain(query), name, 0, write, release=shown.n)

    def _table_name(self, state: SurveyState, shown: ShownRelease, query: ViewQuery) -> Hashable:
        return "table", query.sort, *self.dates(state, shown.record).columns.values()

    def _table_of(self, state: SurveyState, shown: ShownRelease, query: ViewQuery) -> tuple[bytes, int]:
        """The shares of all questions as CSV, and its size in bytes."""
        dates = self.dates(state, shown.record).columns
        is_sorted = query.sort is not None
        text = self._pool.run(table_of, state.survey.document, shown.tallies, wanted_of(query), dates, is_sorted)
        return text, len(text)

    def _views_of(self, state: SurveyState, shown: ShownRelease, query: ViewQuery) -> tuple[Mapping[str, View], int]:
        """The shares of all questions, and their size in bytes."""
        survey = state.survey
        estimates = self._pool.run(rows_of, survey.document, shown.tallies, wanted_of(query))
        return together_of(survey, estimates), 2 * ROW_BYTES * len(estimates)

    def image(
        self,
        state: SurveyState,
        shown: ShownRelease,
        query: ViewQuery,
        form: str,
        name: Hashable,
        panels: Sequence[Panel],
        caption: Caption,
    ) -> bytes:
        """A figure of a release as PNG or PDF; ``name`` tells figures of one query apart."""

        def draw(survey: Survey) -> tuple[bytes, int]:
            image = self._pool.run(image_of, tuple(panels), caption, form, survey.id)
            return image, len(image)

        return self._computed(state.survey, query, (form, name), CHART_ROWS, draw, release=shown.n)

    def view(self, state: SurveyState, shown: ShownRelease, query: ViewQuery, question: str) -> View:
        """The rows of a view of one question, and the estimates behind them where shares are shown.

        Raises
        ------
        ParameterError
            If the survey cannot be seen so.
        """
        options = view_options(query)
        if options.crossed_with is not None and (not shown.is_newest or state.survey.retention == "tallies"):
            raise ParameterError("with: must be asked of the newest release of a survey that keeps its reports")

        def compute(survey: Survey) -> tuple[View, int]:
            asked = survey.question(question)
            if options.is_of_shares:
                wanted = wanted_of(query) | {"only": question}
                estimates = self._pool.run(rows_of, survey.document, shown.tallies, wanted)
                found: Sequence[ViewRow] = [share_view(asked, row) for row in estimates]
            else:
                estimates = []
                joint: JointCounts = ()
                if options.crossed_with is not None:
                    # Pairs of values have no tallies: they are counted over the rows, which only then have to be there.
                    joint = self._store.joint_counts(survey, question, survey.question(options.crossed_with).id)
                found = self._pool.run(view_rows, survey.document, shown.tallies, question, options, joint)
            return (found, estimates), ROW_BYTES * (len(found) + len(estimates))

        name = plain(query)
        if (
            options.is_of_shares
            and (together := self._kept.get(self._name(state.survey.id, name, "views", shown.n))) is not None
        ):
            found_together: View = together[question]
            return found_together
        return self._computed(state.survey, name, f"view {question}", 0, compute, question, shown.n)

    def over_time(self, waves: Sequence[Wave], query: ViewQuery) -> View:
        """The shares of each wave of a question, as its own view has them, from its newest release.

        Raises
        ------
        ParameterError
            If the query names a release: each wave has releases of its own.
        """
        if query.release is not None:
            raise ParameterError("over: must be asked of the newest releases, not of one by its number")
        return self._one_after_the_other(
            [(wave.state, wave.question.id, None, wave.state.survey.id) for wave in waves], query
        )

    def over_releases(self, state: SurveyState, numbers: Sequence[int], query: ViewQuery, question: str) -> View:
        """The shares of a question in some releases of its survey.

        Raises
        ------
        ParameterError
            If the query names a release.
        """
        if query.release is not None:
            raise ParameterError("over: must be asked of all releases, not of one by its number")
        return self._one_after_the_other([(state, question, number, str(number)) for number in numbers], query)

    def pooled(self, state: SurveyState, versions: Versions, query: ViewQuery, question: str) -> View:
        """The shares of a question from the replies of all versions of its survey together."""

        def compute(_survey: Survey) -> tuple[Mapping[str, View], int]:
            rows = self._pool.run(pooled_rows, versions.documents, versions.tallies, wanted_of(query))
            return together_of(versions.pool.survey, rows), 2 * ROW_BYTES * len(rows)

        name = ("pooled", *versions.replies)
        found: Mapping[str, View] = self._computed(state.survey, plain(query), name, 0, compute)
        return found[question]

    def _one_after_the_other(self, waves: Sequence[tuple[SurveyState, str, int | None, str]], query: ViewQuery) -> View:
        """The rows of several views: of a survey, its question, a release or the newest, and what rows call it."""
        rows: list[ViewRow] = []
        estimates: list[EstimateRow] = []
        for state, question, number, name in waves:
            shown = self.releases.shown(state, number)
            if shown.n:
                # The newest release has one name, so that its view is computed once.
                own = query.model_copy(update={"over": None, "release": None if shown.is_newest else number})
                found, behind = self.view(state, shown, own, question)
                rows += [replace(row, wave=name) for row in found]
                estimates += behind
        return rows, estimates

    def page(self, survey_id: str, query: EstimatesQuery, saying: Hashable, render: Callable[[], str]) -> bytes:
        """The page of these estimates, rendered in this process, which takes up to 0.2 s; ``saying`` names it, too.

        Everybody gets the cached page, so it must not depend on the request, such as on its Host header.
        """
        name = self._name(survey_id, query, saying)
        page: bytes | None = self._kept.get(name)
        if page is None:
            page = render().encode()
            self._kept.put(name, page, len(page))
        return page

    def _name(self, survey_id: str, query: EstimatesQuery, form: Hashable, release: int | None = None) -> Hashable:
        """The name of a result in the cache, which changes with every release.

        It names the release that was read, if it was read before: another one may have come since, and its readers must
        not be shown these numbers.
        """
        if release is None:
            release = self._store.release_of(survey_id)
        # The number of counted reports names a release, because it grows with each.
        return survey_id, release, query.model_dump_json(), form

    def _computed(
        self,
        survey: Survey,
        query: EstimatesQuery,
        form: Hashable,
        more_rows: int,
        compute: Callable[[Survey], tuple[R, int]],
        question: str | None = None,
        release: int | None = None,
    ) -> R:
        name = self._name(survey.id, query, form, release)
        if (kept := self._kept.get(name)) is None:
            with self._pool.place(asker(request.environ)):
                if (kept := self._kept.get(name)) is None:  # another request may have computed it meanwhile
                    # One request was charged when this one came.
                    get_limits().charge(request.environ, requests_for(survey, query, more_rows, question) - 1)
                    kept, size = compute(survey)
                    self._kept.put(name, kept, size)
        found: R = kept
        return found


def together_of(survey: Survey, rows: Sequence[EstimateRow]) -> Mapping[str, View]:
    """The views of all questions from the estimates of all, by the id of each."""
    together: dict[str, list[EstimateRow]] = {}
    for row in rows:
        together.setdefault(row.question, []).append(row)
    found: dict[str, View] = {}
    for question in survey.questions:
        of_question = together.get(question.id, [])
        found[question.id] = [share_view(question, row) for row in of_question], of_question
    return found


def requests_for(survey: Survey, query: EstimatesQuery, more_rows: int = 0, question: str | None = None) -> int:
    """Cost of a query whose results must be computed, of one question or of all, in requests, by the time it takes."""
    # One more group than cohorts: reports without one.
    groups = len(survey.cohorts) + 1 if query.by == "cohort" else 1
    questions = survey.questions if question is None else (survey.question(question),)
    rows = more_rows + groups * sum(_cost(each, query) for each in questions)
    if isinstance(query, ViewQuery) and len(questions) == 1:
        rows += _more_cost(survey, questions[0], view_options(query))
    return min(math.ceil(rows / ROWS_A_REQUEST), MOST_REQUESTS)


def _more_cost(survey: Survey, question: Question, options: ViewOptions) -> int:
    """Cost of comparing or crossing a question, in plain rows."""
    if options.compare:
        cohorts = len(survey.cohorts)
        # Each cohort with every other one, or with the one named.
        pairs = cohorts if options.against is not None else cohorts * (cohorts - 1) // 2
        return min(pairs * question.rows, MOST_DIFFERENCES) * DIFFERENCE_ROWS
    if options.crossed_with is not None:
        cells = question.rows * survey.question(options.crossed_with).rows
        # Up to so many cells have intervals by likelihood, which are searched numerically.
        return cells * SEARCHED_ROWS if cells <= MOST_TRUTHS else min(cells, MOST_CROSSED_CELLS)
    return 0


def _cost(question: Question, query: EstimatesQuery) -> int:
    """Cost of a question's rows, in plain rows."""
    design, means = design_of(question.mechanism), int(question.has_mean)
    is_binomial = design.binomials(design.expected_if_even, 1) is not None
    is_searched = not is_binomial or query.misbehaving is not None or query.target == "respondents"
    is_share = len(question.options) in (0, 2)  # a mean that one binomial tells
    mean = MEAN_ROWS if means and not (is_share and is_binomial) else means
    share = SEARCHED_ROWS if is_searched else 1
    if query.assume_fake is not None:
        share = 10 * SEARCHED_ROWS if is_searched else FAKES_ROWS
        mean = 3 * MEAN_ROWS if mean == MEAN_ROWS else means * FAKES_ROWS
    # A question has a row for each share, and one for its mean where it has numbers.
    return (question.rows - means) * share + mean


def plain(query: ViewQuery) -> ViewQuery:
    """A query without what changes no number: the language, the order, and on how many pages it is shown."""
    return query.model_copy(update={"lang": None, "view": None, "sort": None})


def view_options(query: ViewQuery) -> ViewOptions:
    """What a query asks a view to show."""
    wanted = {name: value for name, value in wanted_of(query).items() if name != "by_cohort"}
    return ViewOptions(
        by_cohort=query.by == "cohort",
        compare=query.compare is not None,
        against=query.against,
        crossed_with=query.crossed_with,
        over_time=query.over is not None,
        wanted=EstimateOptions(**wanted),
    )


def wanted_of(query: EstimatesQuery) -> dict[str, Any]:
    """A query as arguments of `deniable.estimate`."""
    return {
        "by_cohort": query.by == "cohort",
        "confidence_level": query.confidence,
        "method": query.method,
        "target": query.target,
        "simultaneous": query.simultaneous,
        "assume_fake": query.assume_fake,
        "misbehaving": None if query.misbehaving is None else Misbehaving(query.misbehaving, (query.misbehaviour,)),
    }


def estimates_document(store: Store, survey_id: str, query: EstimatesQuery) -> dict[str, Any]:
    """The estimates as the JSON of the API holds them, computed here: for the command line."""
    state = store.state(survey_id)
    said = ResultNotes(state.hidden_because, waiting=waiting_rows(store, state.survey) or None)
    dates = field_dates(state, newest_record(store, state), store.today()).columns
    return estimates_of(state.survey, store.tallies(state.survey), query, said, dates)


def estimates_of(
    survey: Survey,
    tallies: Mapping[str | None, Tally],
    query: EstimatesQuery,
    said: ResultNotes = NOTHING,
    dates: Dates = NO_DATES,
) -> dict[str, Any]:
    """The estimates as the JSON of the API holds them, from tallies."""
    return make_document(survey, tallies, wanted_of(query), said, dates)


def waiting_rows(store: Store, survey: Survey) -> list[dict[str, str | int | None]]:
    """Numbers of waiting reports by cohort, as the API sends them to the owner of a survey."""
    return [{"cohort": cohort, "n": n} for cohort, n in store.waiting(survey).items()]

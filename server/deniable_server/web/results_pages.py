"""Pages and files of results: every view is an address, and the same address with a suffix is that view as a file."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, render_template, request
from markupsafe import Markup, escape
from werkzeug.exceptions import NotFound
from werkzeug.exceptions import NotImplemented as NotSupported

from deniable import EstimateRow, Question
from deniable.errors import ParameterError
from deniable.privacy.ceiling import weakness
from deniable_server.access.tokens import is_owner, is_reader, require_reader
from deniable_server.edge.delivery import tagged
from deniable_server.language import language_of, words
from deniable_server.results.crossed_view import shown_rows
from deniable_server.results.drawing import MOST_ROWS, Labels, can_draw, digits_of, panels_of
from deniable_server.results.field_dates import FieldDates
from deniable_server.results.headlines import Headline, headlines
from deniable_server.results.plain_method import assumptions, odds_line, weak_rules, who_answered
from deniable_server.results.query import EstimatesQuery, ViewQuery
from deniable_server.results.question_view import (
    Section,
    may_say,
    nobody_yet,
    section,
    sentence,
    sentences,
    shown_row,
    small_figure,
    title_of,
)
from deniable_server.results.releases import ShownRelease, parsed
from deniable_server.results.replies import counted_replies, replies_behind, replies_of_groups, replies_to
from deniable_server.results.results_chart import NoImages, can_draw_images, check_images
from deniable_server.results.service import View, get_results, view_options, waiting_rows
from deniable_server.results.sorting import by_share, is_sortable
from deniable_server.results.stated_methods import of_shares
from deniable_server.results.to_print import PrintedFinding, findings_of
from deniable_server.results.versions import Versions, versions
from deniable_server.results.view_tables import about
from deniable_server.results.waves import MOST_WAVES, Wave
from deniable_server.results.work import Dates, view_csv
from deniable_server.results.written import counted, day, level_text, localized
from deniable_server.store import NotFound as NothingThere
from deniable_server.store import SurveyState
from deniable_server.store.release_log import ReleaseRow
from deniable_server.web.api import fresh, get_store
from deniable_server.web.citing import Citation
from deniable_server.web.embedding import Pages
from deniable_server.web.pages import link_to
from deniable_server.web.rehearsals import file_name, staged
from deniable_statistics.published.license import License
from deniable_statistics.published.printed_numbers import percent
from deniable_statistics.views.figures import WIDTH, Caption, figure
from deniable_statistics.views.suspicion import raised_by_all, raised_suspicion
from deniable_statistics.views.view_row import (
    ViewOptions,
    ViewRow,
    is_asked_of_others,
    refusal_to_cross,
    shares_a_response,
)
from deniable_statistics.views.view_rows import refusal_to_compare

results_pages = APIBlueprint("results", __name__, enable_openapi=False)

FORMS = {
    "csv": "text/csv",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "pdf": "application/pdf",
}
"""Media types of views as files, by their suffix."""

FIGURE_POLICY = "default-src 'none'"
"""The policy of a figure that stands alone, which needs nothing."""

MOST_ON_PAGE = 1000
"""Largest number of rows of numbers on one page, a tenth of a second's work; otherwise each question has a page."""

FRAME_WIDTH = 560
"""Width of the frame that a page offers, in pixels."""

AROUND = 640
"""Height of what stands around a figure in a frame of that width, in pixels: title, findings, dates, method, source
and a link; in Chromium it is 500 to 640 in English and French."""

_STRENGTHS = ("rStrong", "rMedium", "rLittle")
ONCE = {"open": "rOnceOpen", "invited": "rOnceInvited", "unlinkable": "rOnceToken"}
"""Names of the sentences on whether people count once, by access."""

_STANDING = {"open": "rTakes", "early": "rTakesLater", "closed": "rTakesNone"}


def init_app(app: APIFlask) -> None:
    """Serve pages and files of results."""
    app.jinja_env.filters["say"] = say
    app.jinja_env.globals["has_images"] = can_draw_images()
    app.jinja_env.filters["day"] = day
    app.jinja_env.filters["counted"] = counted
    app.jinja_env.filters["about"] = about
    app.register_blueprint(results_pages)


def say(sentence: str, **values: object) -> Markup:
    """A sentence for a page with values in its braces, all of them escaped."""
    return Markup(escape(sentence)).format(**values)  # noqa: S704  # its arguments are escaped by `format`


class ResultsPage:
    """What every page and file of results of one survey has in common, for one query and one reader."""

    def __init__(self, survey_id: str, query: ViewQuery, question_id: str | None = None) -> None:
        self.state: SurveyState = get_store().state(survey_id)
        require_reader(self.state.survey)
        self.survey = self.state.survey
        self.query = query
        self.language = query.lang or language_of(request.accept_languages)
        self.words = words(self.language)
        self.options: ViewOptions = view_options(query)
        self.asked = None if question_id is None else question_of(self, question_id)
        self._together: Mapping[str, View] | None = None
        if query.sort is not None:
            refuse_order(query, self.asked)
        self.standing = self.state.standing(get_store().today())

    @cached_property
    def shown(self) -> ShownRelease:
        """The release that is shown."""
        return get_results().releases.shown(self.state, self.query.release)

    @cached_property
    def labels(self) -> Labels:
        """The words of the survey's texts, and what waves are called."""
        if self.query.over == "releases":
            records = (parsed(row.record) for row in self.releases_shown)
            named = {
                f"{each.number}": say_text(self.words["rRelease"], number=each.number, date=self.day(each.released_on))
                for each in records
            }
            return Labels(self.words, named, self.words["rReleases"])
        waves = {each.state.survey.id: each.label for each in self.waves_shown}
        return Labels(self.words, waves, self.words["rWave"])

    @cached_property
    def releases_shown(self) -> list[ReleaseRow]:
        """The newest releases of the survey, in order."""
        return get_results().releases.rows(self.state, MOST_WAVES)

    def waves(self, question: Question) -> list[Wave]:
        """The surveys that ask a question to the letter and that the reader may see; this one is among them."""
        return get_results().waves.waves(question, is_reader)

    @cached_property
    def waves_shown(self) -> list[Wave]:
        """The waves that the view shows; none where it is not over time."""
        return [] if self.asked is None or self.query.over != "time" else self.waves(self.asked)

    @property
    def base(self) -> str:
        """The placeholder of the collector's address in pages that are kept."""
        return Pages.mark

    @property
    def api(self) -> str:
        """The address of the survey's data."""
        return f"{self.base}/api/v1/surveys/{self.survey.id}"

    @property
    def level(self) -> str:
        """The confidence level, as people read it."""
        return level_text(self.query.confidence, self.words)

    @cached_property
    def citation(self) -> Citation:
        """How the shown release is cited."""
        query = query_string(EstimatesQuery(**self._of_estimates(by=None))).removeprefix("?")
        return Citation(self.survey, self.shown, self.base, self.field, staged(), self.options.wanted, query)

    @cached_property
    def versions(self) -> Versions | None:
        """The versions of the survey, if it revises others and all of them can be shown."""
        return versions(get_store(), get_results().releases, self.state, is_reader)

    @cached_property
    def pooled(self) -> Versions | None:
        """The versions whose replies the view shows together; None where it shows this survey alone."""
        if self.query.pooled is None:
            return None
        if self.query.release is not None or self.query.over or self.query.compare or self.query.crossed_with:
            raise ParameterError("pooled: must go with no other view than that of everybody or by cohort")
        found = self.versions
        if found is None or self.asked is None or not found.asks(self.asked.id):
            raise ParameterError("pooled: must be asked of a question that all versions of the survey ask alike")
        return found

    @property
    def n(self) -> int:
        """Number of replies that are shown."""
        return self.shown.n if self.pooled is None else sum(self.pooled.replies)

    @property
    def pooled_note(self) -> str | None:
        """What it means that the replies of several versions are shown together."""
        if self.pooled is None:
            return None
        each = ", ".join(map(self.counted, self.pooled.replies))
        times = localized(f"{self.pooled.inflation:.2f}", self.words)
        return say_text(self.words["rPooledNote"], n=len(self.pooled.states), each=each, times=times)

    @cached_property
    def field(self) -> FieldDates:
        """When the survey took replies, and of which day its results are."""
        if self.pooled is not None:
            return self.pooled.dates(get_store())
        return get_results().dates(self.state, self.shown.record)

    @property
    def date_columns(self) -> Mapping[str | None, Dates]:
        """The dates in the rows of files, by the name of their wave; None stands for rows of this survey alone."""
        results = get_results()
        known: dict[str | None, Dates] = {None: self.field.columns}
        for wave in self.waves_shown:
            shown = results.releases.shown(wave.state)
            known[wave.state.survey.id] = results.dates(wave.state, shown.record).columns
        if self.query.over == "releases":
            for row in self.releases_shown:
                shown = ShownRelease({}, parsed(row.record))
                known[f"{row.number}"] = results.dates(self.state, shown.record).columns
        return known

    def rows(self, question: Question) -> View:
        """The rows of a view of a question, and the estimates behind them."""
        if self.pooled is not None:
            found = get_results().pooled(self.state, self.pooled, self.query, question.id)
        elif self._together is not None:
            found = self._together[question.id]
        elif self.query.over == "time":
            found = get_results().over_time(self.waves_shown, self.query)
        elif self.query.over == "releases":
            numbers = [row.number for row in self.releases_shown]
            found = get_results().over_releases(self.state, numbers, self.query, question.id)
        else:
            found = get_results().view(self.state, self.shown, self.query, question.id)
        return found

    def compute_together(self, by: str | None = None) -> None:
        """Compute all questions at once, for a page or a file of all of them, by cohort or for everybody."""
        self._together = get_results().views(self.state, self.shown, self.query.model_copy(update={"by": by}))

    def in_order(self, question: Question) -> Sequence[ViewRow]:
        """The rows of a view of a question in the order that the query asks for."""
        rows = self.rows(question)[0]
        if self.query.sort is None or not is_sortable(question):
            return rows
        everybody = rows
        if any(row.cohort is not None for row in rows):
            query, results = self.query.model_copy(update={"by": None}), get_results()
            if self.pooled is not None:
                everybody = results.pooled(self.state, self.pooled, query, question.id)[0]
            elif self._together is not None:
                everybody = results.views(self.state, self.shown, query)[question.id][0]
            else:
                everybody = results.view(self.state, self.shown, query, question.id)[0]
        return by_share(question, rows, everybody)

    def can_sort(self, *questions: Question) -> bool:
        """Whether one of these questions can be sorted, as it is seen."""
        is_of_shares = self.options.is_of_shares and not self.options.over_time
        return is_of_shares and any(map(is_sortable, questions))

    def section(self, question: Question, draws: bool = True) -> Section:
        """A view of a question, as a page shows it; with or without its figure."""
        rows, estimates = self.rows(question)
        url: str | None = f"{self.api}/reports.csv"
        if self.pooled is not None:
            url = None  # the rows of one version make none of these numbers
        shown = self.in_order(question)
        return section(self.survey, question, rows, self.options, self.labels, url, estimates, draws, shown)

    def link(self, question: str | None = None, form: str = "", **changes: object) -> str:
        """The address of a view: of a question or of all, as a page or as a file, with changes to the query."""
        if question and not is_sortable(self.survey.question(question)):
            changes = {**changes, "sort": None}
        chosen = self.query.model_copy(update=changes)
        path = f"/s/{self.survey.id}/results" + (f"/{question}" if question else "")
        return f"{path}{f'.{form}' if form else ''}{query_string(chosen)}"

    @property
    def api_query(self) -> str:
        """The query of the same estimates from the API."""
        return query_string(EstimatesQuery(**self._of_estimates()))

    def _of_estimates(self, **changes: object) -> dict[str, Any]:
        """The part of the query that says how to estimate, with changes."""
        names = EstimatesQuery.model_fields
        return {name: value for name, value in self.query if name in names} | changes

    @cached_property
    def assumed(self) -> list[str]:
        """What changes the intervals of the view, which is said wherever somebody may quote one."""
        return assumptions(self.options.wanted, self.words)

    @property
    def not_of_intervals(self) -> list[str]:
        """That people who misbehave change no number of the view, where the query supposes some."""
        if not self.query.misbehaving:
            return []
        return [say_text(self.words["rMisbehaviourElsewhere"], download=self.words["rDownload"])]

    @property
    def has_figure_of_all(self) -> bool:
        """Whether all questions together are few enough for one figure."""
        return self.most_rows <= MOST_ROWS

    @cached_property
    def most_rows(self) -> int:
        """Number of rows of all questions together."""
        return sum(map(self.most_rows_of, self.survey.questions))

    def most_rows_of(self, question: Question, by_cohort: bool | None = None) -> int:
        """Number of rows of a question, by cohort or for everybody, by default as the query asks."""
        is_by_cohort = self.options.by_cohort if by_cohort is None else by_cohort
        return question.rows * (len(self.survey.cohorts) + 1 if is_by_cohort else 1)

    def can_show_cohorts(self, question: Question) -> bool:
        """Whether a page can show a question by cohort."""
        return self.most_rows_of(question, by_cohort=True) <= MOST_ON_PAGE

    @property
    def is_for_one_page(self) -> bool:
        """Whether all questions in full are few enough for one page."""
        return self.most_rows <= MOST_ON_PAGE

    @property
    def plain(self) -> dict[str, object]:
        """The changes to a query that leave nobody compared or crossed."""
        names = ("by", "compare", "against", "crossed_with", "over", "pooled", "view", "sort")
        return dict.fromkeys(names)

    def comparable(self, question: Question) -> bool:
        """Whether cohorts can be compared by a question."""
        return bool(self.survey.cohorts) and refusal_to_compare(question) is None

    def crossable(self, question: Question) -> list[Question]:
        """The questions with which one can be crossed."""
        if self.survey.retention == "tallies" or not self.shown.is_newest:
            return []
        return [each for each in self.survey.questions if refusal_to_cross(question, each) is None]

    def the_other_way(self, question: Question) -> tuple[str, str] | None:
        """The title and the address of two crossed questions the other way round; None where none are crossed."""
        if self.given is None:
            return None
        address = self.link(self.given.id, "", **self.plain | {"crossed_with": question.id})
        return title_of(self.given, question, self.labels), address

    def has_other_comparisons(self, question: Question) -> bool:
        """Whether other pages compare people too, which no page can allow for."""
        if self.given is not None:
            return True
        others = (each for each in self.survey.questions if each.id != question.id)
        return self.options.compare and any(map(self.comparable, others))

    def not_crossable(self, question: Question) -> tuple[str, str] | None:
        """Why a question is crossed with none of its group here, and the command that can; None where there is none."""
        others = [each for each in self.survey.questions if each.id != question.id]
        if any(is_asked_of_others(question, each) for each in others):
            return self.words["rCrossOne"], ""
        other = next((each for each in others if shares_a_response(question, each)), None)
        if other is None or self.survey.retention == "tallies":
            return None
        command = f"deniable analyze crosstab reports.csv {question.id} {other.id} --survey survey.json"
        return self.words["rCrossRows"], command

    def key(self, *figures: str | None, is_single: bool = False) -> str:
        """How figures are read: points and bars, and of arrows and grey rows what these figures have.

        A single difference of groups (`is_single`) has an interval that holds by itself.
        """
        are_together = bool(self.options.compare) and not is_single
        drawn = "".join(filter(None, figures))
        said = [say_text(self.words["rKeyTogether" if are_together else "rKey"], level=self.level)]
        # Where the page says nothing in words, of a level that is low, it has not said yet what the bars hold.
        if are_together and not may_say(self.options):
            said.append(say_text(self.words["rHoldTogether"], level=self.level))
        said += self.assumed
        said += [self.words["rRounded"]] if drawn else []
        said += [self.words["rKeyArrow"]] if 'class="arrow"' in drawn else []
        return " ".join([*said, *([self.words["rKeyWeak"]] if '<g class="weak"' in drawn else [])])

    @property
    def top(self) -> list[str]:
        """The sentences at the top of a page: whether there are results, when they move, and who may be counted."""
        said = [say_text(self.words["rCount"], n=self.counted(self.shown.n))]
        if not self.shown.n:
            said = [self.words["rNone"]]
        if self.survey.results == "closed" and self.state.hidden_because:
            said.append(self.words["rAfterClose"])
        elif self.survey.results == "batches" and self.standing == "open":
            said.append(say_text(self.words["rMoves"], n=self.counted(self.survey.release)))
        elif self.survey.results == "live" and self.standing == "open":
            said.append(self.words["rLive"])
        return [*said, self.words[ONCE[self.survey.access]]]

    @property
    def is_drawn(self) -> bool:
        """Whether devices draw which questions they ask."""
        return any(each.group is not None and each.group.is_drawn for each in self.survey.questions)

    @cached_property
    def license(self) -> License | None:
        """The licence of the results in the reader's language, if the author states one."""
        stated = self.survey.license
        return None if stated is None else License.read(self.labels.text(stated))

    @property
    def standing_text(self) -> str:
        """Whether the survey takes replies."""
        return self.words[_STANDING[self.standing]]

    @property
    def contact(self) -> tuple[str, str | None, list[str]] | None:
        """The survey's contact, or else the operator's: the text, the link behind it, and the sentence around it."""
        contact, sentence = self.survey.contact, self.words["contact"]
        if contact is None:
            contact, sentence = current_app.config["CONTACT"], self.words["homeContact"]
        if contact is None:
            return None
        text = self.labels.text(contact)
        return text, link_to(text), sentence.split("{contact}")

    @property
    def to_ask(self) -> tuple[str, list[str]]:
        """The contact of whoever may allow others to publish files, and the sentence around it."""
        named = self.survey.organiser
        who = self.labels.text(named) if named else self.words["rWhoever"]
        if self.contact is None:
            return "", [self.words["rAskNobody"].replace("{who}", who), ""]
        sentence = self.words["rAskOperator" if self.survey.contact is None else "rAskAuthor"]
        # The name is put in last: it is the author's text, and may hold braces.
        before, after = (each.replace("{who}", who) for each in sentence.split("{contact}"))
        return self.contact[0], [before, after]

    @property
    def is_moving(self) -> bool:
        """Whether these numbers still change, and no release keeps them."""
        return self.survey.results == "live" and self.standing == "open" and self.shown.record is None

    @property
    def dates(self) -> str:
        """The field dates; one day is named once."""
        first, last = self.field.first, self.field.last
        # Without results there is no day of results that could say it.
        if first == last or (last is None and self.shown.n and first == self.field.as_of):
            return say_text(self.words["rOneDay"], day=self.day(first))
        if last is None:
            return say_text(self.words["rFrom"], first=self.day(first))
        return say_text(self.words["rBoth"], first=self.day(first), last=self.day(last))

    @property
    def when(self) -> str:
        """The field dates, and the day of the results where the field dates do not end with it."""
        field = self.field
        if not self.shown.n or field.as_of == (field.last or field.first):
            return self.dates
        return f"{self.dates} \u00b7 {say_text(self.words['rAsOf'], date=self.day(field.as_of))}"

    def day(self, date: datetime.date) -> str:
        """A day as readers write it."""
        return day(date, self.words)

    def counted(self, n: int) -> str:
        """A number of people or replies as readers write it."""
        return counted(n, self.words)

    @property
    def strength(self) -> str:
        """The sentences on the privacy of respondents, by the strength of the noise."""
        most = localized(raised_suspicion(self.survey), self.words)
        said = [self.words[_STRENGTHS[weakness(self.survey)]], say_text(self.words["rSuspicion"], most=most)]
        of_all = localized(raised_by_all(self.survey), self.words)
        if of_all != most:
            said.append(say_text(self.words["rSuspicionAll"], most=of_all))
        return " ".join(said)

    @property
    def how(self) -> list[str]:
        """How the numbers are to be read."""
        query = self.query
        target = self.words["rRespondents" if query.target == "respondents" else "rPopulation"]
        said = [target]
        if query.simultaneous:
            said.append(self.words["rSimultaneous"])
        if query.assume_fake is not None:
            share = localized(percent(query.assume_fake), self.words)
            said.append(say_text(self.words["rFakesAssumed"], share=share))
        return [*said, self.words["rFlagNote"]]

    def caption(self, question: Question | None, rows: Sequence[ViewRow], estimates: Sequence[EstimateRow]) -> Caption:
        """The texts around a figure that stands alone."""
        survey, words = self.survey, self.words
        given = self.given
        said = [] if question is None else sentences(question, rows, self.options, self.labels, estimates, given)
        title = self.labels.text(survey.title if question is None else question.text)
        if question is not None and given is not None:
            title = title_of(question, given, self.labels)
        # One finding is the title, and then the question stands below it; cohorts have a sentence each.
        finding = said[0].rstrip(".") if said and not self.options.by_cohort else None
        more = list(said[1:] if finding else said)
        asked = self.survey.questions if question is None else (question,)
        more += filter(None, (self.crossed_note(question), self.pooled_note, self.sort_note(*asked)))
        if question is not None:
            more += weak_rules(question, shown_rows(rows), self.level, words)
        return Caption(
            finding or title,
            self.caption_line,
            (*more, *self.caption_notes(question)),
            self.language,
            words["dir"],
            " ".join([*said, *self.assumed]) or self.caption_line,
            title if finding else "",
        )

    @property
    def given(self) -> Question | None:
        """The question with which one is crossed."""
        return None if self.options.crossed_with is None else self.survey.question(self.options.crossed_with)

    @property
    def source(self) -> str:
        """Who asked, and the title; of a rehearsal or the demo first that a program sent its replies."""
        named = ", ".join(self.labels.text(each) for each in (self.survey.organiser, self.survey.title) if each)
        kind = staged()
        return named if kind is None else f"{self.words[kind]} {named}"

    def to_print(self, question: Question, findings: Sequence[PrintedFinding]) -> list[str]:
        """Findings as prose that can be printed as it is: with replies, dates, caveats and source."""
        number = None if self.pooled else self.citation.number
        once = self.words[ONCE[self.survey.access]]
        values = {
            "dates": self.when,
            "caveats": " ".join(filter(None, (self.who, once, self.faked_difference, self.pooled_note))),
            "source": self.source,
            "url": f"{self.base}{self.link(question.id, release=number, lang=None, view=None, sort=None)}",
        }
        return [
            say_text(
                self.words["rPrint"],
                finding=" ".join([each.text, *self.assumed]),
                replies=self.replies_behind(question, each),
                **values,
            )
            for each in findings
        ]

    @property
    def faked_difference(self) -> str | None:
        """What made-up replies can do to a difference; None without one, or where not everybody may answer."""
        is_open = self.survey.access == "open"
        return self.words["rFakedDifference"] if is_open and not self.options.is_of_shares else None

    def replies_behind(self, question: Question, finding: PrintedFinding) -> str:
        """How many replies a finding is from: those to both questions, of its groups, or to its question."""
        groups = [each for each in finding.cohorts if each is not None]
        if groups:
            numbers = {each: replies_to(question, self.shown.tallies, (each,)) for each in groups}
            return replies_of_groups(numbers, self.words)
        is_of_all = not finding.cohorts
        n = self.replies_to(question) if is_of_all else replies_to(question, self.shown.tallies, finding.cohorts)
        return replies_behind(n, self.words, self.given is not None)

    def replies_to(self, question: Question) -> int:
        """Number of replies to a question that are shown; to both questions where it is crossed with another one."""
        if self.given is not None:
            return shown_rows(self.rows(question)[0])[0].n or 0
        if self.pooled is not None:
            pairs = zip(self.pooled.states, self.pooled.tallies, strict=True)
            return sum(replies_to(state.survey.question(question.id), tallies) for state, tallies in pairs)
        return replies_to(question, self.shown.tallies)

    @property
    def n_of_file(self) -> int | None:
        """The number of replies that the numbers of a file are from; None where each row is of other replies.

        Those to its question, or to both where two are crossed; all replies where the file is of all questions.
        """
        if self.query.over is not None:
            return None
        return self.n if self.asked is None else self.replies_to(self.asked)

    def count_of(self, question: Question | None) -> str:
        """How many replies are counted: of the survey, or to a question, and of how many."""
        if question is None:
            return say_text(self.words["rCount"], n=self.counted(self.n))
        n = self.replies_to(question)
        return counted_replies(question, n, self.n, self.words, self.given is not None)

    def odds(self, question: Question) -> str:
        """How chance works in a question, in a plain line; who answered stands once below all questions."""
        return odds_line(question, self.words)

    def chance(self, question: Question) -> str:
        """How chance works in a question, that honesty cannot be seen, and who answered, in plain lines."""
        return f"{self.odds(question)} {self.honest_and_who}"

    def chance_of_both(self, question: Question) -> list[tuple[str, str]]:
        """The texts of two crossed questions, and how chance works in each; nothing where none are crossed."""
        asked = () if self.given is None else (question, self.given)
        return [(self.labels.text(each.text), odds_line(each, self.words)) for each in asked]

    @property
    def who(self) -> str:
        """Who was asked, or that people chose themselves whether to answer."""
        return who_answered(self.survey, self.words)

    @property
    def honest_and_who(self) -> str:
        """What stands once on every page: that nobody can see whether people were honest, and who answered."""
        return f"{self.words['rHonest']} {self.who}"

    @property
    def has_one_chance(self) -> bool:
        """Whether chance works alike in all questions, so that one line tells it."""
        return len({odds_line(each, self.words) for each in self.survey.questions}) == 1

    @property
    def chance_of_all(self) -> str:
        """The explanation for a page of all questions, with the odds only if they are the same for all of them."""
        return self.chance(self.survey.questions[0]) if self.has_one_chance else self.honest_and_who

    def crossed_note(self, question: Question | None) -> str | None:
        """What the numbers of two crossed questions are; None where none are crossed."""
        if question is None or self.given is None:
            return None
        other = self.labels.text(self.given.text)
        return say_text(self.words["rCrossedBoxes" if question.kind.takes_several else "rAmongNote"], other=other)

    def sort_note(self, *questions: Question) -> str | None:
        """What it means that answers are sorted; None where none of these are."""
        return self.words["rSortNote"] if self.query.sort and self.can_sort(*questions) else None

    def both_only_note(self, question: Question) -> str | None:
        """Why shares differ from those of a question's own page, where fewer people were asked both questions."""
        n = replies_to(question, self.shown.tallies)
        if self.given is None or n == self.replies_to(question):
            return None
        return say_text(self.words["rBothOnly"], question=self.labels.text(question.text), n=self.counted(n))

    @property
    def caption_line(self) -> str:
        """The number of replies, to the question where the page is of one, and the field dates."""
        if self.query.over is not None:
            return self.words["rOverTime" if self.query.over == "time" else "rReleases"]
        return f"{self.count_of(self.asked)} \u00b7 {self.when}"

    def caption_notes(self, question: Question | None) -> list[str]:
        """The notes below a figure: its method, who answered, who is counted, and its source."""
        survey, words = self.survey, self.words
        record = self.shown.record
        released = {"number": record.number if record else "", "date": self.day(self.field.as_of)}
        url = f"{self.base}/s/{survey.id}/results"
        method = " ".join([say_text(words["rMethodNote"], level=self.level), *self.assumed])
        return [
            f"{method} {words['rRounded']} {'' if question is None else odds_line(question, words)}".rstrip(),
            f"{self.who} {words[ONCE[survey.access]]}",
            say_text(words["rSource" if record else "rSourceLive"], source=self.source, url=url, **released),
            *([] if self.license is None else [say_text(words["rLicensed"], license=self.license.text)]),
        ]


def say_text(sentence: str, **values: object) -> str:
    """A sentence with values in its braces, as a text."""
    return sentence.format(**values)


def query_string(query: EstimatesQuery) -> str:
    """The query string of links, without defaults; it starts with a question mark unless it is empty."""
    chosen: dict[str, Any] = query.model_dump(exclude_defaults=True, by_alias=True)
    return f"?{urlencode(chosen)}" if chosen else ""


def render(page: ResultsPage, template: str, name: Hashable, values: Callable[[], Mapping[str, Any]]) -> Response:
    """A page, rendered once for all readers of a language until results or what is said of the survey change."""

    def rendered() -> str:
        return render_template(template, page=page, words=page.words, **values())

    saying = (template, name, page.language, *page.top, page.n, page.standing, *page.field.columns.values())
    kept = get_results().page(page.survey.id, page.query, saying, rendered)
    pages: Pages = current_app.extensions["deniable-pages"]
    response = Response(pages.filled(kept))
    response.headers["Cache-Control"] = "private, no-cache"  # it names the host that was asked
    response.vary.add("Accept-Language")
    return tagged(response)


@results_pages.get("/s/<survey_id>/results")
@results_pages.input(ViewQuery, location="query", arg_name="query")
def overview(survey_id: str, query: ViewQuery) -> Response:
    """A line for each question; all questions in full where the query asks for cohorts, or for everything."""
    page = ResultsPage(survey_id, query)
    refuse_one_question_views(query)
    if not page.shown.n:
        return render(page, "results_none.html", "", dict)
    if (query.view == "all" or query.by) and page.is_for_one_page:
        return render(page, "results.html", "", lambda: everything(page))
    return render(page, "overview.html", "", lambda: lines(page))


@results_pages.get("/s/<survey_id>/results/<question_id>")
@results_pages.input(ViewQuery, location="query", arg_name="query")
def one_question(survey_id: str, question_id: str, query: ViewQuery) -> Response:
    """A view of one question."""
    page = ResultsPage(survey_id, query, question_id)
    question = question_of(page, question_id)
    refuse_long_page(page, question)
    if not page.shown.n:
        return render(page, "results_none.html", "", dict)
    # Waves and versions are other surveys, which move by themselves.
    waves = tuple((each.state.survey.id, each.state.release) for each in page.waves(question))
    pooled = () if page.versions is None else tuple(page.versions.replies)

    def values() -> dict[str, Any]:
        found = page.section(question)
        return {
            "section": found,
            "has_waves": len(waves) > 1,
            "has_releases": len(page.releases_shown) > 1,
            "has_versions": page.versions is not None and page.versions.asks(question.id),
            "frame": frame_of(page, question, FRAME_WIDTH, frame_height(found.figure, FRAME_WIDTH)),
            "oembed": oembed_path(page, question),
        }

    return render(page, "question.html", (question.id, waves, pooled), values)


@results_pages.get(f"/s/<survey_id>/results.<any({', '.join(FORMS)}):form>")
@results_pages.input(ViewQuery, location="query", arg_name="query")
def file_of_all(survey_id: str, form: str, query: ViewQuery) -> Response:
    """All questions as a file."""
    page = ResultsPage(survey_id, query)
    refuse_one_question_views(query)
    if form not in ("csv", "json") and not page.is_for_one_page:
        raise too_many_to_draw(page.most_rows)  # before all of them are computed
    if form == "csv" and not page.is_for_one_page:
        return csv_of(page, get_results().table(page.state, page.shown, query), "")
    page.compute_together(query.by)
    return file_of(page, form, page.survey.questions)


@results_pages.get(f"/s/<survey_id>/results/<question_id>.<any({', '.join(FORMS)}):form>")
@results_pages.input(ViewQuery, location="query", arg_name="query")
def file_of_question(survey_id: str, question_id: str, form: str, query: ViewQuery) -> Response:
    """A view of one question as a file."""
    page = ResultsPage(survey_id, query, question_id)
    return file_of(page, form, (question_of(page, question_id),))


def frame_height(drawn: str | None, width: int) -> int:
    """The height of the frame of a figure at a width, in pixels, so that what stands below it is seen, too."""
    # Several stand below each other in a frame, which is too narrow for two.
    heights = map(float, re.findall(rf'viewBox="0 0 {WIDTH} ([0-9.]+)"', drawn or ""))
    return round(sum(heights) * width / WIDTH + AROUND * FRAME_WIDTH / width)


def frame_of(page: ResultsPage, question: Question, width: int, height: int) -> str:
    """The element that shows the figure of a view on a page of another site."""
    address = f"{page.base}/s/{page.survey.id}/results/{question.id}/embed{query_string(page.query)}"
    title = f"{page.labels.text(question.text)} \u2013 {page.labels.text(page.survey.title)}"
    return (
        f'<iframe src="{escape(address)}" title="{escape(title)}" width="{width}" height="{height}" '
        'style="border:0;max-width:100%" loading="lazy" sandbox="allow-popups"></iframe>'
    )


def oembed_path(page: ResultsPage, question: Question) -> str:
    """The path at which oEmbed tells other sites of a view."""
    # The placeholder stays as it is: what replaces it is no letter that a query could not hold.
    return f"/oembed?format=json&url={page.base}{quote(page.link(question.id))}"


def question_of(page: ResultsPage, question_id: str) -> Question:
    """The question of that id, or 404."""
    for question in page.survey.questions:
        if question.id == question_id:
            return question
    raise NotFound


def refuse_long_page(page: ResultsPage, question: Question) -> None:
    """Refuse a view of more rows than a page shows, before they are computed."""
    if page.options.by_cohort and not page.can_show_cohorts(question):
        raise ParameterError(
            f"by: must make at most {MOST_ON_PAGE} rows on a page, got {page.most_rows_of(question)}; "
            "ask for CSV or JSON"
        )


def refuse_order(query: ViewQuery, asked: Question | None) -> None:
    """Refuse an order of answers that are levels, or that are compared or crossed."""
    if query.compare or query.crossed_with or query.over:
        raise ParameterError("sort: must go with shares of everybody or by cohort, not with compare, over or with")
    if asked is not None and not is_sortable(asked):
        raise ParameterError(f"sort: must be asked of a question whose options its author lists, got {asked.id!r}")


def refuse_one_question_views(query: ViewQuery) -> None:
    """Refuse a query that can be asked of one question alone."""
    if query.compare or query.crossed_with or query.over or query.pooled:
        raise ParameterError("compare, over, pooled, with: must be asked of one question, as /results/ and its id")


def everything(page: ResultsPage) -> dict[str, Any]:
    """The values of a page with all questions in full."""
    page.compute_together(page.query.by)
    rows = sum(len(page.rows(each)[0]) for each in page.survey.questions)
    has_figures = rows <= MOST_ROWS
    sections = [page.section(each, has_figures) for each in page.survey.questions]
    return {"sections": sections, "has_figures": has_figures}


def lines(page: ResultsPage) -> dict[str, Any]:
    """The values of an overview."""
    page.compute_together()
    rows = [row for each in page.survey.questions for row in page.rows(each)[0]]
    found = {each.id: headlines_of(page, each) for each in page.survey.questions}
    said = [each for of_question in found.values() for each in of_question]
    return {
        "lines": [line(page, each, found[each.id]) for each in page.survey.questions],
        "methods": of_shares(rows, page.options.confidence_level, page.words, said),
    }


def headlines_of(page: ResultsPage, question: Question) -> list[Headline]:
    """The sentences on a question in an overview."""
    return headlines(question, page.rows(question)[1], page.words) if may_say(page.options) else []


def line(page: ResultsPage, question: Question, found: Sequence[Headline]) -> dict[str, Any]:
    """A question in an overview: its sentence, and its options as a figure."""
    rows, estimates = page.rows(question)
    leading = shown_row(question, rows, found[0].option if found else None)
    said = [sentence(question, each, False, page.labels) for each in found] or nobody_yet(estimates, page.words)
    printed = page.to_print(question, findings_of(question, found, False, page.level, page.labels))
    # So many figures that nobody reads them all show one value each.
    shown = page.in_order(question) if page.has_figure_of_all else ()
    digits = digits_of([row for row in rows if leading is not None and row.statistic == leading.statistic])
    figure = small_figure(question, shown, leading, page.labels, said, digits)
    replies = page.count_of(question) if page.is_drawn else ""
    return {"question": question, "said": said, "printed": printed, "figure": figure, "replies": replies}


def file_of(page: ResultsPage, form: str, questions: Sequence[Question]) -> Response:
    """Questions as a file: rows as CSV and JSON, a figure as SVG, PNG and PDF."""
    found = [(page.in_order(question), page.rows(question)[1]) for question in questions]
    rows = [row for view, _ in found for row in view]
    if form == "csv":
        return csv_of(page, view_csv(rows, page.date_columns).encode(), one_of(questions))
    if form == "json":
        record = page.shown.record
        document: dict[str, Any] = {
            "survey": page.survey.id,
            "release": None if page.pooled else record and record.number,
            "versions": page.pooled and [each.survey.id for each in page.pooled.states],
            "n": page.n_of_file,
            "replies": None if page.query.over else page.n,
            **page.field.columns,
            "rehearsal": staged() is not None,
            "sample": page.survey.sample and page.labels.text(page.survey.sample),
            "license": page.license and page.license.text,
            "license_url": page.license and page.license.address,
            "rows": [vars(row) for row in rows],
        }
        # How many replies wait tells each arrival, so it is for whoever owns the survey alone.
        waiting = waiting_rows(get_store(), page.survey) if is_owner(get_store(), page.survey) else None
        document["waiting"] = waiting or None
        response = Response(
            json.dumps(document, separators=(",", ":"), allow_nan=False) + "\n", mimetype="application/json"
        )
        response.headers["Access-Control-Allow-Origin"] = "*"
    else:
        response = named(page, figure_of(page, form, questions, found), form, one_of(questions))
    linked(page, fresh(response)).vary.add("Accept-Language")
    return tagged(response)


def linked(page: ResultsPage, response: Response) -> Response:
    """A file with the address of its licence beside it, for which CSV and images have no place."""
    if page.license and page.license.address:
        response.headers["Link"] = f'<{page.license.address}>; rel="license"'
    return response


def one_of(questions: Sequence[Question]) -> str:
    """The id of the question that a file is of; empty if it is of several."""
    return questions[0].id if len(questions) == 1 else ""


def named(page: ResultsPage, response: Response, form: str, question: str) -> Response:
    """A file that is called after the survey, the question, if it is of one, and what the view shows of it."""
    query = page.query
    view = ["by-cohort"] if query.by else ["compared"] if query.compare else []
    view += ["with", query.crossed_with] if query.crossed_with else []
    view += [f"over-{query.over}"] if query.over else []
    view += ["pooled"] if query.pooled else []
    view += [f"release-{query.release}"] if query.release else []
    name = file_name("-".join(filter(None, ["results", page.survey.id, question, *view])))
    # A figure is shown where it is opened, and has this name where it is saved.
    how = "attachment" if form == "csv" else "inline"
    response.headers["Content-Disposition"] = f'{how}; filename="{name}.{form}"'
    return response


def csv_of(page: ResultsPage, body: bytes, question: str) -> Response:
    """Rows of a view as a file of CSV, which is called after the survey and the question, if it is of one."""
    response = Response(body, mimetype=FORMS["csv"])
    linked(page, fresh(named(page, response, "csv", question))).vary.add("Accept-Language")
    return tagged(response)


def too_many_to_draw(rows: int) -> ParameterError:
    """That a figure would have too many intervals, with the way out."""
    return ParameterError(
        f"figure: must have at most {MOST_ROWS} intervals, got {rows}; ask for one question, as /results/ and its id, "
        "or for CSV or JSON"
    )


def figure_of(
    page: ResultsPage,
    form: str,
    questions: Sequence[Question],
    found: Sequence[tuple[Sequence[ViewRow], Sequence[EstimateRow]]],
) -> Response:
    """A figure with its title, its source and a note on its method."""
    rows = [row for view, _ in found for row in view]
    if not page.shown.n or not rows:
        raise NothingThere(page.words["rOneGroup" if page.shown.n and page.options.compare else "rNone"])
    if not can_draw(rows):
        raise too_many_to_draw(len(rows))
    given = page.given
    panels = [
        panel
        for question, (view, _) in zip(questions, found, strict=True)
        for panel in panels_of(question, view, page.labels, given)
    ]
    one = questions[0] if len(questions) == 1 else None
    caption = page.caption(one, *found[0]) if one else page.caption(None, (), ())
    # A figure stands alone, so the address in it is that of this request from the start; lines are broken by it.
    pages: Pages = current_app.extensions["deniable-pages"]
    caption = replace(caption, notes=tuple(each.replace(page.base, pages.base) for each in caption.notes))
    if form == "svg":
        response = Response(figure(panels, caption), mimetype=FORMS[form])
        response.headers["Content-Security-Policy"] = FIGURE_POLICY
        return response
    try:
        check_images()
    except NoImages as error:
        raise NotSupported(str(error)) from None
    waves = ((each.state.survey.id, each.state.release) for each in page.waves_shown)
    name = (page.language, pages.base, *(each.id for each in questions), *waves, page.n, *page.field.columns.values())
    image = get_results().image(page.state, page.shown, page.query, form, name, panels, caption)
    return Response(image, mimetype=FORMS[form])

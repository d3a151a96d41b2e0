"""What a survey that revises another one keeps of it: questions whose noisy values are sent again, or can be pooled.

A device does nothing with the claim that one survey revises another. Whether it sends the noisy value that it kept is
decided by the key of a question alone, and so is everything here: a survey that names a stranger's gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from deniable.errors import SurveyError
from deniable.survey.document import Survey
from deniable.survey.question import Question
from deniable.survey.texts import publish_text
from deniable.survey.unit import MILLION, Unit
from deniable_statistics.estimates.tally import Tally

if TYPE_CHECKING:
    from deniable_statistics.published.published_rows import EstimateRow

MOST_VERSIONS = 24
"""Largest number of versions whose reports are pooled."""

Fate = Literal["kept", "pooled", "changed", "new"]


@dataclass(frozen=True)
class RevisedQuestion:
    """A question of a survey that revises another one.

    Attributes
    ----------
    id : str
    before : str or None
        The id of the question that it was in the revised survey; None for a new question.
    fate : {"kept", "pooled", "changed", "new"}
        Kept: devices send the noisy value again that they kept, and results can be pooled. Pooled: the same question
        through the same channel, so results can be pooled, but in another group, so that devices draw anew. Changed: a
        question of the same id with other words or another channel. New: anything else.
    differs : tuple of str
        What differs, in words.
    """

    id: str
    before: str | None
    fate: Fate
    differs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Revision:
    """A survey beside the one that it revises.

    Attributes
    ----------
    old, new : Survey

    Raises
    ------
    SurveyError
        If ``new`` does not name ``old``.
    """

    old: Survey
    new: Survey

    def __post_init__(self) -> None:
        if self.new.revises != self.old.id:
            named = "names none" if self.new.revises is None else f"names {self.new.revises}"
            raise SurveyError(f"survey {self.new.id}: must name {self.old.id} as the one that it revises, {named}")

    @cached_property
    def questions(self) -> tuple[RevisedQuestion, ...]:
        """The questions of the new survey, in its order."""
        return tuple(map(self._fate, self.new.questions))

    @property
    def dropped(self) -> tuple[str, ...]:
        """Ids of the questions of the old survey that the new one does not ask any more."""
        known = {each.before for each in self.questions}
        return tuple(each.id for each in self.old.questions if each.id not in known)

    @property
    def kept(self) -> tuple[str, ...]:
        """Ids, in the new survey, of the questions to which devices send the same noisy value again."""
        return tuple(each.id for each in self.questions if each.fate == "kept")

    @property
    def pooled(self) -> dict[str, str]:
        """For each question of the new survey that can be pooled its id in the old one."""
        return {
            each.id: each.before
            for each in self.questions
            if each.before is not None and each.fate in ("kept", "pooled")
        }

    @property
    def epsilon_of_both(self) -> float:
        """Privacy loss in nats of somebody who answers both surveys, as the ledger of a device counts it."""
        costs = {unit.key: unit.cost for each in (self.old, self.new) for unit in each.units}
        return sum(costs.values()) / MILLION

    def _fate(self, question: Question) -> RevisedQuestion:
        before = _same_question(self.old, self.new.contents[question.id], question.id)
        if before is None:
            named = next((each for each in self.old.questions if each.id == question.id), None)
            if named is None:
                return RevisedQuestion(question.id, None, "new")
            return RevisedQuestion(question.id, named.id, "changed", tuple(_differences(named, question)))
        old, new = _unit_of(self.old, before), _unit_of(self.new, question.id)
        if old.key == new.key:
            return RevisedQuestion(question.id, before, "kept")
        if any(unit.group and unit.group.joint for unit in (old, new)):
            # One response to several questions: the channel of one alone says nothing of those of several together.
            return RevisedQuestion(
                question.id, before, "changed", ("the response that it shares with other questions",)
            )
        return RevisedQuestion(question.id, before, "pooled", ("the questions with which it shares an epsilon",))


def _same_question(survey: Survey, content: str, question_id: str) -> str | None:
    """The id of the question with that content: the same id if possible, because a survey may ask one twice."""
    same = [name for name, each in survey.contents.items() if each == content]
    return question_id if question_id in same else next(iter(same), None)


def _unit_of(survey: Survey, question_id: str) -> Unit:
    return next(unit for unit in survey.units if any(each.id == question_id for each in unit.questions))


def _differences(old: Question, new: Question) -> list[str]:
    """What makes two questions of one id different ones for a device, in words."""
    parts = {
        "its type": (old.type, new.type),
        "its text": (publish_text(old.text), publish_text(new.text)),
        "its options": ([publish_text(each) for each in old.options], [publish_text(each) for each in new.options]),
        "its noise": (old.mechanism.publish(), new.mechanism.publish()),
        "its unit": (old.unit and publish_text(old.unit), new.unit and publish_text(new.unit)),
    }
    found = [name for name, (one, other) in parts.items() if one != other]
    # A filter is the same only if the questions that it is about are.
    return found or ["who is asked it"]


@dataclass(frozen=True)
class Pool:
    """The versions of a survey, and the questions that can be analysed of all their reports together.

    Attributes
    ----------
    versions : tuple of Survey
        From the oldest to the newest, each the revision of the one before.

    Raises
    ------
    SurveyError
        If one does not name the one before, or no question is the same in all of them.
    """

    versions: tuple[Survey, ...]

    def __post_init__(self) -> None:
        for old, new in pairwise(self.versions):
            Revision(old, new)
        if not self._questions:
            raise SurveyError(
                f"survey {self.newest.id}: has no question that is the same in all {len(self.versions)} versions"
            )

    @property
    def newest(self) -> Survey:
        """The version whose title and ids results have."""
        return self.versions[-1]

    @cached_property
    def survey(self) -> Survey:
        """The questions that can be pooled as one survey, with the cohorts of all versions. Nobody publishes it.

        A question whose group is the same in all versions keeps it; another one stands alone, and has no report of
        devices that did not ask it.
        """
        accesses = {each.access for each in self.versions}
        is_unlinkable = accesses == {"unlinkable"}
        return replace(
            self.newest,
            questions=tuple(self._questions.values()),
            cohorts=tuple(dict.fromkeys(cohort for each in self.versions for cohort in each.cohorts)),
            cohort_required=all(each.cohort_required for each in self.versions),
            retention="tallies" if any(each.retention == "tallies" for each in self.versions) else "reports",
            # What sees to it that a report is a person is no stronger than in the weakest version.
            access="unlinkable" if is_unlinkable else "open" if "open" in accesses else "invited",
            issuer=self.newest.issuer if is_unlinkable else None,
            sealed=None,
            places=(),
            arrangement=None,
            closes_at=None,
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """Ids of the questions of the newest version that cannot be pooled."""
        return tuple(each.id for each in self.newest.questions if each.id not in self._questions)

    def ids_in(self, place: int) -> dict[str, str]:
        """For each pooled question its id in the version at a place."""
        return {name: self._names[name][place] for name in self._questions}

    @cached_property
    def alone(self) -> frozenset[str]:
        """Ids of the pooled questions that devices drew in other groups, or not in all versions alike."""
        return frozenset(name for name, each in self._questions.items() if name not in self._kept)

    def tallies(self, tallies: Sequence[Mapping[str | None, Tally]]) -> dict[str | None, Tally]:
        """The tallies of all versions, given those of each by cohort, of the questions of `survey`.

        The number of reports of a question in `alone` is not in it; see `tallies_of`.
        """
        kept = [each.id for each in self.survey.questions if each.id not in self.alone]
        return self._added(
            tallies, lambda _survey, tally, names: (tally.n, {id: tally.counts[names[id]] for id in kept})
        )

    def tallies_of(self, name: str, tallies: Sequence[Mapping[str | None, Tally]]) -> dict[str | None, Tally]:
        """The tallies of one question in `alone`, whose reports are those of the devices that asked it."""

        def asked(survey: Survey, tally: Tally, names: Mapping[str, str]) -> tuple[int, dict[str, tuple[int, ...]]]:
            counts, n = survey.question(names[name]).counted(tally.counts[names[name]], tally.n)
            return int(n), {name: tuple(map(int, counts))}

        return self._added(tallies, asked)

    def _added(
        self,
        tallies: Sequence[Mapping[str | None, Tally]],
        read: Callable[[Survey, Tally, Mapping[str, str]], tuple[int, dict[str, tuple[int, ...]]]],
    ) -> dict[str | None, Tally]:
        nothing = Tally.empty(self.survey)
        found: dict[str | None, Tally] = {}
        for place, (survey, by_cohort) in enumerate(zip(self.versions, tallies, strict=True)):
            names = self.ids_in(place)
            for cohort, tally in by_cohort.items():
                n, counts = read(survey, tally, names)
                found[cohort] = found.get(cohort, nothing) + Tally(n, {**nothing.counts, **counts})
        return found

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        """For each question that all versions ask its id in each of them."""
        found = {}
        for name, content in self.newest.contents.items():
            ids = [_same_question(each, content, name) for each in self.versions]
            known = tuple(each for each in ids if each is not None)
            if len(known) == len(ids):
                found[name] = known
        return found

    @cached_property
    def _kept(self) -> frozenset[str]:
        """Ids of the questions that devices answer with one noisy value in all versions."""
        return frozenset(name for name in self._names if len({each.key for each in self._units(name)}) == 1)

    def _units(self, name: str) -> list[Unit]:
        return [_unit_of(survey, then) for survey, then in zip(self.versions, self._names[name], strict=True)]

    @cached_property
    def _questions(self) -> dict[str, Question]:
        # One response to several questions: its parts can be analysed where the whole is the same.
        found = {
            name
            for name in self._names
            if name in self._kept or not any(unit.group and unit.group.joint for unit in self._units(name))
        }
        # What a dropped question filtered, or shared its response with, goes with it.
        while lonely := {name for name in found if not self._needs(name) <= found}:
            found -= lonely
        return {
            each.id: each if each.id in self._kept else replace(each, group=None)
            for each in self.newest.questions
            if each.id in found
        }

    def _needs(self, name: str) -> set[str]:
        question = self.newest.question(name)
        filters = set(question.ask_if.named) if question.ask_if else set()
        return filters | ({each.id for each in self._units(name)[-1].questions} if name in self._kept else set())


def versions_of(newest: Survey, fetch: Callable[[str], Survey]) -> tuple[Survey, ...]:
    """The versions of a survey, from the oldest to itself.

    Parameters
    ----------
    newest : Survey
    fetch : callable
        Gives the survey of an address, or raises.

    Raises
    ------
    SurveyError
        If it revises none, or there are more than `MOST_VERSIONS`.
    """
    found = [newest]
    # No circle: each address is the hash of a document that holds the next one.
    while (before := found[0].revises) is not None:
        if len(found) == MOST_VERSIONS:
            raise SurveyError(f"survey {newest.id}: must have at most {MOST_VERSIONS} versions to be pooled, got more")
        found.insert(0, fetch(before))
    if len(found) == 1:
        raise SurveyError(f"survey {newest.id}: revises no other survey, so there is nothing to pool it with")
    return tuple(found)


def pooled_estimates(pool: Pool, tallies: Sequence[Mapping[str | None, Tally]], **wanted: Any) -> list[EstimateRow]:
    """The estimates of the reports of all versions together, in the order of cohorts, questions and options.

    Parameters
    ----------
    pool : Pool
    tallies : sequence of mapping of cohort to Tally
        Those of each version.
    **wanted
        As for `deniable_statistics.published.published_rows.estimate`.
    """
    together = pool.tallies(tallies)
    from deniable_statistics.published.published_rows import estimate  # an author checks a survey without numpy

    rows: list[EstimateRow] = []
    for question in pool.survey.questions:
        found = pool.tallies_of(question.id, tallies) if question.id in pool.alone else together
        rows += estimate(found, pool.survey, only=question.id, **wanted)
    cohorts = list(dict.fromkeys(row.cohort for row in rows))
    return sorted(rows, key=lambda row: cohorts.index(row.cohort))


def twice_sentence(reports: Sequence[int]) -> str:
    """What it means for pooled results that one person may have answered several versions.

    Parameters
    ----------
    reports : sequence of int
        Number of reports of each version.
    """
    return (
        "versions: whoever answered several counts several times, with the same noisy value; standard errors hold for "
        f"different people, and those of all reports together are at most {inflation(reports):.2f} times as large "
        "otherwise"
    )


def inflation(reports: Sequence[int]) -> float:
    """How many times as large the standard errors are at most, if people answered several versions.

    Parameters
    ----------
    reports : sequence of int
        Number of reports of each version.

    Notes
    -----
    Somebody who answered ``j`` versions counts ``j`` times with one noisy value, so that the variance of a mean over
    ``n`` reports, of people ``i`` with ``j_i`` reports, is ``sum j_i^2 / n`` times that of different people. It is
    largest if every smaller version was answered by people who answered the larger ones, too.

    Examples
    --------
    >>> inflation([400, 400]), inflation([900, 100])
    (1.4142135623730951, 1.0954451150103321)
    """
    n = sum(reports)
    sizes = sorted(reports, reverse=True)
    # With sizes s1 >= s2 >= ... people count j times that answered the j largest: sum j^2 = sum (2 j - 1) s_j.
    squares = sum((2 * place + 1) * size for place, size in enumerate(sizes))
    return math.sqrt(squares / n) if n else 1.0

"""Simulated studies for the analysis of a formula: people with covariates and effects, their reports as a table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

from deniable.errors import ParameterError, describe
from deniable.survey.document import Survey
from deniable_research.files import Layout, Table
from deniable_research.regression.formula import model_matrix, sides, variables
from deniable_research.simulation.draw import column_texts, draw_answers, report_answers
from deniable_research.simulation.simulated_misbehaviour import Misbehaviour
from deniable_research.simulation.simulation import check_number
from deniable_research.simulation.truth import Shares, Truth, truth_of

MOST_KINDS = 200_000
"""Largest number of kinds of people (combinations of covariates) from which the population's truth is computed."""

MOST_PEOPLE = 10**7
"""Largest number of people in a sample, which is held in memory."""

POINTS = 101
"""Number of equally likely values that approximate a normal covariate of the population."""


@dataclass(frozen=True)
class Covariate:
    """A column that is not randomised: labels with their shares, or normally distributed numbers.

    Attributes
    ----------
    labels : tuple of str
        Empty for numbers. As in the analysis of a file, the reference level of effects is the first in alphabetical
        order.
    shares : tuple of float
    mean, spread : float
        Mean and standard deviation of numbers.
    """

    labels: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    mean: float = 0.0
    spread: float = 1.0

    def __post_init__(self) -> None:
        if self.labels:
            if len(set(self.labels)) < len(self.labels) or len(self.shares) != len(self.labels):
                raise ParameterError("covariate: must have different labels, each with a share")
            if not all(0 < share <= 1 for share in self.shares) or abs(math.fsum(self.shares) - 1) > 1e-6:
                raise ParameterError(f"covariate: must have shares above 0 that add up to 1, got {list(self.shares)}")
        elif not (math.isfinite(self.mean) and 0 < self.spread < math.inf):
            raise ParameterError(
                f"covariate: must have a finite mean and a spread above 0, got {self.mean:g} and {self.spread:g}"
            )

    @classmethod
    def parse(cls, text: str) -> Covariate:
        """Read ``young:0.6,old:0.4``, labels alone for equal shares, or ``normal:40:10``.

        >>> Covariate.parse("young:0.6,old:0.4").shares, Covariate.parse("a,b").shares
        ((0.6, 0.4), (0.5, 0.5))
        >>> Covariate.parse("normal:40:10").mean
        40.0
        """
        try:
            if text.partition(":")[0].strip() == "normal":
                mean, spread = map(float, text.split(":")[1:])
                return cls(mean=mean, spread=spread)
            parts = [part.strip().rpartition(":") for part in text.split(",")]
            if not any(colon for _, colon, _ in parts):
                labels = tuple(label for _, _, label in parts)
                return cls(labels, (1 / len(labels),) * len(labels))
            return cls(tuple(label.strip() for label, _, _ in parts), tuple(float(share) for _, _, share in parts))
        except ValueError as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f"covariate: must be like young:0.6,old:0.4 or normal:40:10, got {text!r:.80}"
            ) from None

    def draw(self, people: int, generator: np.random.Generator) -> NDArray[Any]:
        """Values of ``people``: places of their labels, or numbers; shape (people,)."""
        if not self.labels:
            return generator.normal(self.mean, self.spread, people)
        # Without the last end, so that rounding never leaves a person without a label.
        ends = np.cumsum(self.shares)[:-1]
        return np.searchsorted(ends, generator.random(people), side="right")

    @property
    def kinds(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """The values of the population, and their frequencies."""
        if self.labels:
            return np.arange(len(self.labels)), np.array(self.shares) / math.fsum(self.shares)
        # Quantiles in the middle of equal parts: their mean is exact, their spread a little small.
        return self.mean + self.spread * norm.ppf((np.arange(POINTS) + 0.5) / POINTS), np.full(POINTS, 1 / POINTS)

    def column(self, values: NDArray[Any]) -> Any:
        """Values as the analysis of a file reads them: numeric labels as numbers, others as categories."""
        if not self.labels:
            return values
        if self.is_numeric:
            return np.array(self.labels, dtype=float)[values]
        # In alphabetical order: the first category is the reference level, as in a file.
        order = sorted(self.labels)
        return pd.Categorical.from_codes([order.index(self.labels[place]) for place in values.tolist()], order)

    @property
    def is_numeric(self) -> bool:
        """Whether all labels are numbers."""
        try:
            return bool(self.labels) and all(math.isfinite(float(label)) for label in self.labels)
        except ValueError:
            return False


@dataclass(frozen=True)
class ImpliedShare:
    """The true share of yes to the outcome that a study's effects imply for a group of people.

    Attributes
    ----------
    column, label : str or None
        The predictor and the label or answer that these people have; None for all people.
    people : float
        Their share of all people.
    share : float
        The share of yes among them.
    """

    column: str | None
    label: str | None
    people: float
    share: float


@dataclass(frozen=True)
class Study:
    """A survey whose reports will be analysed by a formula.

    Attributes
    ----------
    survey : Survey
    formula : str
        Formula of `deniable_research.files.regress`. On the left is a question with two answers, or a normal covariate.
    effects : mapping of str to float
        True coefficients by the name of their term, as the regression prints it; others are 0. They are log odds
        ratios for a question on the left, and slopes for a number.
    covariates : mapping of str to Covariate
        Columns of the formula that are not randomised. Unless it is given, the column cohort has the cohorts of the
        survey with equal shares.
    truth : mapping of str to shares, optional
        As in `truth_of`; for a question on the left the share of yes among everybody.
    respondents : int
    misbehaviour : Misbehaviour

    Raises
    ------
    ParameterError
        If the formula has a column that is not described, or an effect is for a term that it does not have.
    """

    survey: Survey
    formula: str
    effects: Mapping[str, float]
    covariates: Mapping[str, Covariate]
    truth: Mapping[str, Shares] | None = None
    respondents: int = 1000
    misbehaviour: Misbehaviour = Misbehaviour()  # noqa: RUF009 - a frozen value

    def __post_init__(self) -> None:
        check_number(self.respondents, "respondents", 1, MOST_PEOPLE)
        for term, effect in self.effects.items():
            if term not in self.terms or term == "Intercept":
                named = ", ".join(name for name in self.terms if name != "Intercept") or "none"
                raise ParameterError(f"effect: must be of a term of the formula ({named}), got {term!r:.60}")
            if isinstance(effect, bool) or not isinstance(effect, (int, float)) or not math.isfinite(effect):
                raise ParameterError(f"effect: must be a number, got {describe(effect)} for {term}")

    @property
    def outcome(self) -> str:
        """The name on the left side of the formula."""
        return sides(self.formula)[0].strip("`")

    @cached_property
    def questions(self) -> dict[str, Truth]:
        """The randomised questions of the formula."""
        named = {self.outcome, *self.predictors}
        return {each.question.id: each for each in truth_of(self.survey, self.truth) if each.question.id in named}

    @cached_property
    def predictors(self) -> tuple[str, ...]:
        """The names of the columns on the right side of the formula."""
        ids = {question.id for question in self.survey.questions}
        return tuple(variables(sides(self.formula)[1], ids.__contains__))

    @cached_property
    def plain(self) -> dict[str, Covariate]:
        """The columns of the formula that are not randomised."""
        known = dict(self.covariates)
        if "cohort" not in known and self.survey.cohorts:
            known["cohort"] = Covariate(self.survey.cohorts, (1 / len(self.survey.cohorts),) * len(self.survey.cohorts))
        found = {}
        for name in (self.outcome, *self.predictors):
            if name in self.questions:
                if self.questions[name].boxes or not self.questions[name].question.has_shares:
                    raise ParameterError(f"formula: {name} must be a question of which a person has one answer")
            elif name not in known:
                ids = ", ".join([*(question.id for question in self.survey.questions), *known])
                raise ParameterError(
                    f"formula: {name} must be a question or a covariate ({ids}); "
                    f"describe it like {name}=young:0.6,old:0.4"
                )
            else:
                found[name] = known[name]
        if self.outcome in found and found[self.outcome].labels:
            raise ParameterError(f"formula: {self.outcome} must be a question or numbers, such as normal:40:10")
        grouped = [name for name, each in self.questions.items() if each.together is not None]
        if self.outcome in grouped or len(grouped) > 1:
            raise ParameterError(
                f"formula: {', '.join(grouped)} answer with others in one response to possible patterns; name one of "
                "them, on the right"
            )
        if self.outcome in self.questions and len(self.questions[self.outcome].shares) != 2:
            raise ParameterError(
                f"formula: {self.outcome} must have two answers to be simulated on the left, got "
                f"{len(self.questions[self.outcome].shares)}; --compare has the power for a difference of cohorts in "
                "each option, and 'deniable plan --options --against' that for one option chosen beforehand. For a "
                "predictor of two answers, exchange the two: their odds ratios are the same in both directions"
            )
        return found

    @cached_property
    def _population(self) -> tuple[pd.DataFrame, NDArray[np.float64], dict[str, NDArray[Any]]]:
        """A frame of all kinds of people, their frequencies, and their values by column."""
        values, frequencies = [], []
        for name in self.predictors:
            each, often = (self.plain.get(name) or self.questions[name]).kinds
            values.append(each)
            frequencies.append(often)
        # Every combination of the columns' values is a kind, so their numbers multiply.
        if math.prod(map(len, values)) > MOST_KINDS:
            raise ParameterError(f"formula: must have covariates of at most {MOST_KINDS:,} kinds of people")
        grids = [grid.ravel() for grid in np.meshgrid(*values, indexing="ij")] if values else []
        often = np.ones(1)
        for each in frequencies:
            often = np.outer(often, each).ravel()
        columns = dict(zip(self.predictors, grids, strict=True))
        return self._frame(columns, len(often)), often, columns

    @cached_property
    def _matrix(self) -> Any:
        """The model matrix of every kind of people; its ``model_spec`` codes samples alike."""
        frame, _, _ = self._population
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model_matrix(sides(self.formula)[1], frame)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The names of the coefficients."""
        _ = self.plain  # says what is wrong with a column
        return tuple(map(str, self._matrix.columns))

    def coded_population(self, formula: str) -> tuple[tuple[str, ...], NDArray[np.float64]]:
        """The terms of a formula, and their values for every kind of people, shape (kinds, terms)."""
        frame, _, _ = self._population
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            coded = model_matrix(sides(formula)[1], frame)
        return tuple(map(str, coded.columns)), np.asarray(coded, dtype=float)

    def _coded(self, values: Mapping[str, NDArray[Any]], people: int) -> NDArray[np.float64]:
        """The model matrix of these people, shape (people, terms)."""
        coded = self._matrix.model_spec.get_model_matrix(self._frame(values, people), na_action="ignore")
        return np.asarray(coded, dtype=float)

    def _frame(self, values: Mapping[str, NDArray[Any]], people: int) -> pd.DataFrame:
        frame = pd.DataFrame(index=range(people))
        for name in self.predictors:
            plain = self.plain.get(name)
            frame[name] = plain.column(values[name]) if plain else self._answers(name, values[name])
        return frame

    def _answers(self, name: str, places: NDArray[Any]) -> pd.Categorical:
        return pd.Categorical.from_codes(places, list(self.questions[name].labels))

    @cached_property
    def coefficients(self) -> dict[str, float]:
        """All true coefficients; the intercept is solved for, so that the share of yes or the mean is the given one."""
        found = {term: float(self.effects.get(term, 0.0)) for term in self.terms}
        matrix, often = np.asarray(self._matrix, dtype=float), self._population[1]
        slope = matrix @ np.array(list(found.values()))
        if "Intercept" not in found:
            return found
        if self.outcome in self.plain:
            found["Intercept"] = self.plain[self.outcome].mean - float(often @ slope)
            return found
        wanted = self.questions[self.outcome].shares[1]
        if not 0 < wanted < 1:
            raise ParameterError(f"truth: must be above 0 and below 1 for {self.outcome}, got {wanted:g}")
        # At these ends all probabilities are below e^-50 or above 1 - e^-50, so that the root lies between.
        reach = float(np.abs(slope).max()) + 50
        # E[expit(a + x'b)] = the wanted share; the left side rises with a, so there is one root.
        found["Intercept"] = float(brentq(lambda a: often @ expit(a + slope) - wanted, -reach, reach, xtol=1e-12))
        return found

    def true_shares(self, name: str) -> dict[str, tuple[float, float]]:
        """The frequency of each label (or answer) of a predictor, and the share of yes among these people."""
        _, often, columns = self._population
        matrix = np.asarray(self._matrix, dtype=float)
        yes = expit(matrix @ np.array(list(self.coefficients.values())))
        found = {}
        for place, label in enumerate((self.plain.get(name) or self.questions[name]).labels):
            here = often * (columns[name] == place)
            found[label] = (float(here.sum()), float(here @ yes / here.sum()) if here.any() else math.nan)
        return found

    @property
    def implied_shares(self) -> list[ImpliedShare]:
        """The share of yes among all people, then for each label of each predictor; none if the outcome is a number.

        >>> from deniable import Question, Survey, Warner
        >>> survey = Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), Warner.from_epsilon(1)),))
        >>> age = {"age": Covariate.parse("old,young")}
        >>> study = Study(survey, "q ~ age", {"age[T.young]": -0.8873}, age, {"q": 0.15})
        >>> [(each.label, round(each.share, 3)) for each in study.implied_shares]
        [(None, 0.15), ('old', 0.204), ('young', 0.096)]
        """
        if self.outcome not in self.questions:
            return []
        labelled = [each for each in self.predictors if each in self.questions or self.plain[each].labels]
        found = [
            ImpliedShare(name, label, people, share)
            for name in labelled
            for label, (people, share) in self.true_shares(name).items()
            if people > 0
        ]
        _, often, _ = self._population
        slope = np.asarray(self._matrix, dtype=float) @ np.array(list(self.coefficients.values()))
        return [ImpliedShare(None, None, 1.0, float(often @ expit(slope))), *found]

    def draw(self, generator: np.random.Generator) -> Table:
        """One sample: its reports and its other columns, as a file would hold them."""
        people = self.respondents
        values: dict[str, NDArray[Any]] = {}
        every = truth_of(self.survey, self.truth)
        # What a group answers in one response belongs together, whatever the formula names of it.
        answers = draw_answers([each for each in every if each.together is not None], people, generator)
        for name in self.predictors:
            if name in self.plain:
                values[name] = self.plain[name].draw(people, generator)
            else:
                truth = self.questions[name]
                drawn = answers[name] if name in answers else truth.draw(people, generator)
                values[name] = drawn - truth.first
        matrix = self._coded(values, people)
        linear = matrix @ np.array(list(self.coefficients.values()))
        columns: dict[str, tuple[str, ...]] = {}
        if self.outcome in self.questions:
            # The logistic model draws the truth; mechanisms randomise it below.
            answers[self.outcome] = (generator.random(people) < expit(linear)).astype(np.int64)
        else:
            number = generator.normal(linear, self.plain[self.outcome].spread)
            columns[self.outcome] = tuple(map(repr, number.tolist()))
        for truth in every:
            name = truth.question.id
            if name in values:
                answers[name] = values[name] + truth.first
            elif name not in answers:
                answers[name] = truth.draw(people, generator)
        # All questions are answered, even if the formula does not name them: devices draw from whole groups.
        kinds = self.misbehaviour.draw(people, generator)
        reports = report_answers(every, answers, kinds, generator)
        for name in self.predictors:
            if name in self.plain:
                covariate = self.plain[name]
                each = values[name].tolist()
                columns[name] = tuple(covariate.labels[x] for x in each) if covariate.labels else tuple(map(repr, each))
        layout = Layout.of_survey(self.survey)
        asked = tuple(each for each in layout.questions if each.name in self.questions)
        for each in asked:
            columns[each.name] = tuple("" if cell is None else str(cell) for cell in column_texts(reports[each.name]))
        return Table.of(columns, replace(layout, questions=asked, cohort=None, cohorts=self.survey.cohorts))

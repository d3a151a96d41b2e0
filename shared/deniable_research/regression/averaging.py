"""Averages over the people of a fit: their shares as they are, or if everybody had some value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from deniable.errors import ParameterError
from deniable_research.regression.formula import Coding, variables
from deniable_statistics.regression.factor import Array
from deniable_statistics.regression.fit import Fit
from deniable_statistics.regression.likelihood import CategoricalOutcome
from deniable_statistics.sampling import Truths

STEP = 1e-5
"""Step of central differences, in standard deviations of the number that is moved."""


@dataclass(frozen=True)
class Setting:
    """What everybody is set to; all else stays as it is.

    Attributes
    ----------
    values : mapping
        Covariates, as the fit got them, and truths of randomised predictors.
    moved : mapping
        What is added to a number.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    moved: Mapping[str, float] = field(default_factory=dict)

    def __and__(self, values: Mapping[str, Any]) -> Setting:
        return Setting({**self.values, **values}, self.moved)

    @property
    def text(self) -> str:
        """As it is written: ``age=30, region=west``.

        >>> Setting({"age": 30.0, "region": "west"}).text
        'age=30, region=west'
        """
        return ", ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in self.values.items())


@dataclass(frozen=True)
class Average:
    """A mean over people, with all that its error comes from; averages add up, and multiply with numbers.

    Attributes
    ----------
    value : ndarray, shape (k,)
        One for each truth of the outcome.
    slope : ndarray, shape (k, parameters)
        Derivatives by the parameters.
    rows : ndarray, shape (n, k)
        What it is the mean of.
    parts : tuple of pairs of float and Setting
        The settings that it is a sum of.
    """

    value: Array
    slope: Array
    rows: Array
    parts: tuple[tuple[float, Setting], ...]

    def __sub__(self, other: Average) -> Average:
        parts = (*self.parts, *(other * -1.0).parts)
        return Average(self.value - other.value, self.slope - other.slope, self.rows - other.rows, parts)

    def __mul__(self, factor: float) -> Average:
        parts = tuple((factor * each, setting) for each, setting in self.parts)
        return Average(self.value * factor, self.slope * factor, self.rows * factor, parts)


@dataclass(frozen=True)
class Averages:
    """Shares of the truths of an outcome, averaged over the people of a fit.

    Of each person the share is that of the truths of the randomised predictors that people with the same covariates
    have, ``sum over x of P(x | z_i) g(z_i, x)``, because nobody knows a single person's. A `Setting` puts the same
    value into every person and leaves the rest, ``P(x | z_i)`` included, as it is.

    Attributes
    ----------
    fit : Fit
        Of a formula, with a categorical outcome.

    Raises
    ------
    ParameterError
        If the outcome is a number, or there is no formula.

    Notes
    -----
    These are the averages and average marginal effects of Stata's ``margins`` [1]_, over truths that nobody sees.

    References
    ----------
    .. [1] R. Williams, "Using the margins command to estimate and interpret adjusted predictions and marginal effects",
       The Stata Journal 12 (2012), 308-331.

    Examples
    --------
    >>> from deniable_research.regression import logistic
    >>> table = {"q": [0, 1, 0, 1], "old": ["a", "a", "b", "b"], "people": [60, 40, 30, 70]}
    >>> averages = Averages(logistic("q ~ old", table, (1, 0), frequencies="people"))
    >>> averages.shares().value.round(4).tolist(), averages.change("old", "b", "a").value.round(4).tolist()
    ([0.45, 0.55], [-0.3, 0.3])
    """

    fit: Fit

    def __post_init__(self) -> None:
        if not isinstance(self.fit.model.outcome, CategoricalOutcome):
            raise ParameterError(
                "predict: must be asked of a logistic or multinomial model, got a linear one, whose coefficients are "
                "effects already"
            )
        if self.outcome.certain is not None:
            raise ParameterError(
                "predict: must be asked of an outcome that applies to everybody, got one that a predictor filters; its "
                "coefficients are about those to whom it applies"
            )
        if not self.fit.sample.frame.formula:
            raise ParameterError("predict: must be asked of the fit of a formula, got one of arrays")

    @property
    def outcome(self) -> CategoricalOutcome:
        """The outcome of the model."""
        outcome = self.fit.model.outcome
        assert isinstance(outcome, CategoricalOutcome)
        return outcome

    @property
    def truths(self) -> tuple[str, ...]:
        """The truths of the outcome."""
        return self.outcome.reports.truths

    @property
    def randomised(self) -> Mapping[str, Sequence[str]]:
        """The truths of each randomised predictor."""
        return self.fit.model.cells.truths

    @property
    def variables(self) -> list[str]:
        """What the outcome depends on, in the order of the formula."""
        return variables(self.fit.sample.frame.formula, self.randomised.__contains__)

    def is_number(self, name: str) -> bool:
        """Whether a variable is a number that the formula takes as one, without ``C(...)``."""
        return name not in self.randomised and not self._is_category(name) and self._column(name).dtype.kind in "biuf"

    def levels(self, name: str) -> list[Any]:
        """What a variable may be set to: truths, or the values of a category, in their order."""
        if name in self.randomised:
            return list(self.randomised[name])
        return sorted(pd.unique(self._column(name)).tolist())

    def checked(self, setting: Setting) -> Setting:
        """The setting with numbers as numbers.

        Raises
        ------
        ParameterError
            If it names no variable of the formula, or a value that nobody has or no number.
        """
        return Setting({name: self._value(name, value) for name, value in setting.values.items()}, setting.moved)

    def shares(self, setting: Setting | None = None) -> Average:
        """The average share of each truth."""
        return self._average(setting or Setting(), self.fit.params, self.fit.model.weights)

    def slope(self, name: str, setting: Setting | None = None) -> Average:
        """The average derivative of the shares by a number."""
        base = setting or Setting()
        above, below = self._beside(name, base)
        step = above.moved[name] - below.moved[name]
        return (self.shares(above) - self.shares(below)) * (1 / step)

    def change(self, name: str, value: Any, reference: Any, setting: Setting | None = None) -> Average:
        """The average change of the shares from one value of a variable to another."""
        base = setting or Setting()
        return self.shares(base & {name: value}) - self.shares(base & {name: reference})

    def _beside(self, name: str, base: Setting) -> tuple[Setting, Setting]:
        spread = float(np.std(self._column(name).astype(float)))
        # a central difference errs by step^2 / 6 of the third derivative, and by rounding over the step
        step = STEP * (spread or 1.0)
        return Setting(base.values, {name: step}), Setting(base.values, {name: -step})

    def covariance(self, averages: Sequence[Average]) -> Array:
        """Covariance of averages, truth by truth within each.

        Parameters
        ----------
        averages : sequence of Average
            m of them, of k truths.

        Returns
        -------
        ndarray, shape (m k, m k)
            NaN where something that the data do not bound has a part in an average.

        Notes
        -----
        The people are a sample, so an average varies with its parameters and with who was drawn. Of row i it has the
        influence ``J A s_i + (h_i - mean) / W``: ``A`` the inverse of the information, ``s_i`` the score, ``J`` the
        derivatives, ``h_i`` what the average is of and ``W`` the sum of weights. Of independent people who count
        alike the two parts do not covary if the model is right, and the first has the variance ``J A J'`` (the delta
        method). What says the same of everybody has the first alone. Under replicate weights everything is done again.
        """
        fit = self.fit
        slope = np.concatenate([each.slope for each in averages])
        rows = np.concatenate([each.rows for each in averages], axis=1)
        value = np.concatenate([each.value for each in averages])
        weights = fit.model.weights
        people = weights.sum()

        def under(other: Array) -> Array:
            # under replicate weights both the parameters and the people averaged over change
            params = fit._refit(other)
            every = [
                self._average(setting, params, other).value * factor
                for each in averages
                for factor, setting in each.parts
            ]
            # averages are sums of settings with factors; add up those of each average
            starts = np.cumsum([0, *(len(each.parts) for each in averages)])[:-1]
            return np.asarray(np.add.reduceat(every, starts)).ravel()

        if (replicated := fit.sample.replicated(value, under)) is not None:
            return np.asarray(replicated)
        inverse = fit._bread()
        known = np.isfinite(np.diag(inverse))
        # a share at 0 or 1 counts as known; any other term without a variance makes an average unknown
        loose = [j for j in np.flatnonzero(~known) if j not in fit._at_end]
        lost = (np.abs(slope[:, loose]) > 1e-12 * np.abs(slope).max(initial=1e-300)).any(axis=1)
        bread = inverse[np.ix_(known, known)]
        moved = bread @ slope[:, known].T
        # h_i - mean, what one person adds to the mean
        apart = (rows - value) / people
        if fit.cov_type == "observed":
            # J A J' + sum w (h_i - mean)^2 / W^2
            found = slope[:, known] @ moved + (apart.T * weights) @ apart
        else:
            # J A s_i + (h_i - mean) / W
            influence = fit.model.scores(fit.params)[:, known] @ moved + apart
            found = fit.sample.meat(influence, self._truths(known, moved, apart))
        found[lost, :] = found[:, lost] = np.nan
        return np.asarray(found)

    def _truths(self, known: NDArray[np.bool_], moved: Array, apart: Array) -> Truths | None:
        """What influences would be without the chance of the devices."""
        truths = self.fit._truths
        return None if truths is None else Truths(truths.scores, truths.values[:, :, known] @ moved + apart[:, None])

    def _average(self, setting: Setting, params: Array, weights: Array) -> Average:
        model, outcome = self.fit.model, self.outcome
        places = model.places
        size, classes = outcome.regressors.size, outcome.classes
        rows = np.empty((len(weights), classes + 1))
        slope = np.zeros((classes + 1, len(model.terms)))
        share = weights / weights.sum()
        for block in model.blocks():
            values = self._values(setting, block)
            g = outcome.shares(params, values)
            often = model.shares.at(params[places[1]], block)
            # sum over x of P(x | z_i) g(z_i, x)
            rows[block] = (often.value[:, :, None] * g).sum(axis=1)
            part = share[block, None] * often.value
            for c in range(classes):
                # d g_y / d eta_c = g_y ([y = c] - g_c)
                off = -g * g[:, :, c + 1, None]
                off[:, :, c + 1] += g[:, :, c + 1]
                here = slice(places[0].start + c * size, places[0].start + (c + 1) * size)
                slope[:, here] += np.einsum("nx,nxy,nxp->yp", part, off, values, optimize=True)
            if places[1].start < places[1].stop:
                # the shares of cells have parameters of their own, on which the average depends too
                turned = often.gradient()
                slope[:, places[1]] += np.einsum("n,nxy,nxq->yq", share[block], g, turned, optimize=True)
        return Average(share @ rows, slope, rows, ((1.0, setting),))

    def _values(self, setting: Setting, rows: slice) -> Array:
        """The regressors of some rows under every cell, shape (rows, cells, p)."""
        regressors, cells = self.outcome.regressors, self.fit.model.cells
        if not setting.values and not setting.moved:
            # people as they are: the columns of the fit
            return regressors.values(rows)
        # otherwise the formula is coded anew, because interactions and splines move with their variable
        table = self.fit.sample.frame.table.iloc[rows]
        table = table.assign(**{name: table[name].astype(float) + step for name, step in setting.moved.items()})
        plain = {name: value for name, value in setting.values.items() if name not in self.randomised}
        moved = setting.moved
        table = table.assign(**{name: _like(table[name], value, moved.get(name, 0.0)) for name, value in plain.items()})
        coded: dict[tuple[str, ...], Array] = {}
        found = []
        for x in range(cells.size):
            names = {name: truths[cells.digits[name][x]] for name, truths in self.randomised.items()}
            names |= {name: value for name, value in setting.values.items() if name in self.randomised}
            # cells that a setting makes alike are coded once
            key = tuple(names.values())
            if key not in coded:
                coded[key] = regressors.code(table.assign(**names))
            found.append(coded[key])
        return np.stack(found, axis=1)

    def _column(self, name: str) -> Any:
        return self.fit.sample.frame.table[name]

    def _is_column(self, name: str) -> bool:
        return name in self.fit.sample.frame.table.columns

    def _is_category(self, name: str) -> bool:
        """Whether a formula takes a column as a category, whatever stands there."""
        coding = self.outcome.regressors.coding
        assert isinstance(coding, Coding)
        for factor, state in coding.spec.encoder_state.items():
            if state[0].value == "categorical":
                plain = str(factor).strip("`")
                if plain == name or name in variables(str(factor), self._is_column):
                    return True
        return False

    def _value(self, name: str, value: Any) -> Any:
        if name not in self.variables:
            raise ParameterError(
                f"at: must name variables of the formula ({', '.join(self.variables)}), got {name!r:.40}"
            )
        if self.is_number(name):
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise ParameterError(f"at: {name} must be a number, got {value!r:.40}") from None
            if not np.isfinite(number):
                raise ParameterError(f"at: {name} must be a finite number, got {value!r:.40}")
            return number
        # truths and categories by value, or as people write them: 30 for 30.0
        levels = self.levels(name)
        for level in levels:
            if level == value or str(level) == str(value) or (isinstance(level, float) and f"{level:g}" == str(value)):
                return level
        shown = ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in levels[:12])
        raise ParameterError(f"at: {name} must be one of {shown}, got {str(value)!r:.40}")


def _like(column: Any, value: Any, step: float) -> Any:
    """A column of one value."""
    return pd.Series([value + step if step else value] * len(column), index=column.index)

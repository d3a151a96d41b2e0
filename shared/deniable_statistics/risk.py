"""The privacy risk of an epsilon: the epsilon of a channel, and bounds on what an attacker can guess about a person.

Throughout, ``E = exp(epsilon)``. The *prior* is an attacker's probability of a guess before seeing a report, the
*posterior* the probability afterwards, and the *advantage* their difference, in [0, 1]. Every figure is an upper bound
that holds for any attacker, any report and any mechanism of this epsilon.

References
----------
P. Laud, A. Pankova, "Interpreting epsilon of differential privacy in terms of advantage in guessing or
approximating sensitive attributes", arXiv:1911.12777.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from deniable.errors import ParameterError, check_kind, describe
from deniable.exact import Number, factor_above, log_above, rational
from deniable.mechanisms import Mechanism
from deniable.privacy.ledger import Ledger, as_loss
from deniable_statistics.designs.channels import channel_of


def likelihood_ratio(matrix: Sequence[Sequence[Number]]) -> Fraction | float:
    """The largest ratio of the probabilities of any response under any two truths.

    Parameters
    ----------
    matrix : shape (responses, truths)
        ``matrix[r][x] = P(response r | truth x)``; columns add up to 1 (exactly, or to 1e-9 if floats are among them).

    Returns
    -------
    Fraction or inf
        Infinite if some response is possible under one truth and impossible under another.

    Examples
    --------
    >>> likelihood_ratio([["3/4", "1/4"], ["1/4", "3/4"]])
    Fraction(3, 1)
    >>> likelihood_ratio([[1, 0.3], [0, 0.7]])
    inf
    """
    check_kind(matrix, Iterable, "matrix")
    for row in matrix:
        check_kind(row, Iterable, "each row of the matrix")
    rows = [[rational(each, f"matrix[{r}][{x}]") for x, each in enumerate(row)] for r, row in enumerate(matrix)]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise ParameterError(f"matrix: must have rows of one length, got {len(rows)} rows")
    # Fractions add up to exactly 1; floats may miss it by rounding.
    slack = Fraction(1, 10**9) if any(isinstance(each, float) for row in matrix for each in row) else 0
    for x, column in enumerate(zip(*rows, strict=True)):
        if min(column) < 0 or abs(sum(column) - 1) > slack:
            raise ParameterError(
                f"matrix: column {x} must hold probabilities that add up to 1, got a sum of {float(sum(column)):.10g}"
            )
    possible = [row for row in rows if any(row)]
    # A response that is impossible under one truth rules this truth out.
    if any(min(row) == 0 for row in possible):
        return math.inf
    # In fractions: rounding would make a ratio of exactly 3 a little more.
    return max(max(row) / min(row) for row in possible)


def epsilon_of(matrix: Sequence[Sequence[Number]]) -> float:
    """The epsilon of any channel: the logarithm of its `likelihood_ratio`, rounded up to the next float.

    >>> epsilon_of([["3/4", "1/4"], ["1/4", "3/4"]]) == math.log(3)
    True
    """
    ratio = likelihood_ratio(matrix)
    return log_above(ratio) if isinstance(ratio, Fraction) else ratio


def shared_by(people: int, ledger: Ledger) -> Ledger:
    """The ledger of a secret that ``people`` share and all report: each loss counts once for each of them.

    >>> shared_by(3, Ledger().add("affair", 1.0).add("weekly mood", 0.25, count=4)).epsilon
    6.0
    """
    if type(people) is not int or people < 1:
        raise ParameterError(f"people: must be an integer of at least 1, got {describe(people)}")
    return Ledger(tuple(replace(entry, count=entry.count * people) for entry in ledger.entries))


def posterior(prior: float, epsilon: float) -> float:
    """The largest probability of a guess after a report: ``prior E / (prior E + 1 - prior)``.

    Notes
    -----
    By Bayes' theorem the odds change by the ratio of the report's probability if the guess is right to the one if it is
    wrong. Both are averages over truths, so that the ratio is at most ``E``. The guess may be one value, a set of
    values (a range, *not heterosexual*), or any statement about the true answer.

    Examples
    --------
    Odds 1 : 9 become 3 : 9:

    >>> round(posterior(0.1, math.log(3)), 12)
    0.25
    """
    pi, loss = _probability(prior, "prior"), as_loss(epsilon)
    # Divided by E, so that a large epsilon does not overflow.
    return pi / (pi + (1 - pi) * math.exp(-loss)) if pi else 0.0


def guessing_advantage(prior: float, epsilon: float) -> float:
    """The largest increase of a guess's probability by a report: `posterior` minus ``prior``, without cancellation.

    >>> round(guessing_advantage(0.1, math.log(3)), 12)
    0.15
    """
    pi, loss = _probability(prior, "prior"), as_loss(epsilon)
    if pi in (0, 1):
        return 0.0
    # pi (1 - pi) (E - 1) / (pi E + 1 - pi), divided by E; expm1 keeps the digits of a small epsilon.
    return pi * (1 - pi) * -math.expm1(-loss) / (pi + (1 - pi) * math.exp(-loss))


def worst_prior(epsilon: float) -> float:
    """The prior with the largest guessing advantage: ``1 / (1 + exp(epsilon / 2))``."""
    # 1 / (1 + sqrt(E)), both divided by sqrt(E), so that a large epsilon does not overflow.
    half = math.exp(-as_loss(epsilon) / 2)
    return half / (1 + half)


def worst_advantage(epsilon: float) -> float:
    """The largest guessing advantage over all priors: ``tanh(epsilon / 4)``.

    >>> round(worst_advantage(1.3), 4)
    0.314
    """
    # posterior - prior at the worst prior: (sqrt(E) - 1) / (sqrt(E) + 1) = tanh(epsilon / 4).
    return math.tanh(as_loss(epsilon) / 4)


def epsilon_for_advantage(advantage: float, prior: float | None = None) -> float:
    """The largest epsilon with at most this advantage: inverse of `guessing_advantage` or `worst_advantage`.

    Parameters
    ----------
    advantage : float
        At least 0, and below 1 or ``1 - prior``.
    prior : float, optional
        Above 0 and below 1; by default the epsilon is for the worst prior.

    Notes
    -----
    ``4 artanh(advantage)`` for the worst prior ``(1 - advantage) / 2``, otherwise
    ``ln((1 - pi) / pi (pi + eta) / (1 - pi - eta))``, computed as ``log1p(eta / pi) - log1p(-eta / (1 - pi))`` so that
    small advantages keep their digits.

    Examples
    --------
    >>> round(epsilon_for_advantage(0.3140, prior=None), 2)
    1.3
    >>> round(epsilon_for_advantage(0.15, prior=0.1), 4)     # ln 3
    1.0986
    """
    eta = _probability(advantage, "advantage")
    if prior is None:
        if eta == 1:
            raise ParameterError("advantage: must be below 1, which no finite epsilon reaches, got 1")
        # tanh(epsilon / 4) = eta, solved for epsilon.
        return 4 * math.atanh(eta)
    pi = _probability(prior, "prior")
    if not 0 < pi < 1:
        raise ParameterError(f"prior: must be above 0 and below 1, got {prior}")
    if eta >= 1 - pi:
        raise ParameterError(f"advantage: must be below 1 - prior = {1 - pi:g}, which is all there is, got {advantage}")
    return math.log1p(eta / pi) - math.log1p(-eta / (1 - pi))


def epsilon_at(mechanism: Mechanism, distance: int) -> float:
    """The privacy loss between two numbers ``distance`` apart, from the largest ratio of a report's weights.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism whose answers are a range of numbers or numbered options.
    distance : int
        At least 0; at most the width of the range.

    Returns
    -------
    float
        In nats, rounded up to the next float. Geometric and Laplace noise hide neighbours better than the two ends:
        before their weights are rounded to integers, this is ``epsilon distance / width``. Rounding matters where
        weights are small, so the formula is not an upper bound.

    Examples
    --------
    >>> from deniable import Geometric
    >>> noise = Geometric.from_epsilon(0, 10, epsilon=2)
    >>> round(epsilon_at(noise, 1), 6), epsilon_at(noise, 10) == noise.epsilon
    (0.2, True)
    """
    answers = mechanism.answer_range
    if not mechanism.reports.supports_one:
        raise ParameterError(f"mechanism {mechanism.name}: must have answers on a line, where they are some way apart")
    if type(distance) is not int or not 0 <= distance < len(answers):
        raise ParameterError(f"distance: must be an integer from 0 to {len(answers) - 1}, got {distance}")
    largest = Fraction(1)
    for column in channel_of(mechanism):
        # Floats find the few pairs that can be the largest; exact fractions decide.
        pairs = list(zip(column, column[distance:], strict=False))
        logs = [abs(math.log(one) - math.log(other)) for one, other in pairs]
        near = max(logs) - 1e-9
        ratios = (max(one / other, other / one) for (one, other), log in zip(pairs, logs, strict=True) if log >= near)
        largest = max(largest, *ratios)
    return log_above(largest)


def range_advantage(epsilon: float, precision: float, width: float, by_distance: bool = False) -> float:
    """The largest advantage in guessing a number to within ``precision``, if the prior is uniform on its range.

    Parameters
    ----------
    epsilon : float
        Loss between any two numbers of the range; with ``by_distance``, between its two ends.
    precision : float
        Largest distance between guess and number at which the guess is right.
    width : float
        Width ``hi - lo`` of the range.
    by_distance : bool
        Whether the loss between two numbers is ``epsilon`` times their distance over ``width``.

    Notes
    -----
    A guess is an interval of share ``u = min(1, 2 precision / width)`` of the range, so its prior is ``u``.

    *Any mechanism*: the statement *the number is in the interval* is a guess like any other, so its posterior is
    at most ``u E / (u E + 1 - u)``, the bound of `posterior`; under any prior other than the uniform one
    ``guessing_advantage`` of the interval's own prior holds, and `worst_advantage` whatever the prior.

    *By distance*: the report's likelihood ``g`` over the range, scaled to [0, 1], obeys
    ``|ln g(x) - ln g(x')| <= epsilon |x - x'|``. For an interval the posterior ``int_I g / int g`` is largest where
    ``g`` falls as fast as it may on both sides of a top ``c`` within the interval, ``g(x) = exp(-epsilon |x - c|)``.
    With the top a distance ``d`` from the nearer end and the interval reaching to that end, put
    ``y = exp(epsilon d)``: the posterior is ``1 - (exp(-epsilon u) - exp(-epsilon)) / (2/y - 1/y^2 - exp(-epsilon))``,
    and ``2/y - 1/y^2`` is largest at ``y = 1``. So the end of the range is guessed best, with posterior
    ``(1 - exp(-epsilon u)) / (1 - exp(-epsilon))``, and some report attains it. This needs the uniform prior: if
    only the two ends are possible beforehand, distance protects nothing.

    Whole numbers ``lo .. hi`` are cells of width 1: give ``precision + 1/2``, ``width = hi - lo + 1`` and, by
    distance, ``epsilon (hi - lo + 1) / (hi - lo)``, because the far edges are one cell further apart. The integers that
    a survey publishes follow the rule only nearly: ``(hi - lo + 1) epsilon_at(mechanism, 1)`` is a bound for them.

    Examples
    --------
    A number in 0 .. 100 within +-5, epsilon 1: 10 % by guessing, 23.2 % or 15.1 % afterwards:

    >>> round(range_advantage(1.0, 5, 100), 4), round(range_advantage(1.0, 5, 100, by_distance=True), 4)
    (0.132, 0.0505)
    """
    loss, near, whole = as_loss(epsilon), _length(precision, "precision"), _length(width, "width")
    if whole == 0:
        raise ParameterError("width: must be above 0, got 0")
    # u, the interval around the guess as a part of the range, is also the prior of a right guess.
    u = min(1.0, 2 * near / whole)
    if not by_distance:
        return guessing_advantage(u, loss)
    if loss == 0 or u == 0:
        return 0.0
    # (1 - exp(-epsilon u)) / (1 - exp(-epsilon)) - u; rounding may leave less than 0.
    return max(0.0, math.expm1(-loss * u) / math.expm1(-loss) - u)


def all_advantage(priors: Sequence[float], epsilon: float | Sequence[float], independent: bool = True) -> float:
    """The largest advantage in guessing *all* of several attributes of a person.

    Parameters
    ----------
    priors : sequence of float
        Prior probability of the guessed value of each attribute.
    epsilon : float or sequence of float
        Privacy loss of each attribute's report: one for all, or one for each.
    independent : bool
        Whether the attributes are independent in the prior; False if they may depend on each other.

    Notes
    -----
    Reports are drawn independently given the attributes, as all mechanisms of this package draw them.

    *Independent attributes* stay independent afterwards, so the posterior of all is the product of the posteriors,
    each at most `posterior`; the advantage is at most ``prod posterior(pi_i, epsilon_i) - prod pi_i``, attained
    if each bound is.

    *Dependent attributes*: *all are right* is one statement about one person who loses ``sum epsilon_i``. Its
    prior lies between ``max(0, sum pi_i - m + 1)`` and ``min pi_i`` (Frechet), and the guessing advantage grows
    with the prior up to `worst_prior` and falls thereafter; the bound is its top in that range.

    Examples
    --------
    Two attributes of prior 1/2 at ln 3: (3/4)^2 - (1/2)^2 = 5/16:

    >>> round(all_advantage([0.5, 0.5], math.log(3)), 6)
    0.3125
    """
    pi, losses = _attributes(priors, epsilon)
    if independent:
        # prod posterior_i - prod pi_i: independent before and, given independent reports, after.
        return math.prod(map(posterior, pi, losses)) - math.prod(pi)
    return _top_advantage(max(0.0, math.fsum(pi) - len(pi) + 1), min(pi), math.fsum(losses))


def any_advantage(priors: Sequence[float], epsilon: float | Sequence[float], independent: bool = True) -> float:
    """The largest advantage in guessing *at least one* of several attributes of a person.

    The parameters are those of `all_advantage`.

    Notes
    -----
    *Independent*: all guesses fail with probability at least ``prod (1 - posterior_i)`` afterwards and exactly
    ``prod (1 - pi_i)`` before; the advantage is at most the difference. *Dependent*: one statement, loss
    ``sum epsilon_i``, prior between ``max pi_i`` and ``min(1, sum pi_i)``, as for `all_advantage`.

    Examples
    --------
    (1/2)^2 - (1/4)^2 = 3/16:

    >>> round(any_advantage([0.5, 0.5], math.log(3)), 6)
    0.1875
    """
    pi, losses = _attributes(priors, epsilon)
    if independent:
        after = math.prod(1 - posterior(each, loss) for each, loss in zip(pi, losses, strict=True))
        # P(at least one is right) rises by as much as P(none is right) falls.
        return math.prod(1 - each for each in pi) - after
    return _top_advantage(max(pi), min(1.0, math.fsum(pi)), math.fsum(losses))


def odds_of(epsilon: float, subject: str = "One report") -> tuple[str, ...]:
    """The meaning of an epsilon in sentences; figures are rounded up.

    >>> for sentence in odds_of(math.log(3)):
    ...     print(sentence)
    One report changes the odds of any guess by a factor of at most 3.
    A guess that was 10 % likely before is at most 25 % likely afterwards.
    No guess becomes likelier by more than 26.8 percentage points, whatever was known before.
    """
    loss = as_loss(epsilon)
    if loss == 0:
        return (f"{subject} tells nothing about the answer.",)
    if loss == math.inf:
        return (f"{subject} can prove an answer: no factor bounds how much the odds of a guess change.",)
    return (
        f"{subject} changes the odds of any guess by a factor of at most {factor(loss)}.",
        f"A guess that was 10 % likely before is at most {_above(100 * posterior(0.1, loss))} % likely afterwards.",
        f"No guess becomes likelier by more than {_above(100 * worst_advantage(loss))} percentage points, "
        "whatever was known before.",
    )


def factor(epsilon: float) -> str:
    """The factor ``exp(epsilon)`` as respondents read it, rounded up.

    >>> factor(math.log(3)), factor(1.0), factor(500), factor(math.inf)
    ('3', '2.8', '10^218', 'infinity')
    """
    loss = as_loss(epsilon)
    if loss == math.inf:
        return "infinity"
    if loss >= math.log(1e9):
        # Above a billion, as a power of ten, which is easier to read.
        return f"10^{math.ceil(loss / math.log(10))}"
    return factor_above(Fraction(math.exp(loss) * (1 - 1e-12)))  # where only floating point is in the way


def _top_advantage(low: float, high: float, epsilon: float) -> float:
    """The largest guessing advantage over priors in [low, high]."""
    # The advantage rises up to the worst prior and falls beyond, so its maximum is at the nearest prior in range.
    return guessing_advantage(min(max(worst_prior(epsilon), low), high), epsilon)


def _attributes(priors: Sequence[float], epsilon: float | Sequence[float]) -> tuple[list[float], list[float]]:
    check_kind(priors, Iterable, "priors")
    pi = [_probability(each, f"priors[{i}]") for i, each in enumerate(priors)]
    losses = [as_loss(each) for each in epsilon] if isinstance(epsilon, Sequence) else [as_loss(epsilon)] * len(pi)
    if not pi or len(losses) != len(pi):
        raise ParameterError(f"priors: must be at least one, with one epsilon each, got {len(pi)} and {len(losses)}")
    return pi, losses


def _above(value: float) -> str:
    """A value with three digits, rounded up; an excess of less than 1e-12, from floating point, is ignored."""
    digits = Context(prec=3, rounding=ROUND_CEILING).create_decimal(Decimal(value * (1 - 1e-12)))
    return f"{float(digits):,.10g}"


def _length(value: float, subject: str) -> float:
    number = float(rational(value, subject))
    if number < 0:
        raise ParameterError(f"{subject}: must be 0 or above, got {value}")
    return number


def _probability(value: float, subject: str) -> float:
    number = float(rational(value, subject))
    if not 0 <= number <= 1:
        raise ParameterError(f"{subject}: must be a probability in [0, 1], got {value}")
    return number


__all__ = [
    "all_advantage",
    "any_advantage",
    "epsilon_at",
    "epsilon_for_advantage",
    "epsilon_of",
    "factor",
    "guessing_advantage",
    "likelihood_ratio",
    "odds_of",
    "posterior",
    "range_advantage",
    "shared_by",
    "worst_advantage",
    "worst_prior",
]

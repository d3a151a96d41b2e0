"""How far made-up reports can move an estimate."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from deniable.errors import ParameterError
from deniable.estimation.design import Design
from deniable.exact import Number, rational

if TYPE_CHECKING:
    from deniable.estimation.support import Support


def fake_margins(design: Design, fraction: float = 0.01) -> tuple[float, ...]:
    """How far people who send made-up reports can move each share: `fake_margin` for any design.

    Parameters
    ----------
    design : Design
    fraction : float
        Share of the reports that are fake; where a design has groups, in each of them.

    Returns
    -------
    tuple of float, length truths
        Largest change of each estimated share, in share points.

    Notes
    -----
    The estimate is the mean of scores, so a fake that replaces a report moves it by the difference of two scores over
    ``n``. Where a report supports an option or does not, that is ``1 / |p - q|``; elsewhere the largest weight of the
    debiasing map minus the smallest one.

    Examples
    --------
    Two fair coins as in `fake_margin`; noise over a range of eleven numbers at epsilon 1 leaves a
    share of one number to whoever sends 1 % of the reports:

    >>> from deniable import Geometric, TwoCoin
    >>> fake_margins(TwoCoin("1/2", "1/2"))
    (0.02, 0.02)
    >>> round(max(fake_margins(Geometric.from_epsilon(0, 10, 1))), 1)
    3.0
    """
    if design.support is not None:
        return tuple(_margin(support, fraction) for support in design.support)
    return tuple(fraction * float(each) for each in design.reach(design.debiasing.weights))


def fake_margin(support_if_true: Number, support_if_other: Number, fraction: float = 0.01) -> float:
    """How far people who send made-up reports can move a share: ``fraction / |p - q|``.

    Parameters
    ----------
    support_if_true, support_if_other : number
        ``p`` and ``q``: how likely a report supports the option if it is the truth, and if another one is.
    fraction : float
        Share of the reports that are fake.

    Returns
    -------
    float
        Largest change of the estimated share, in share points (0.02 is two percentage points).

    Notes
    -----
    Fakes that all support the option, or none, instead of reports that do the opposite, move ``C / n`` by
    ``fraction``, and debiasing divides by ``p - q``: a local mechanism multiplies what a fake can do, the more
    the smaller its epsilon [1]_. Publish the margin beside the interval.

    References
    ----------
    .. [1] A. Cheu, A. Smith, J. Ullman, "Manipulation attacks in local differential privacy", IEEE Symposium on
       Security and Privacy 2021, 883-900.

    Examples
    --------
    Two fair coins, 1 % of fakes: 0.01 / (3/4 - 1/4):

    >>> fake_margin("3/4", "1/4")
    0.02
    """
    p, q = rational(support_if_true, "support_if_true"), rational(support_if_other, "support_if_other")
    fakes = rational(fraction, "fraction")
    for value, subject in ((p, "support_if_true"), (q, "support_if_other"), (fakes, "fraction")):
        if not 0 <= value <= 1:
            raise ParameterError(f"{subject}: must be a probability in [0, 1], got {float(value):g}")
    if p == q:
        raise ParameterError(f"support_if_other: must differ from support_if_true, got {float(q):g} for both")
    return float(fakes / abs(p - q))


@lru_cache(maxsize=256)
def _margin(support: Support, fraction: float) -> float:
    return fake_margin(*support, fraction)

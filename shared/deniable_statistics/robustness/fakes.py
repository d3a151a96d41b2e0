"""How far made-up reports can move a share, from two probabilities alone."""

from __future__ import annotations

from deniable.errors import ParameterError
from deniable.exact import Number, rational


def fake_margin(support_if_true: Number, support_if_other: Number, fraction: float = 0.01) -> float:
    """How far people who send made-up reports can move a share: ``fraction / |p - q|``.

    Fakes that all support the option, or none, instead of reports that do the opposite, move the share of supporting
    reports by ``fraction``, and debiasing divides by ``p - q``; see `deniable_statistics.estimates.fakes.fake_margins`.

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

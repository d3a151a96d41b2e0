"""What tests of a share have in common: level, alternative, and the power of a normal estimate."""

from __future__ import annotations

from statistics import NormalDist

from deniable.errors import ParameterError

ALTERNATIVES = ("two-sided", "greater", "less")


def check_level(level: float) -> float:
    """Return the level of a test if it is above 0 and below 1."""
    if not 0 < level < 1:
        raise ParameterError(f"level: must be above 0 and below 1, got {level}")
    return level


def check_test(power: float | None, level: float, alternative: str) -> None:
    """Raise a ParameterError unless a test can have this power, level and alternative."""
    check_level(level)
    if alternative not in ALTERNATIVES:
        raise ParameterError(f"alternative: must be one of {', '.join(ALTERNATIVES)}, got {alternative!r}")
    if power is not None and not level < power < 1:
        raise ParameterError(
            f"power: must be below 1 and above the level {level:g}, which a test has without any people, got {power}"
        )


def normal_power(effect: float, null_error: float, error: float, level: float, alternative: str) -> float:
    """The probability that a normal estimate rejects: the tails beyond ``z null_error``, around ``effect``.

    >>> round(normal_power(0.0, 1.0, 1.0, 0.05, "two-sided"), 12)       # nothing to be found
    0.05
    """
    z = -NormalDist().inv_cdf(level / 2 if alternative == "two-sided" else level)
    above, below = (_tail(sign * effect - z * null_error, error) for sign in (1, -1))
    return {"two-sided": above + below, "greater": above, "less": below}[alternative]


def check_direction(share: float, other: float, alternative: str) -> None:
    """Raise a ParameterError if the shares do not differ, or not in the direction of the alternative."""
    if share == other:
        raise ParameterError(f"shares: must differ from each other, got {other:g} for both")
    if alternative != "two-sided" and (share > other) != (alternative == "greater"):
        raise ParameterError(f"alternative: must be the side on which {share:g} is of {other:g}, got {alternative!r}")


def unreachable(farthest: str, reached: float, target: float) -> ParameterError:
    """The error where no difference is large enough."""
    return ParameterError(
        f"power: even {farthest} is found with power {reached:.2g} only, not {target:g}; "
        "ask more people or take more epsilon"
    )


def _tail(distance: float, error: float) -> float:
    if error == 0:  # asked directly, and the truth is that everybody says the same
        return float(distance > 0)
    return NormalDist().cdf(distance / error)

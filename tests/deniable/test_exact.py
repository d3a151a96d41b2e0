"""Numbers as people write them: what is read, what is refused and in what words, and every rounding on its edge."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from deniable import ParameterError, Warner
from deniable.errors import describe
from deniable.exact import (
    LARGEST_EPSILON,
    chances_above,
    checked_weight,
    exp_below,
    factor_above,
    floor_weight,
    is_truth_value,
    log_above,
    number_hint,
    of_100,
    positive_epsilon,
    probability,
    rational,
    refuse_costly_rounding,
    right_of_100,
    sum_above,
    weight_towards_half,
)

UNIT = 2**32
NUMBER = "p: must be a number like 0.5 or a fraction like 1/2"


def refusal(read: Any, *arguments: Any) -> str:
    with pytest.raises(ParameterError) as caught:
        read(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("1/2", Fraction(1, 2)),
        (" 0.8 ", Fraction(4, 5)),
        (0.1, Fraction(1, 10)),
        (Decimal("1e100"), Fraction(10**100)),
        (Decimal("1e-100"), Fraction(1, 10**100)),
        ("0." + "3" * 98, Fraction(int("3" * 98), 10**98)),
        (Fraction(2, 3), Fraction(2, 3)),
        (7, Fraction(7)),
    ],
)
def test_numbers_are_read_exactly(value: Any, number: Fraction) -> None:
    assert rational(value, "p") == number


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (True, f"{NUMBER}, got {describe(True)}"),
        (None, f"{NUMBER}, got {describe(None)}"),
        ("0." + "3" * 99, f"{NUMBER}, got 101 characters"),
        (Decimal("1e101"), f"{NUMBER}, got '1E+101'"),
        (Decimal("1e-101"), f"{NUMBER}, got '1E-101'"),
        ("1/0", f"{NUMBER}, got '1/0'"),
        ("nan", f"{NUMBER}, got 'nan'"),
        ("0,5", f"{NUMBER}, got '0,5'; write a decimal point: 0.5"),
        ("12.5 %", f"{NUMBER}, got '12.5 %'; write 0.125 for 12.5 %"),
        ("some", f"{NUMBER}, got 'some'"),
    ],
)
def test_other_things_are_refused_in_words(value: Any, sentence: str) -> None:
    assert refusal(rational, value, "p") == sentence


def test_hints_are_for_commas_and_percentages_only() -> None:
    assert number_hint("-1,25") == "; write a decimal point: -1.25"
    assert number_hint("7%") == "; write 0.07 for 7 %"
    assert number_hint("7") == number_hint("1,2,3") == ""


def test_epsilons_are_above_0_and_at_most_the_largest() -> None:
    assert positive_epsilon(LARGEST_EPSILON) == 22
    assert positive_epsilon("1e-9") == Fraction(1, 10**9)
    for value in (0, "-1", "22.0000001"):
        assert refusal(positive_epsilon, value) == f"epsilon: must be above 0 and at most 22, got {value}"
    long = "23." + "0" * 60
    assert refusal(positive_epsilon, long) == f"epsilon: must be above 0 and at most 22, got {long[:40]}"
    assert refusal(positive_epsilon, "x").startswith("epsilon: must be a number")


def test_probabilities_leave_both_outcomes_possible() -> None:
    assert probability(2, "p") == Fraction(2, UNIT)
    assert probability("2/3", "p") == Fraction(2, 3)
    for value in (0, 1, UNIT, "0", "1", "1.5", -3):
        assert refusal(probability, value, "p") == (
            f"p: must be a probability above 0 and below 1, got {value}; "
            "a coin that always falls on one side gives infinite epsilon or no information"
        )
    assert refusal(probability, "x", "p").startswith("p: must be a number")


def test_whoever_writes_an_epsilon_for_a_coin_is_told_the_way_if_there_is_one() -> None:
    end = "gives infinite epsilon or no information"
    assert refusal(probability, "2", "truth", Warner).endswith(f"{end}; for an epsilon there is Warner.from_epsilon")
    assert refusal(probability, "2", "truth", Fraction).endswith(end)
    assert refusal(probability, "2", "truth").endswith(end)


def test_weights_are_rounded_towards_more_noise() -> None:
    just_above, just_below = Fraction(3, 4) + Fraction(1, 2**40), Fraction(1, 4) - Fraction(1, 2**40)
    assert floor_weight(just_above) == weight_towards_half(just_above) == 3 * 2**30
    assert weight_towards_half(just_below) == 2**30
    assert floor_weight(just_below) == 2**30 - 1
    assert weight_towards_half(Fraction(2, 5)) == math.ceil(Fraction(2, 5) * UNIT)  # between a third and a half
    assert weight_towards_half(Fraction(1, 2)) == 2**31


def test_weights_that_would_be_read_as_certainties_are_refused() -> None:
    assert [checked_weight(weight, "p") for weight in (2, UNIT - 1)] == [2, UNIT - 1]
    for weight in (0, 1, UNIT, UNIT + 1):
        assert refusal(checked_weight, weight, "p") == "p: is too close to 0 or 1 to be held by a 32-bit weight"


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**9), Fraction(1, 3), Fraction(1), Fraction(22)])
def test_bounds_of_exponentials_are_below_and_near(epsilon: Fraction) -> None:
    bound = exp_below(epsilon)
    high, term = Fraction(1), Fraction(1)
    for n in range(1, 200):  # the series of exp, from below
        term = term * epsilon / n
        high += term
    assert 0 < high - bound < bound / 10**56


def test_logarithms_are_never_below() -> None:
    assert log_above(Fraction(1)) == 0.0
    for value in (Fraction(3), Fraction(UNIT), 1 + Fraction(1, 10**12), Fraction(10**40, 3)):
        shown = Fraction(log_above(value))
        assert exp_below(shown + Fraction(1, 10**50)) >= value * (1 - Fraction(1, 10**55))
        assert exp_below(Fraction(math.nextafter(float(shown), 0))) < value


def test_sums_are_the_smallest_floats_not_below() -> None:
    assert sum_above([0.5, 0.25]) == 0.75
    assert sum_above([]) == 0.0
    for values in ([0.1] * 3, [0.1] * 6, [1.0, 2.0**-60]):
        exact = sum(map(Fraction, values))
        assert Fraction(math.nextafter(sum_above(values), 0)) < exact <= Fraction(sum_above(values))


def test_costly_rounding_is_refused_from_one_in_a_hundred_on() -> None:
    refuse_costly_rounding(2.0, 1.9801, "coins")
    refuse_costly_rounding(100.0, 99.0, "coins")  # exactly what may be lost
    refuse_costly_rounding(0.5, 0.4951, "coins")
    assert refusal(refuse_costly_rounding, 0.5, 0.49, "coins").startswith("coins: 32-bit weights give epsilon 0.49 ")
    assert refusal(refuse_costly_rounding, 2.0, 1.97, "coins") == (
        "coins: 32-bit weights give epsilon 1.97 where 2 was asked; "
        "ask for an epsilon, a coin or a number of options that they can hold"
    )


def test_people_out_of_100_are_whole_and_never_none_or_all() -> None:
    shares = ("0", "1e-9", "0.0149", "0.015", "0.5", "0.995", "1")
    assert [of_100(Fraction(share)) for share in shares] == [1, 1, 1, 2, 50, 99, 99]


@pytest.mark.parametrize(
    ("value", "is_one"),
    [(np.bool_(True), True), (np.bool_(False), True), (True, False), (np.int64(1), False), (np.float64(0), False)],
)
def test_truth_values_of_numpy_are_known(value: object, is_one: bool) -> None:
    assert is_truth_value(value) is is_one


def test_truth_values_of_older_numpy_are_known() -> None:
    assert is_truth_value(type("bool_", (), {"__module__": "numpy"})())


def test_a_class_that_is_only_called_so_is_no_truth_value_of_numpy() -> None:
    assert not is_truth_value(type("bool_", (), {})())


@pytest.mark.parametrize(
    ("ratio", "factor"),
    [
        (Fraction(1), "1"),
        (Fraction(1) + Fraction(1, 10**30), "1.1"),
        (Fraction(99, 10), "9.9"),
        (Fraction(99, 10) + Fraction(1, 10**30), "10"),
        (Fraction(10), "10"),
        (Fraction(101, 10), "11"),
        (Fraction(10**9), "1000000000"),
        (Fraction(10**9) + Fraction(1, 2), "10^10"),
        (Fraction(2**40), "10^13"),
        (Fraction(10**30), "10^31"),
        (Fraction(2**99_999), "10^30104"),  # the digits that 100,000 bits may have
    ],
)
def test_factors_are_rounded_up_where_their_form_changes(ratio: Fraction, factor: str) -> None:
    assert factor_above(ratio) == factor


@pytest.mark.parametrize(
    ("ratio", "odds", "chances"),
    [(3, 1, 75), (1, 1, 50), (3, Fraction(1, 9), 25), (3, 9, 97), (Fraction(301, 100), 1, 76), (1, Fraction(1, 9), 10)],
)
def test_chances_after_a_report_are_rounded_up(ratio: Fraction, odds: Fraction, chances: int) -> None:
    assert right_of_100(Fraction(ratio), Fraction(odds)) == chances


@pytest.mark.parametrize(
    ("ratio", "odds", "chances"),
    [
        (3, Fraction(1, 9), "25"),
        (11, 9, "99"),  # exactly 99 of 100
        (Fraction(1101, 100), 9, "99.1"),
        (100, 9, "99.9"),
        (1000, 1, "100"),
    ],
)
def test_chances_have_tenths_near_certainty(ratio: Fraction, odds: int, chances: str) -> None:
    assert chances_above(Fraction(ratio), Fraction(odds)) == chances

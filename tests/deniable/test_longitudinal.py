"""Waves of one permanent value: what one of them tells, what all of them tell, and what can be estimated of them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from deniable import KAry, Longitudinal, ParameterError
from deniable.exact import exp_below
from deniable_statistics.designs.of_mechanisms import design_of

SOME = [Longitudinal.from_epsilon(k, 2, 1) for k in (2, 3, 10)] + [Longitudinal(4, "2/5", "9/10")]


def sequences(mechanism: Longitudinal, waves: int) -> list[list[Fraction]]:
    """Probability of every sequence of reports under every answer, by going through all permanent values."""
    options = range(mechanism.k)
    first, second = (
        [[step.support[v][v != x] for v in options] for x in options]
        for step in (mechanism.permanent_response, mechanism.instantaneous_response)
    )
    return [
        [
            sum(first[x][kept] * math.prod(second[kept][sent] for sent in all_sent) for kept in options)
            for all_sent in itertools.product(options, repeat=waves)
        ]
        for x in options
    ]


@pytest.mark.parametrize("waves", [1, 2, 3, 4])
@pytest.mark.parametrize("mechanism", [SOME[0], SOME[1], Longitudinal(3, "2/5", "9/10")], ids=str)
def test_loss_of_some_waves_is_the_largest_ratio_of_all_their_sequences(mechanism: Longitudinal, waves: int) -> None:
    rows = sequences(mechanism, waves)
    assert all(sum(row) == 1 for row in rows)
    ratio = max(a / b for one, other in itertools.permutations(rows, 2) for a, b in zip(one, other, strict=True))
    if_true, if_other = mechanism._of_waves(waves)
    assert ratio == if_true / if_other
    assert ratio < mechanism.likelihood_ratio
    if waves == 1:
        assert ratio == mechanism.wave_likelihood_ratio


@pytest.mark.parametrize("mechanism", SOME, ids=str)
def test_loss_rises_with_every_wave_to_that_of_the_permanent_value_and_no_further(mechanism: Longitudinal) -> None:
    losses = [mechanism.epsilon_of(waves) for waves in (1, 2, 3, 5, 10, 100, 1000)]
    assert losses[0] == mechanism.wave_epsilon < mechanism.epsilon
    assert losses == sorted(losses)
    assert mechanism.epsilon_of(1000) <= mechanism.epsilon == KAry(mechanism.k, mechanism.keep).epsilon
    assert math.isclose(mechanism.epsilon_of(1000), mechanism.epsilon, rel_tol=1e-9)


@pytest.mark.parametrize("waves", [0, -1, 1001, 1.0, True, None])
def test_only_whole_numbers_of_waves_have_a_loss(waves: object) -> None:
    with pytest.raises(ParameterError, match="waves: must be an integer from 1 to 1000"):
        SOME[0].epsilon_of(waves)  # type: ignore[arg-type]


@pytest.mark.parametrize("share", ["0.05", "0.5", "0.9", "0.99"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "2", "4", "8"])
@pytest.mark.parametrize("k", [2, 3, 16, 100])
def test_neither_epsilon_exceeds_what_was_asked(k: int, epsilon: str, share: str) -> None:
    asked, of_wave = Fraction(epsilon), Fraction(epsilon) * Fraction(share)
    mechanism = Longitudinal.from_epsilon(k, asked, of_wave)
    assert mechanism.likelihood_ratio <= exp_below(asked)
    assert mechanism.wave_likelihood_ratio <= exp_below(of_wave)
    assert mechanism.wave_epsilon >= 0.99 * float(of_wave)
    # One weight less of every other option, and a wave would lose too much.
    finer = mechanism.again + k - 1
    if finer < 2**32 - 1:
        assert Longitudinal(k, mechanism.keep, finer).wave_likelihood_ratio > exp_below(of_wave)


@pytest.mark.parametrize("mechanism", SOME, ids=str)
def test_estimates_of_one_wave_undo_both_steps_exactly(mechanism: Longitudinal) -> None:
    options = range(mechanism.k)
    truth = [Fraction(1 + option, sum(range(mechanism.k + 1))) for option in options]
    matrix = design_of(mechanism).channel_matrix
    n = 2**64 * truth[0].denominator
    counts = [n * sum(matrix[v][x] * truth[x] for x in options) for v in options]
    assert all(count.denominator == 1 for count in counts)  # the channel is a matrix of integers out of 2**64
    assert list(design_of(mechanism).shares([int(count) for count in counts], n)) == truth


def test_estimates_of_one_wave_hit_the_shares_and_their_standard_errors() -> None:
    mechanism, n = Longitudinal.from_epsilon(3, 3, "1.5"), 200_000
    dice = np.random.default_rng(1974)
    truth = np.array([0.6, 0.3, 0.1])
    answers = dice.choice(3, n, p=truth)
    reports = mechanism.randomize_many(answers, lambda size: dice.integers(0, 2**32, size, dtype=np.uint32))
    result = mechanism.estimate(np.bincount(reports, minlength=3).tolist())
    errors = (np.array(result.share, dtype=float) - truth) / np.array(result.std_error)
    assert np.abs(errors).max() < 4
    assert sum(result.feasible) == pytest.approx(1)


def test_two_waves_of_the_same_people_show_no_change_within_them_and_are_correlated() -> None:
    """Everybody changes from the first option to the last; nobody's permanent value does."""
    mechanism, n, runs = Longitudinal.from_epsilon(2, 2, 1), 2_000, 400
    dice = np.random.default_rng(1965)

    def words(size: int) -> np.ndarray:
        return dice.integers(0, 2**32, size, dtype=np.uint32)

    differences = []
    for _ in range(runs):
        first_answers = (dice.random(n) < 0.3).astype(np.int64)
        kept = mechanism.permanent_response.randomize_many(first_answers, words)
        yes = [mechanism.instantaneous_response.randomize_many(kept, words).sum() for _wave in range(2)]
        shares = [float(mechanism.estimate([n - int(each), int(each)]).share[1]) for each in yes]
        differences.append(shares[1] - shares[0])
    a, b = (float(each) for each in mechanism.instantaneous_response.support[0])
    p, q = (float(each) for each in mechanism.support[0])
    # Given the permanent values the waves are independent: only the noise of the second step is left.
    known = math.sqrt(2 * a * b / n) / (p - q)
    independent = math.sqrt(2 * float(mechanism.estimate([1300, 700]).std_error[1]) ** 2)
    assert abs(np.mean(differences)) < 4 * known / math.sqrt(runs)
    assert np.std(differences) == pytest.approx(known, rel=0.15)
    assert known < independent  # so that comparing waves as if other people had answered is too careful, not too bold


def found_again(same: float, questions: int, people: int = 1000) -> float:
    """Probability that of some reports the one which agrees most often with a known one is its sender's.

    Yes-no questions with even shares, ties broken at random. ``same`` is how likely one question agrees.
    """

    def law(p: float) -> list[float]:
        return [math.comb(questions, n) * p**n * (1 - p) ** (questions - n) for n in range(questions + 1)]

    found, theirs = 0.0, law(0.5)
    for agreed, probability in enumerate(law(same)):
        fewer, tied = math.fsum(theirs[:agreed]), theirs[agreed]
        # E[1 / (1 + ties)] over the others, none of whom agrees more often
        if tied < fewer / 1000:  # where the difference of the powers would lose its digits
            alone = fewer**people * math.expm1(people * math.log1p(tied / fewer))
        else:
            alone = (fewer + tied) ** people - fewer**people
        found += probability * alone / (people * tied)
    return found


def agreement(mechanism: Longitudinal) -> tuple[float, float]:
    """How likely a yes-no question agrees in two waves of a person, and in a wave and the permanent value."""
    a, b = (float(each) for each in mechanism.instantaneous_response.support[0])
    return a**2 + b**2, a


def test_how_often_waves_link_a_person_is_what_the_documents_say() -> None:
    page = (Path(__file__).parents[2] / "docs" / "device.md").read_text(encoding="utf-8")
    waves = Longitudinal.from_epsilon(2, 2, 1)
    two, many = agreement(waves)
    low_two, low_many = agreement(Longitudinal.from_epsilon(2, "0.4", "0.2"))
    figures = [
        f"correlation of {2 * two - 1:.2f} at epsilon 2 and `wave_epsilon` 1,\nof {2 * low_two - 1:.2f} at 0.4 and 0.2",
        *(
            f"| {kind} | {100 * found_again(same, 20):.1f} % | {100 * found_again(same, 100):.1f} % |"
            for kind, same in {
                "sent unchanged": 1,
                "epsilon 2, one wave 1": two,
                "epsilon 0.4, one wave 0.2": low_two,
            }.items()
        ),
        f"found {100 * found_again(many, 20):.0f} % of the time with the epsilons of the second row, and "
        f"{100 * found_again(low_many, 20):.0f} % with those of the third",
        "is 1, {:.2f}, {:.2f} for one, two, three waves, {:.2f} for ten".format(*map(waves.epsilon_of, (2, 3, 10))),
    ]
    assert [each for each in figures if each not in page] == []


def test_found_again_counts_what_a_simulation_finds() -> None:
    mechanism, questions, people, runs = Longitudinal.from_epsilon(2, 2, 1), 12, 20, 4000
    dice = np.random.default_rng(3)
    a = float(mechanism.instantaneous_response.support[0].if_true)
    hits = 0.0
    for _ in range(runs):
        kept = dice.integers(0, 2, (people, questions))
        first, second = (kept ^ (dice.random(kept.shape) >= a) for _wave in range(2))
        agreed = (second == first[0]).sum(axis=1)
        hits += (agreed[0] == agreed.max()) / (agreed == agreed.max()).sum()
    expected = found_again(agreement(mechanism)[0], questions, people)
    assert abs(hits / runs - expected) < 4.5 * math.sqrt(expected * (1 - expected) / runs)

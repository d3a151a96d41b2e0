"""What candidates cost in respondents, beside the best known bound."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import pytest

from deniable import KAry, Question, Subset, TwoCoin, read_survey
from deniable_statistics.authoring.analyses import alternatives_for
from deniable_statistics.authoring.respondents import at_single_shares, comparison, respondents_needed
from tests.support.marks import long

HEAD = 'title = "T"\n[[questions]]\nid = "q"\ntext = "Q?"\n'
OPTIONS = 'options = ["a", "b", "c", "d", "e", "f", "g", "h"]\n'


def question(body: str) -> Question:
    return read_survey(HEAD + body).questions[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "best", "variance"),
    [
        ('type = "ticks"\nepsilon = 2\n' + OPTIONS, "drawn-boxes (2 of 8)", 2.6441),
        ('type = "ticks"\nepsilon = 2\ngoal = "together"\n' + OPTIONS, "drawn-boxes (2 of 8)", 2.6441),
        # the noise of the mean in [-1, 1] and the answers' own variance, a quarter of both in [0, 1]
        ('type = "number"\nlo = 0\nhi = 60\nepsilon = 1\n', "piecewise", (3.955 + 62 / 180) / 4),
        ('type = "scale"\nlo = 1\nhi = 5\nepsilon = 4\ngoal = "mean"\n', "k-ary", (0.0976 + 6 / 12) / 4),
    ],
)
def test_the_fewest_come_first_and_none_beat_the_bound(body: str, best: str, variance: float) -> None:
    *candidates, bound = respondents_needed(question(body))
    assert candidates[0].label == best
    assert candidates[0].respondents == pytest.approx(variance * (1.959964 / 0.05) ** 2, rel=0.003)
    assert [each.respondents for each in candidates] == sorted(each.respondents for each in candidates)
    assert bound.label is None
    assert candidates[0].respondents / 1.45 <= bound.respondents <= candidates[0].respondents


def test_shares_of_a_choice_are_those_of_the_mechanism_itself() -> None:
    subset, k_ary = respondents_needed(question('type = "choice"\nepsilon = 1\n' + OPTIONS))
    assert subset.respondents < k_ary.respondents
    ratio = math.e
    p, q = ratio / (ratio + 7), 1 / (ratio + 7)
    lam = p / 8 + q * 7 / 8  # each of the eight options is as frequent
    assert k_ary.respondents == pytest.approx(lam * (1 - lam) / (p - q) ** 2 * (1.959964 / 0.05) ** 2, rel=1e-3)


def test_a_scale_whose_chosen_mechanism_needed_more_than_the_next_line_said() -> None:
    scale = question('type = "scale"\nlo = 0\nhi = 10\nepsilon = 2\n')
    assert scale.why == (
        "fewest respondents on average over the options: k-ary; subset of 2 takes 1.04 times as many; geometric takes "
        "293 times as many"
    )
    assert comparison(scale) == ["F" + scale.why[1:]]


def test_the_share_at_which_the_more_precise_mechanism_changes_is_said() -> None:
    scale = question('type = "scale"\nlo = 0\nhi = 10\nepsilon = 2\n')
    said = at_single_shares(scale)
    assert said is not None
    below, share, above = re.findall(
        r"^Of a single share, (.*) is more precise below ([\d.]+) % and (.*) above; ", said
    )[0]
    assert (below, above) == ("k-ary", "subset of 2")
    assert said.endswith("; for \u00b15 points at a share of one half, k-ary 2,084 and subset of 2 1,548 respondents")
    k_ary, subset = KAry.from_epsilon(11, 2), Subset.from_epsilon(11, 2, 2)
    noise = [
        [f * each.support[0].noise[0] + (1 - f) * each.support[0].noise[1] for each in (k_ary, subset)]
        for f in ((float(share) - 1) / 100, (float(share) + 1) / 100)
    ]
    assert noise[0][0] < noise[0][1]
    assert noise[1][0] > noise[1][1]


@pytest.mark.parametrize("body", ['type = "yes-no"\nepsilon = 1\n', 'type = "number"\nlo = 0\nhi = 9\nepsilon = 1\n'])
def test_single_shares_are_said_only_where_options_are_averaged(body: str) -> None:
    assert at_single_shares(question(body)) is None


def written(epsilon: float) -> Iterator[str]:
    for options in (2, 3, 4, 5, 7, 10, 30):
        yield f'type = "choice"\noptions = {[f"{each}." for each in range(options)]}\nepsilon = {epsilon}\n'
        yield f'type = "scale"\nlo = 0\nhi = {options - 1}\nepsilon = {epsilon}\n'
        yield f'type = "ticks"\noptions = {[f"{each}." for each in range(options)]}\nepsilon = {epsilon}\n'
    for last in (2, 4):
        yield f'type = "scale"\nlo = 0\nhi = {last}\ngoal = "mean"\nepsilon = {epsilon}\n'
        yield f'type = "number"\nlo = 0\nhi = {last}\nepsilon = {epsilon}\n'
    yield f'type = "rating"\nstars = 5\nepsilon = {epsilon}\n'


def _figures(said: str, needed: list[int]) -> list[float]:
    """The respondents in a comparison, in its order; those that it says as factors from what the first one needs."""
    by_factors = re.findall(r"; [^;]*? takes ([\d.,e+]+) times as many", said)
    if by_factors:
        assert said.startswith("Fewest respondents on average over the options: "), said
        # Factors have three digits.
        for factor, n in zip(by_factors, needed[1:], strict=True):
            assert float(factor.replace(",", "")) == pytest.approx(n / needed[0], rel=6e-3), said
        return [float(n) for n in needed]
    assert said.startswith("Fewest respondents for ±5 "), said
    return [
        float(n.replace(",", ""))
        for n, _ in re.findall(r"(?:: |; )[^;:]*? ([\d,]+)( \(within 1 % of .*?, and plainer\))?(?=;|$)", said)
    ]


def alone_and_shared(body: str) -> Iterator[Question]:
    yield question(body)
    both = "".join(f'[[questions]]\nid = "{name}"\ntext = "Q?"\n{body}' for name in "qr")
    for draw in (1, 2):
        epsilon = body.rpartition(" = ")[2].strip()
        yield read_survey(
            f'title = "T"\nepsilon = {epsilon}\ndraw = {draw}\n' + both.replace(f"epsilon = {epsilon}\n", "")
        ).questions[0]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 3, *map(long, [0.3, 1.3, 1.5, 1.9, 2.5, 4])])
def test_nothing_that_is_printed_takes_fewer_than_what_was_chosen(epsilon: float) -> None:
    """Whatever the type, the options, the goal and the sharing: in what surveys publish, `check` and `plan` say."""
    for body in written(epsilon):
        for each in alone_and_shared(body):
            needed = [n for label, n in respondents_needed(each) if label is not None]
            if not needed:
                continue
            *_, said = comparison(each)
            plainer = ", and plainer)" in said
            figures = _figures(said, needed)
            # What was published was counted at the epsilon that was asked; integers hold a little less.
            assert figures[: len(needed)] == pytest.approx(needed, rel=1e-6, abs=1), said
            fewest = min(figures[: len(needed)])
            assert figures[0] == fewest or (plainer and figures[0] <= 1.01 * fewest + 1), said
            assert not plainer or figures[0] > fewest, said
            assert all(bound <= fewest for bound in figures[len(needed) :]), said
            assert re.search(rf": {re.escape(str(each.mechanism))}[ ;]", said)
            for alternative in alternatives_for(each):
                assert alternative.times >= 1 / 1.011, alternative


def test_what_the_author_named_stands_beside_what_would_have_been_chosen() -> None:
    (said,) = comparison(question('type = "choice"\nepsilon = 1\nmechanism = "k-ary"\n' + OPTIONS))
    assert said.startswith("Fewest respondents on average over the options: subset of 2; k-ary takes 1.")
    factor, asked = re.findall(r"k-ary takes ([\d.]+) times as many", said)
    assert factor == asked


@pytest.mark.parametrize(
    "body",
    [
        'type = "yes-no"\nepsilon = 1\n',
        'type = "choice"\nepsilon = 2\nwave_epsilon = 1\nmechanism = "longitudinal"\n' + OPTIONS,
    ],
)
def test_where_there_is_no_other_candidate_nothing_is_compared(body: str) -> None:
    assert respondents_needed(question(body)) == ()
    assert respondents_needed(Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))) == ()

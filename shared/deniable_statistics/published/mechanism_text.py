"""Mechanisms as the methods section of a paper describes them: name, work, and parameters in words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from deniable.mechanisms import KAry, Mechanism
from deniable.randomness import UNIT
from deniable.survey.group import Group
from deniable.survey.question import Question
from deniable_statistics.published.works import (
    ARCOLEZI,
    BORUCH,
    DUCHI,
    DWORK,
    ERLINGSSON,
    GHOSH,
    KAIROUZ,
    MCSHERRY,
    NGUYEN,
    WANG,
    WARNER,
    YE,
    Cite,
    Work,
    in_words,
)

WORKS: dict[str, tuple[Work, ...]] = {
    "two-coin": (BORUCH,),
    "warner": (WARNER,),
    "forced-response": (BORUCH,),
    "k-ary": (KAIROUZ,),
    "subset": (YE,),
    "tick-boxes": (ERLINGSSON,),
    "drawn-boxes": (KAIROUZ, NGUYEN),
    "geometric": (GHOSH,),
    "exponential": (MCSHERRY,),
    "mean": (DUCHI,),
    "piecewise": (DUCHI, WANG),
    "filtered-piecewise": (DUCHI, WANG, KAIROUZ),
    "discrete-laplace": (DWORK, GHOSH),
    "longitudinal": (ERLINGSSON, ARCOLEZI),
    "unequal-k-ary": (BORUCH,),
}
"""The works that each mechanism comes from, by its name."""

MOST_NUMBERS = 10
"""Largest number of probabilities that a description lists; of more, it gives the lowest and the highest."""


def works_of(question: Question) -> tuple[Work, ...]:
    """The works that the randomisation of a question comes from."""
    group = question.group
    own = WORKS[KAry.name] if group and group.joint else WORKS[question.mechanism.name]
    # Asking some questions alone, drawn by chance, is a method of its own.
    return tuple(dict.fromkeys((*own, NGUYEN))) if group and group.is_drawn else own


def question_text(question: Question, cite: Cite = in_words) -> str:
    """How a question is randomised: the mechanism, or the response to all questions of its group together.

    >>> from deniable import read_survey
    >>> head = 'title = "T"\\norganiser = "O"\\ncontact = "a@b.example"\\nretention = "tallies"\\n'
    >>> survey = read_survey(head + '[[questions]]\\nid = "q"\\ntext = "Ever?"\\ntype = "yes-no"\\nepsilon = 1.5\\n')
    >>> question_text(survey.questions[0])
    "Warner's randomised response (Warner 1965) with p = 0.8176 of reporting the truth, epsilon = 1.5"
    """
    joint = joint_text(question.group, cite) if question.group else ""
    return f"{joint or mechanism_text(question.mechanism, cite)}, epsilon = {question.epsilon:.4g}"


def joint_text(group: Group, cite: Cite) -> str:
    """The response to all questions of a group that a device asks, together; empty where each has its own."""
    if group.joint is None:
        return ""
    named = f"the {group.draw} questions that a device asks" if group.is_drawn else f"{group.size} questions"
    return (
        f"one k-ary randomised response{_after(cite, WORKS[KAry.name])} to {named} together, with k = {group.joint.k} "
        f"patterns of answers and p = {_share(group.joint.keep)} of reporting the true one"
    )


def mechanism_text(mechanism: Mechanism, cite: Cite = in_words) -> str:
    """A mechanism with its work and its parameters, without epsilon.

    >>> mechanism_text(KAry.from_coin(4, "1/2"))
    'k-ary randomised response (Kairouz, Oh and Viswanath 2016) with k = 4 options and p = 0.625 of reporting the truth'
    """
    cited = _after(cite, WORKS[mechanism.name])
    # Each name stands for parameters of its own.
    made: Any = mechanism
    match mechanism.name:
        case "two-coin":
            return (
                f"randomised response with two coins{cited}, the truth with p = {_share(made.truth)} and otherwise "
                f"yes with probability {_share(made.yes)}"
            )
        case "warner":
            return f"Warner's randomised response{cited} with p = {_share(made.keep)} of reporting the truth"
        case "forced-response":
            return (
                f"forced response{cited}, the truth with p = {_share(made.truth)} and otherwise one of the options "
                f"with probabilities {_shares(made.forced)}"
            )
        case "unequal-k-ary":
            return (
                f"randomised response with unequal options{cited}, the truth with p = {_share(made.truth)} and "
                f"otherwise one of the options, with probabilities {_shares(made.others)} of all"
            )
        case "k-ary":
            return (
                f"k-ary randomised response{cited} with k = {made.k} options and p = {_share(made.keep)} of "
                "reporting the truth"
            )
        case "subset":
            assert made.support
            inside = made.support[0]
            return (
                f"the subset mechanism{cited}, which reports w = {made.w} of k = {made.k} options, the true one "
                f"among them with p = {float(inside.if_true):.4g} and any other with q = {float(inside.if_other):.4g}"
            )
        case "tick-boxes":
            return f"basic RAPPOR{cited} with k = {made.k} boxes, each reported as it is with p = {_share(made.keep)}"
        case "drawn-boxes":
            return (
                f"a k-ary response to s = {made.s} of k = {made.k} boxes that are drawn by chance{cited}, with "
                f"p = {_share(made.keep)} of reporting all of these as they are"
            )
        case "discrete-laplace":
            return (
                f"the discrete Laplace mechanism{cited} on the whole numbers from {made.lo} to {made.hi}, with "
                f"{_noise(made.tails)} and reports from {made.lo - made.excess} to {made.hi + made.excess}"
            )
        case "geometric":
            return (
                f"the geometric mechanism{cited} on the whole numbers from {made.lo} to {made.hi}, with "
                f"{_noise(made.tails)} that is clamped to these ends"
            )
        case "exponential":
            truths = sorted({_share(row[x]) for x, row in enumerate(made.weights)}, key=float)
            return (
                f"the exponential mechanism{cited} with k = {len(made.weights)} options and "
                f"p = {' to '.join(dict.fromkeys((truths[0], truths[-1])))} of reporting the truth"
            )
        case "mean":
            # P(1 | lo) and P(1 | hi) lie around 1/2, and their difference is slope (hi - lo).
            low, high = (0.5 + side * made.slope * (made.hi - made.lo) / UNIT / 2 for side in (-1, 1))
            return (
                f"a report of one bit for the mean{cited}, which is 1 with a probability that rises linearly from "
                f"{low:.4g} at {made.lo} to {high:.4g} at {made.hi}"
            )
        case "filtered-piecewise":
            return f"{_piecewise(made, cited)}, one of which stands above all for answers that do not apply"
        case "piecewise":
            return _piecewise(made, cited)
        case "longitudinal":
            return (
                f"two k-ary responses with k = {made.k} options{cited}, of which the device keeps the first, true "
                f"with p = {_share(made.keep)}, and each wave reports that one with probability {_share(made.again)}"
            )
        case _:
            raise TypeError(f"mechanism: must be one of a survey, got {mechanism.name}")


def _after(cite: Cite, works: Sequence[Work]) -> str:
    """A citation behind a word; nothing where nothing is cited."""
    cited = cite(works)
    return f" {cited}" if cited else ""


def _piecewise(mechanism: Any, cited: str) -> str:
    knots = list(map(str, mechanism.knots))
    return (
        f"a piecewise linear mechanism, optimised after known ones{cited}, on the numbers from {knots[0]} to "
        f"{knots[-1]}, whose probabilities are linear between the knots {', '.join(knots[:-1])} and {knots[-1]}, with "
        f"{len(mechanism.weights)} possible reports"
    )


def _noise(tails: Sequence[int]) -> str:
    # P(noise >= 1) = alpha / (1 + alpha), see `Geometric`.
    alpha = tails[0] / (UNIT - tails[0])
    return f"two-sided geometric noise of ratio alpha = {alpha:.4g}"


def _share(weight: int) -> str:
    """A published weight as a probability.

    >>> _share(2**31)
    '0.5'
    """
    return f"{weight / UNIT:.4g}"


def _shares(weights: Sequence[int]) -> str:
    """Several published weights as probabilities; equal neighbours once.

    >>> _shares([2**30, 2**30, 2**31]), _shares([2**28] * 16)
    ('0.25 (2 times) and 0.5', '0.0625 each')
    """
    runs = [(share, len(list(run))) for share, run in itertools.groupby(map(_share, weights))]
    if len(runs) == 1:
        return f"{runs[0][0]} each"
    if len(runs) > MOST_NUMBERS:
        return f"from {_share(min(weights))} to {_share(max(weights))}"
    texts = [share if times == 1 else f"{share} ({times} times)" for share, times in runs]
    return f"{', '.join(texts[:-1])} and {texts[-1]}"

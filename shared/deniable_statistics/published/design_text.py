"""Designs as a note below a table describes them: mechanisms as in the paragraph of methods, and classical designs."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from deniable.survey.group import Group
from deniable_statistics.designs.design import Design
from deniable_statistics.designs.of_mechanisms import MechanismDesign
from deniable_statistics.published.mechanism_text import joint_text, mechanism_text
from deniable_statistics.published.works import Cite, uncited

_CHANNELS = {
    "warner": "Warner's randomised response with p = {} of reporting the truth",
    "unrelated_question": "the unrelated question with p = {} of the sensitive one, and a known share of {} of yes to "
    "the other",
    "kuk": "Kuk's card packs with a share of {} of red cards for yes and {} for no, and {} drawn",
    "mangat": "Mangat's randomised response with p = {} of a truthful no",
    "crosswise": "the crosswise model with p = {} of yes to the other question",
    "triangular": "the triangular model with p = {} of yes to the other question",
    "disguised_response": "disguised response with a share of {} of red cards in the stack of yes",
    "direct": "asked directly",
    "channel": "a randomised response design with known probabilities",
}
"""The words for each classical design of one group, with places for the parameters in its name."""


def randomisation_text(design: Design, group: Group | None, epsilon: float, cite: Cite = uncited) -> str:
    """How a question is randomised, with its epsilon: by its design, or by one response to all questions of its group.

    >>> from deniable_statistics.classical import crosswise
    >>> randomisation_text(crosswise("1/6"), None, crosswise("1/6").epsilon)
    'the crosswise model with p = 0.1667 of yes to the other question, epsilon = 1.609'
    """
    joint = joint_text(group, cite) if group else ""
    text = joint or design_text(design, cite)
    # Where a response may prove an answer, no epsilon protects it.
    return f"{text}, epsilon = {epsilon:.4g}" if math.isfinite(epsilon) else text


def design_text(design: Design, cite: Cite = uncited) -> str:
    """A design in words, with its probabilities and without epsilon.

    >>> from deniable_statistics.classical import cheater_detection, forced_response
    >>> design_text(forced_response("3/4"))
    'forced response, the truth with p = 0.75 and otherwise one of the options with probabilities 0.5 and 0.5'
    >>> design_text(cheater_detection(["1/4", "3/4"]))
    'cheater detection with p = 0.25 and 0.75 of a forced yes in the two groups'
    """
    if isinstance(design, MechanismDesign):
        return mechanism_text(design.mechanism, cite)
    name, _, parameters = design.name.removesuffix(")").partition("(")
    if name == "forced_response":
        return _forced_text(Fraction(parameters), design.exact_channels[0])
    if name in _CHANNELS:
        return _CHANNELS[name].format(*map(_probability, re.findall(r"[^, ]+", parameters)))
    if design.groups > 1:
        return _groups_text(name, design.exact_channels)
    return design.name.replace("_", "-")


def _forced_text(truth: Fraction, matrix: Sequence[Sequence[Fraction]]) -> str:
    # P(r | x) = (1 - truth) forced[r] where x is another option, which the next column is.
    forced = [_probability(row[(r + 1) % len(matrix)] / (1 - truth)) for r, row in enumerate(matrix)]
    return (
        f"forced response, the truth with p = {_probability(truth)} and otherwise one of the options with "
        f"probabilities {', '.join(forced[:-1])} and {forced[-1]}"
    )


def _groups_text(name: str, matrices: Sequence[Any]) -> str:
    """A design of two groups, whose probabilities stand in its matrices; rows are no and yes."""

    def both(row: int, column: int) -> str:
        return " and ".join(_probability(matrix[row][column]) for matrix in matrices)

    match name:
        case "unrelated_question_unknown":
            return f"the unrelated question with p = {both(0, 0)} of the sensitive one in the two groups"
        case "cheater_detection":
            no = f", and {both(0, 1)} of a forced no" if any(matrix[0][1] for matrix in matrices) else ""
            return f"cheater detection with p = {both(1, 0)} of a forced yes in the two groups{no}"
        case "stochastic_lie_detector":
            return f"the stochastic lie detector with p = {both(0, 0)} of a truthful no in the two groups"
        case _:
            return name.replace("_", "-")


def _probability(value: str | Fraction) -> str:
    return f"{float(Fraction(value)):.4g}"

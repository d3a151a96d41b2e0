"""The page of all mechanisms and designs with their parameters, for `tools.make_docs`.

Names, classes, keys and parameters are those of the code. What a formula says is written here, and a test computes it.
"""

from __future__ import annotations

import inspect
from typing import NamedTuple

from deniable.mechanisms import MECHANISMS
from deniable_research.files import DESIGNS


class Choice(NamedTuple):
    """What the code does not say about a mechanism: its epsilon as a formula, keys of its own, and when to choose it.

    The formula is one of Python, in the published parameters and those that the page defines, or a sentence.
    """

    epsilon: str
    when: str
    keys: str = ""


LARGEST_RATIO = "ln of the largest ratio of the probabilities of one report under two answers"

CHOICES = {
    "two-coin": Choice(
        "ln(1 + t / ((1 - t) * min(y, 1 - y)))",
        "people throw real coins, or should recognise the classical procedure",
        "yes-no: `truth`, and `yes` for the second coin",
    ),
    "warner": Choice("abs(ln(p / (1 - p)))", "a yes-no question; no other mechanism of this epsilon is more precise"),
    "forced-response": Choice(
        "ln(1 + t / ((1 - t) * min(g)))",
        "dice or cards decide, or some options should be forced more often than others",
        "choice: `truth` and `forced`",
    ),
    "k-ary": Choice(
        "ln(p * (k - 1) / (1 - p))",
        "one of a few options, or a large epsilon; also called k-RR, or generalised randomised response (GRR)",
        "choice: `truth` alone",
    ),
    "subset": Choice("ln(inside / 2**32)", "one of many options, or a small epsilon"),
    "tick-boxes": Choice("k * ln(p / (1 - p))", "boxes, if you need each pair of boxes in every report"),
    "drawn-boxes": Choice("ln(p * (2**s - 1) / (1 - p))", "boxes, if you need the share of each of them"),
    "geometric": Choice(LARGEST_RATIO, "a scale or number; reports are near the answer, and between the ends"),
    "exponential": Choice(LARGEST_RATIO, "a scale for which you want the exponential mechanism of the literature"),
    "mean": Choice(
        "ln((1 + r) / (1 - r))", "the mean of a scale or number at a small epsilon, with reports of one bit"
    ),
    "piecewise": Choice(LARGEST_RATIO, "the mean of a number or of a scale"),
    "filtered-piecewise": Choice(LARGEST_RATIO, "the same for a question that does not apply to everybody"),
    "discrete-laplace": Choice(LARGEST_RATIO, "a number; reports are near the answer, and may lie beyond the ends"),
    "longitudinal": Choice("ln(p * (k - 1) / (1 - p))", "a question that is asked again in later waves"),
    "unequal-k-ary": Choice(
        "ln(1 + (1 - sum(g)) / min(g))",
        "nobody chooses it: it is one question's part of a response to the possible patterns of a group",
    ),
}


def designs_page() -> str:
    """The tables of mechanisms and of classical designs."""
    return "\n".join(
        [
            "# Mechanisms and designs\n",
            "Generated from the code by `tools/designs_page.py`; do not edit. Each mechanism and each design with its",
            'parameters: in a survey file, in a line such as `deniable analyze shares study.csv --question "q: k-ary',
            'k=4 epsilon=1"`, in a [design file](names/research.md), and in Python.\n',
            "## Mechanisms of surveys\n",
            "If a question has only an epsilon, [the most precise mechanism](statistics.md#which-mechanism-is-chosen)",
            'is chosen. `mechanism = "NAME"` chooses another one, for the question types of the second column.\n',
            "| name | in a survey file | class in Python | parameters of a line | when to choose it |",
            "|---|---|---|---|---|",
            *map(_mechanism_row, MECHANISMS),
            "\nWhere a line can have several sets of parameters, they are separated by *or*; parameters in brackets",
            "are optional. In a line, lists are separated by commas; only a design file can hold lists of lists. In",
            "Python, `from_epsilon` takes the set with epsilon, `KAry.from_coin` the one with `truth`, and",
            "`Exponential.calibrated` the one with a score.\n",
            "## Published parameters and epsilon\n",
            "These integers are what a survey publishes. In the formulas, ln is the natural logarithm, and",
            "`p = keep / 2**32`, `t = truth / 2**32`, `y = yes / 2**32`. `g` are the numbers `forced` or `others`,",
            "each divided by `2**32`, and `r = slope * (hi - lo) / 2**32`. [How a report is made](reports.md) says",
            "what each integer does.\n",
            "| name | published parameters | epsilon |",
            "|---|---|---|",
            *map(_epsilon_row, MECHANISMS),
            "\nThe epsilon of `longitudinal` is that of all waves together; one wave has less. Epsilon in Python is",
            "`mechanism.epsilon`, rounded up. `deniable survey check` prints that of each question.\n",
            "## Classical designs\n",
            "These designs are for data that were collected with coins, cards or a second question. In a survey",
            "file, only the mechanisms `warner` and `forced-response` of the first table can be used. In Python, these",
            "designs are functions of [`deniable_statistics.classical`](names/statistics.md). Each returns a channel,",
            "whose `.epsilon` is its privacy loss.\n",
            "| name | function | parameters | what people do |",
            "|---|---|---|---|",
            *(_classical_row(name) for name in DESIGNS if DESIGNS[name][0].__module__.endswith("classical.designs")),
            "",
        ]
    )


def ways_of(name: str) -> str:
    """The sets of parameters that a line or a design file can give, as `DESIGNS` tries them in order."""
    return " or ".join(dict.fromkeys(_parameters(make) for make in DESIGNS[name]))


def _parameters(make: object) -> str:
    parameters = [
        each
        for each in inspect.signature(make).parameters.values()  # type: ignore[arg-type]  # a function or a class
        if each.name not in ("responses", "truths", "name")
    ]
    return ", ".join(f"`{each.name}`" if each.default is each.empty else f"(`{each.name}`)" for each in parameters)


def _mechanism_row(name: str) -> str:
    cls, choice = MECHANISMS[name], CHOICES[name]
    named = ", ".join(each for each in cls.named_in if each != "filtered-number")
    if "filtered-number" in cls.named_in:
        named = "scale, number with `ask_if`"
    ways = "; ".join(filter(None, (named and f"{named}: `mechanism`", choice.keys)))
    return f"| `{name}` | {ways or 'no'} | `{cls.__name__}` | {ways_of(name)} | {choice.when} |"


def _epsilon_row(name: str) -> str:
    published = ", ".join(f"`{each}`" for each in inspect.signature(MECHANISMS[name]).parameters)
    epsilon = CHOICES[name].epsilon
    return f"| `{name}` | {published} | {epsilon if epsilon == LARGEST_RATIO else f'`{epsilon}`'} |"


def _classical_row(name: str) -> str:
    make = DESIGNS[name][0]
    summary = (inspect.getdoc(make) or "").splitlines()[0].replace("``", "`").replace("|", "\\|")
    return f"| `{name}` | `{make.__name__}` | {_parameters(make)} | {summary.partition(': ')[2] or summary} |"

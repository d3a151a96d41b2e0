"""What papers call the methods of intervals, whose names in code are those of options and CSV files."""

from __future__ import annotations

from collections.abc import Iterable

METHOD_NAMES = {
    "feldman-cousins": "Feldman-Cousins",
    "likelihood-ratio": "likelihood-ratio",
    "wilson": "Wilson score",
    "clopper-pearson": "Clopper-Pearson",
    "agresti-coull": "Agresti-Coull",
    "jeffreys": "Jeffreys",
    "midp": "mid-P",
    "blaker": "Blaker",
    "wald": "Wald",
    "logit": "logit-scale Wald",
    "t": "Student's t",
    "score": "score",
    "mover": "square-and-add (MOVER)",
    "newcombe": "square-and-add (Newcombe)",
    "exact-unconditional": "exact unconditional",
    "donner-zou": "Donner-Zou",
    "fieller": "Fieller",
    "profile": "profile-likelihood",
    "profile likelihood": "profile-likelihood",
}
"""The name of each method as it stands before the word *intervals*."""


SIMULTANEOUS = "simultaneous "
"""How the name of a method begins in files where its intervals hold several figures at once."""


def simultaneous(method: str) -> str:
    """The name in files of a method whose intervals hold several figures at once."""
    return f"{SIMULTANEOUS}{method}"


def by_itself(method: str) -> str:
    """The name of a method without the remark that its intervals hold several figures at once.

    >>> by_itself(simultaneous("mover")), by_itself("mover")
    ('mover', 'mover')
    """
    return method.removeprefix(SIMULTANEOUS)


def method_name(method: str) -> str:
    """A method of intervals as papers call it.

    >>> method_name("simultaneous feldman-cousins"), method_name("likelihood-ratio"), method_name("mover")
    ('simultaneous Feldman-Cousins', 'likelihood-ratio', 'square-and-add (MOVER)')
    >>> method_name("korn-graubard clopper-pearson, wilson")
    'Clopper-Pearson and Wilson score (Korn-Graubard)'
    """
    if method in METHOD_NAMES:
        return METHOD_NAMES[method]
    if method.startswith(SIMULTANEOUS):
        return f"{SIMULTANEOUS}{method_name(by_itself(method))}"
    kind, _, rest = method.partition(" ")
    if rest and kind == "korn-graubard":
        return f"{methods_text(rest.split(', '))} (Korn-Graubard)"
    return method


def methods_text(methods: Iterable[str]) -> str:
    """Several methods, each once, as they stand before the word *intervals*.

    >>> methods_text(["mover", "mover", "donner-zou", "wald"])
    'square-and-add (MOVER), Donner-Zou and Wald'
    """
    *names, last = map(method_name, dict.fromkeys(methods))
    return f"{', '.join(names)} and {last}" if names else last

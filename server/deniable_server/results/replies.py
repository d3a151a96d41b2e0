"""How many replies a number is from: those to its question, from its groups, and not all of the survey."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from deniable import Question, Tally
from deniable_server.results.written import Words, counted
from deniable_statistics.published.steady_text import steady


def replies_to(
    question: Question, tallies: Mapping[str | None, Tally], cohorts: Iterable[str | None] | None = None
) -> int:
    """How many replies answer a question: of these cohorts, by default of everybody.

    Parameters
    ----------
    question : Question
    tallies : mapping of cohort to Tally
    cohorts : iterable of str or None, optional
    """
    chosen = [tallies[each] for each in (tallies if cohorts is None else cohorts) if each in tallies]
    return sum(int(question.counted(tally.counts[question.id], tally.n)[1]) for tally in chosen)


def counted_replies(question: Question, n: int, everybody: int, words: Words, is_crossed: bool = False) -> str:
    """The number of replies to a question, and of how many; to two questions, where it is crossed with another one.

    Parameters
    ----------
    question : Question
    n, everybody : int
        Replies to the question, or to both, and all replies of the survey.
    words : mapping of str to str
    is_crossed : bool
    """
    values = {"n": counted(n, words), "all": counted(everybody, words)}
    if is_crossed:
        return words["rCountBoth"].format(**values)
    if question.group is None or not question.group.is_drawn:
        return words["rCount"].format(**values)
    return words["rCountAsked"].format(**values, draw=question.group.draw, size=question.group.size)


def replies_of_groups(numbers: Mapping[str, int], words: Words) -> str:
    """How many replies came from each group, such as *367 replies from the workshop and 1 reply from the web*."""
    said = [
        words["rReplyFrom" if n == 1 else "rRepliesFrom"].format(n=counted(n, words), group=steady(group))
        for group, n in numbers.items()
    ]
    *others, last = said
    return words["rLastOf"].format(others=", ".join(others), last=last) if others else last


def replies_behind(n: int, words: Words, is_crossed: bool) -> str:
    """How many replies to a question, or to two crossed ones, a sentence rests on."""
    one, several = ("rReplyBoth", "rRepliesBoth") if is_crossed else ("rReplyAsked", "rRepliesAsked")
    return words[one if n == 1 else several].format(n=counted(n, words))

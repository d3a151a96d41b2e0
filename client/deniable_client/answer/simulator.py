"""The trial: what would be sent if somebody typed send many times, for answers that nobody gave."""

from __future__ import annotations

from collections import Counter

from deniable.randomness import Word, system_word
from deniable.survey.question import Question
from deniable_client.answer import messages as m
from deniable_client.device import Given, true_answer

PRESSES = 100
"""Number of times that sending is simulated."""


def split(question: Question, answer: Given, presses: int = PRESSES, word: Word = system_word) -> dict[str, int]:
    """The numbers of reports of each kind if one answer is randomised many times.

    Parameters
    ----------
    question : Question
    answer : str, int or sequence of str
        An answer in the form in which people give it, but never one that a person gave: many draws would reveal it.
    presses : int
    word : callable
        Source of uniform 32-bit words.

    Returns
    -------
    dict of str to int
        For a question with options, the number of draws that support each, which for sets and boxes do not add up to
        ``presses``; for means, the numbers of 0 and of 1; for numbers, the number of draws that send the answer itself.

    Examples
    --------
    >>> from deniable import TwoCoin
    >>> question = Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2"))
    >>> split(question, "yes", presses=3, word=lambda: 0)          # the first coin says: the truth
    {'no': 0, 'yes': 3}
    """
    mechanism, choice = question.mechanism, true_answer(question, answer)
    # Safe only because nobody gave this answer: 100 draws of a true one would tell it.
    sent = [mechanism.randomize(choice, word) for _ in range(presses)]
    if not mechanism.has_shares:
        return {str(end): sent.count(end) for end in range(mechanism.reports.size)}
    if not question.options:
        same = sent.count(choice)
        return {m.TRY_SAME: same, m.TRY_OTHER: presses - same}
    supported = Counter(option for value in sent for option in mechanism.reports.supports(value))
    counts = [supported[option] for option in range(mechanism.reports.size)]
    return dict(zip(question.options, map(int, mechanism.reports.supporting(counts)), strict=True))

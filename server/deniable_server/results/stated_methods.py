"""How the numbers of a view were computed: each method with its confidence level, in sentences for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deniable import Question
from deniable_server.results.crossed_view import shown_rows
from deniable_server.results.headlines import Headline
from deniable_server.results.written import Words, level_text
from deniable_statistics.published.leading import lead_level
from deniable_statistics.published.method_names import SIMULTANEOUS, by_itself, method_name
from deniable_statistics.views.crossed import has_likelihood, pairs_compared
from deniable_statistics.views.view_row import ViewOptions, ViewRow


def stated_methods(
    question: Question,
    rows: Sequence[ViewRow],
    options: ViewOptions,
    words: Words,
    given: Question | None = None,
    said: Sequence[Headline] = (),
) -> list[str]:
    """The methods of a view of one question, those of its sentences included.

    Parameters
    ----------
    question : Question
    rows : sequence of ViewRow
    options : ViewOptions
        What the view shows.
    words
    given : Question, optional
        The question with which it is crossed.
    said : sequence of Headline
        The headlines of the view.
    """
    if not rows:
        return []
    level = level_text(options.confidence_level, words)
    if given is not None:
        return [*_of_crossed(question, given, level, words)]
    if options.compare:
        return [*_of_differences(rows, level, words)]
    return of_shares(rows, options.confidence_level, words, said)


def of_shares(rows: Sequence[ViewRow], level: float, words: Words, said: Sequence[Headline]) -> list[str]:
    """The methods of shares and means, and of the lead of an answer where a headline is about one."""
    methods = dict.fromkeys(row.method for row in shown_rows(rows))
    at_once = any(each.startswith(SIMULTANEOUS) for each in methods)
    found = [
        words["rIntervalsBy"].format(methods=", ".join(dict.fromkeys(map(method_name, methods)))),
        words["rLevelAtOnce" if at_once else "rLevelEach"].format(level=level_text(level, words)),
    ]
    if any(each.is_about_lead for each in said):
        stricter = level_text(lead_level(level), words)
        found.append(words["rLeadBy"].format(level=level_text(level, words), stricter=stricter))
    return found


def _of_differences(rows: Sequence[ViewRow], level: str, words: Words) -> Iterator[str]:
    """The methods of differences of groups, and how several of them hold together."""
    # The sentence itself says how all of them hold at once.
    methods = dict.fromkeys(method_name(by_itself(row.method)) for row in rows)
    yield words["rDifferencesBy"].format(methods=", ".join(methods))
    yield words["rDifferencesShare" if len(rows) > 1 else "rDifferenceAlone"].format(level=level, n=len(rows))


def _of_crossed(question: Question, given: Question, level: str, words: Words) -> Iterator[str]:
    """The methods of shares within groups, and of their differences."""
    yield words["rByLikelihood" if has_likelihood(question, given) else "rByFieller"]
    yield words["rLevelEach"].format(level=level)
    pairs = pairs_compared(question, given)
    if pairs:
        yield words["rRowDifferencesBy"].format(methods=method_name("mover"))
        yield words["rDifferencesShare" if pairs > 1 else "rDifferenceAlone"].format(level=level, n=pairs)

"""What an author is told of a survey that revises another one, before it is published."""

from __future__ import annotations

from collections.abc import Iterator

from deniable.privacy.ceiling import Ceiling
from deniable.table import format_table
from deniable_statistics.published.revision import RevisedQuestion, Revision

_WORDS = {
    "kept": ("the same noisy value again", "can be pooled"),
    "pooled": ("a new draw, and its epsilon anew", "can be pooled"),
    "changed": ("a new draw, and its epsilon anew", "apart"),
    "new": ("a draw of their own", "not asked before"),
}
"""What devices that answered the predecessor send, and what becomes of results, by `RevisedQuestion.fate`."""


def revision_lines(revision: Revision) -> Iterator[str]:
    """The questions of a revision, what they cost whoever answered the predecessor, and what to see to."""
    yield f"Revises {revision.old.title!r}, survey {revision.old.id}\n"
    rows = [(each.id, _was(each), *_WORDS[each.fate]) for each in revision.questions]
    yield format_table(("question", "was", "devices that answered it send", "results"), rows)
    yield ""
    for each in revision.questions:
        if each.differs:
            yield f"{each.id}: differs in {', '.join(each.differs)}"
    if revision.dropped:
        yield f"Not asked any more: {', '.join(revision.dropped)}"
    yield from _cost(revision)
    yield (
        "Whoever answers both versions counts twice in pooled results: invite people who have not answered, or show "
        "the versions beside each other"
    )
    if revision.new.access != "open":
        yield "Invitations to the predecessor do not hold here: invite to this survey, too"
    if revision.new.access == "unlinkable" and revision.kept:
        yield (
            "Values that are sent again tell which two replies may be of one person, so blind tokens do not hide who "
            'answered both; mechanism = "longitudinal" makes that harder'
        )


def _was(question: RevisedQuestion) -> str:
    return "" if question.before in (None, question.id) else str(question.before)


def _cost(revision: Revision) -> Iterator[str]:
    both, alone, limit = revision.epsilon_of_both, revision.new.epsilon, Ceiling().survey
    yield f"Epsilon {alone:.4g} for whoever answers this version alone, {both:.4g} for whoever answered both"
    if both > limit >= alone:
        yield (
            f"Devices that answered the predecessor within 90 days refuse this version, because {both:.4g} is more "
            f"than {limit:g}; leave more questions as they were, or invite other people"
        )

"""The arrangement of a survey: sections, grids and random orders.

It says how questions are shown, and changes nothing that is asked, remembered or sent: reports have the questions in
the order of the document.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deniable.errors import SurveyError
from deniable.randomness import Word
from deniable.survey.order import RandomOrder
from deniable.survey.question import Question
from deniable.survey.question_types import AnswerKind
from deniable.survey.texts import DEFAULT, MAX_LABEL, MAX_TEXT, check_texts, publish_text, publish_texts

STEM_END = "\n"
"""What stands between the stem of a grid and its item in the text of a question, which has both."""


@dataclass(frozen=True)
class Block:
    """Questions that are shown together: the whole survey, a section, or a grid.

    Attributes
    ----------
    of : tuple of str or Block
        Ids of questions, and blocks; together they are consecutive questions of the survey. The survey holds sections,
        grids and questions, a section holds grids and questions, a grid holds questions.
    heading, text : str or None
        What stands before the questions of a section.
    order : RandomOrder or None
        In which order they are shown; None for that of the document.
    is_grid : bool
        Whether the questions share their options, and are shown as the rows of one table where there is room. The text
        of each is the common stem, a line break, and the item.
    """

    of: tuple[str | Block, ...]
    heading: str | None = None
    text: str | None = None
    order: RandomOrder | None = None
    is_grid: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of its questions, in the order of the document."""
        return tuple(name for each in self.of for name in ((each,) if isinstance(each, str) else each.ids))

    @property
    def is_needed(self) -> bool:
        """Whether a survey without it would be shown otherwise."""
        return self.order is not None or any(isinstance(each, Block) for each in self.of)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks in it, each before those that it holds."""
        return tuple(inner for each in _blocks(self) for inner in (each, *each.blocks))

    def publish(self) -> dict[str, Any]:
        """The block as a survey publishes it."""
        return (
            {"of": [each if isinstance(each, str) else each.publish() for each in self.of]}
            | publish_texts(heading=self.heading, text=self.text)
            | (self.order.publish() if self.order else {})
            # Left out where it is false, so that surveys without grids keep their addresses.
            | ({"grid": True} if self.is_grid else {})
        )

    def drawn(self, word: Word) -> Block:
        """Draw the order of the block, then those of its parts, and give it with its parts in the order shown.

        Parts are drawn in the order of the document, so that words mean the same whatever was drawn before.
        """
        places = self.order.draw(len(self.of), word) if self.order else range(len(self.of))
        parts = [each if isinstance(each, str) else each.drawn(word) for each in self.of]
        return replace(self, of=tuple(parts[place] for place in places), order=None)

    def only(self, shown: Collection[str]) -> Block:
        """Leave out the questions that are not shown, and parts that have no other ones."""
        parts = (each if isinstance(each, str) else each.only(shown) for each in self.of)
        return replace(self, of=tuple(each for each in parts if (each in shown if isinstance(each, str) else each.of)))

    def paths(self, path: tuple[tuple[Block, int], ...] = ()) -> Iterator[tuple[str, tuple[tuple[Block, int], ...]]]:
        """For each question the blocks that hold it, the widest first, and its place in each of them."""
        for place, each in enumerate(self.of):
            here = (*path, (self, place))
            if isinstance(each, str):
                yield each, here
            else:
                yield from each.paths(here)


@dataclass(frozen=True)
class Presentation:
    """The order in which one device shows a survey, drawn once for a visit.

    Attributes
    ----------
    block : Block
        The questions that are shown, in order.
    choices : mapping of str to tuple of str
        The options of each question that has them in a random order, as they are shown.
    """

    block: Block
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def choices_of(self, question: Question) -> tuple[str, ...]:
        """What people choose from, in the order in which it is shown."""
        return self.choices.get(question.id, question.choices)

    def introduction(self, name: str, applying: Collection[str]) -> list[str]:
        """The headings and texts of the sections that begin with a question, if these are the ones that apply."""
        # Only what applies counts: a section whose first question is skipped begins with the next one.
        begun = [section for section in _blocks(self.block) if next(iter(section.only(applying).ids), None) == name]
        return [text for section in begun for text in (section.heading, section.text) if text is not None]


def present(arrangement: Block, questions: Sequence[Question], shown: Collection[str], word: Word) -> Presentation:
    """Draw the order in which a device shows questions: sections and questions first, then options.

    Everything is drawn, also for questions that this device does not show: so the number of words does not depend on
    what it asks.
    """
    # Blocks before options, as in `arrangement.js`: both take the same words for the same things.
    block = arrangement.drawn(word)
    choices = {
        each.id: tuple(each.choices[place] for place in each.order.draw(len(each.choices), word))
        for each in questions
        if each.order
    }
    return Presentation(block.only(shown), choices)


def check_arrangement(root: Block, questions: Sequence[Question]) -> None:
    """Raise a SurveyError unless the blocks hold all questions in order, as filters need them."""
    # Reports have the order of the survey, so an arrangement may group questions and never move them.
    if root.ids != tuple(each.id for each in questions):
        raise SurveyError("arrangement: must hold all questions once, in the order of the survey")
    # Two documents that show the same survey would have two addresses.
    if root.heading is not None or root.text is not None or root.is_grid or not root.is_needed:
        raise SurveyError("arrangement: must hold a section, a grid or an order, and have no heading or text itself")
    by_id = {each.id: each for each in questions}
    _check_order(root, "survey", "sections or questions")
    for section in _blocks(root):
        if not section.is_grid:
            _check_section(section)
        for grid in (section,) if section.is_grid else _blocks(section):
            _check_grid(grid, by_id)
    _check_filters(root, questions)


def _blocks(block: Block) -> list[Block]:
    return [each for each in block.of if isinstance(each, Block)]


def _check_order(block: Block, where: str, what: str) -> None:
    if block.order:
        block.order.check(len(block.of), where, what)


def _check_section(section: Block) -> None:
    where = name_of(section)
    if not section.of:
        raise SurveyError(f"{where}: must hold questions, got none")
    if section.heading is None and section.text is None and section.order is None:
        raise SurveyError(f"{where}: must have a heading, a text or an order")
    check_texts(section, f"{where}: ", heading=MAX_LABEL, text=MAX_TEXT)
    _check_order(section, where, "questions")
    if any(not each.is_grid for each in _blocks(section)):
        raise SurveyError(f"{where}: must hold questions and grids, got a section in it")


def _check_grid(grid: Block, by_id: Mapping[str, Question]) -> None:
    where = name_of(grid)
    if _blocks(grid) or grid.heading is not None or grid.text is not None or len(grid.of) < 2:
        raise SurveyError(f"{where}: must hold at least 2 questions, and nothing else")
    # One row of options serves all questions of a grid, so they must not differ in anything that it shows.
    first, *others = (by_id[name] for name in grid.ids)
    if first.kind.answers is AnswerKind.RANGE or first.kind.takes_several or first.order:
        raise SurveyError(f"{where}: must be of questions with one answer out of options in a fixed order")
    # It would stand between two rows of the table.
    if first.before is not None:
        raise SurveyError(f"{where}: its questions must have no text before them")
    if any(_row(each) != _row(first) for each in others):
        raise SurveyError(f"{where}: its questions must have the same type, options, help and ask_if")
    # What the rows have in common is shown once, above them, in each language.
    if any(stems(each.text) != stems(first.text) for each in others):
        raise SurveyError(f"{where}: texts of its questions must begin with the same lines, and end with one line each")
    _check_order(grid, where, "items")


def _row(question: Question) -> tuple[object, ...]:
    """What the questions of a grid have in common."""
    options = [publish_text(each) for each in question.options]
    about = question.ask_if and question.ask_if.publish()
    told = question.help and publish_text(question.help)
    return question.type, options, question.last, about, told, question.before, question.order


def stems(text: str) -> dict[str, str]:
    """What stands before the last line of a text, by language.

    >>> stems("How much do you trust\\nthe police?")
    {'default': 'How much do you trust'}
    """
    forms = publish_text(text)
    spoken = forms if isinstance(forms, dict) else {DEFAULT: forms}
    parts = {language: each.rpartition(STEM_END) for language, each in spoken.items()}
    if not all(stem and item for stem, _, item in parts.values()):
        raise SurveyError("grid: the text of each of its questions must be the stem, a line break, and the item")
    return {language: stem for language, (stem, _, _) in parts.items()}


def name_of(block: Block) -> str:
    """How messages name a section or a grid.

    >>> name_of(Block(("drinks",), heading="Habits"))
    "section 'Habits'"
    """
    kind = "grid" if block.is_grid else "section"
    return f"{kind} {str(block.heading)!r:.60}" if block.heading else f"{kind} of {', '.join(block.ids)}"


def _check_filters(root: Block, questions: Sequence[Question]) -> None:
    """Raise a SurveyError that names a question that a random order may put before one that its filter is about."""
    paths = dict(root.paths())
    for each in questions:
        for name in each.ask_if.named if each.ask_if else ():
            block, earlier, later = _parting(paths[name], paths[each.id])
            if block.order and not block.order.keeps(earlier, later, len(block.of)):
                where = "the survey" if block is root else name_of(block)
                raise SurveyError(
                    f"question {each.id!r}: ask_if is about {name!r}, which the random order of {where} can put after "
                    "it; let fixed_first or fixed_last there keep one of them in place"
                )


def _parting(one: Sequence[tuple[Block, int]], other: Sequence[tuple[Block, int]]) -> tuple[Block, int, int]:
    """The block in which the paths of two questions part, and their places in it."""
    # Both paths begin at the survey, and no question holds another: so they part.
    return next(
        (block, place, another) for (block, place), (_, another) in zip(one, other, strict=False) if place != another
    )

"""Conditions as authors write them: ``smokes = yes and not (age < 30 or drugs has cannabis)``.

The grammar, loosest first, where brackets join as they do elsewhere::

    condition = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation = "not" negation | "(" condition ")" | test
    test = id "applies" | id "has" value | id [ "not" ] "in" "(" value { "," value } ")" | id sign value
    sign = "=" | "!=" | "<" | "<=" | ">" | ">="

A value is a word, or a text in quotes. Words of the grammar are read in any case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from deniable.errors import SurveyError, shown
from deniable.survey.condition import MAX_DEPTH, Among, Answers, Condition, Has, Joined, among, check_condition, joined
from deniable.survey.question import Question
from deniable.survey.question_types import AnswerKind, QuestionType

MAX_LENGTH = 2000
"""Longest condition, in characters."""

MAX_BRACKETS = 20
"""Deepest nesting of brackets and nots, before what is equal is joined."""

_TOKEN = re.compile(r"""\s*(?:(<=|>=|!=|[=<>(),\[\]])|"([^"]*)"|'([^']*)'|([^\s=<>!(),\[\]"']+))""")
_RESERVED = ("and", "or", "not", "in", "has", "applies")
_SIGNS = ("=", "!=", "<", "<=", ">", ">=")
_INTEGER = re.compile(r"-?[0-9]{1,15}")


@dataclass(frozen=True)
class Earlier:
    """An earlier question, as conditions are about it.

    Attributes
    ----------
    kind : QuestionType
    choices : tuple of str
        What people choose from; empty for a number.
    numbers : range
        The answers of a number; empty elsewhere.
    is_filtered : bool
        Whether it has a filter of its own, and so one answer more: *does not apply*.
    """

    kind: QuestionType
    choices: tuple[str, ...]
    numbers: range
    is_filtered: bool

    @property
    def answers(self) -> Answers:
        """Its answers as mechanisms number them."""
        # Behind the answers that people give stands *does not apply*, where there is a filter.
        possible = range(self.first, self.last + 1 + self.is_filtered)
        return Answers(possible, self.kind.takes_several, self.is_filtered)

    @property
    def is_number(self) -> bool:
        """Whether it is answered by a number of a range."""
        return self.kind.answers is AnswerKind.RANGE

    @property
    def first(self) -> int:
        """The first answer that somebody can give."""
        return self.numbers[0] if self.is_number else 0

    @property
    def last(self) -> int:
        """The last answer that somebody can give."""
        return self.numbers[-1] if self.is_number else len(self.choices) - 1

    def number_of(self, value: str) -> int | None:
        """The number of an answer by its words, exactly or else in any case; None where there is no such one."""
        if self.is_number:
            return int(value) if _INTEGER.fullmatch(value) and int(value) in self.numbers else None
        if value in self.choices:
            return self.choices.index(value)
        # In any case only where that leaves no doubt: "us" and "US" may both be options.
        alike = [n for n, each in enumerate(self.choices) if each.casefold() == value.casefold()]
        return alike[0] if len(alike) == 1 else None

    def place_of(self, value: str) -> int | None:
        """Where a number stands among the ordered answers, also beyond their ends; None where they have no order."""
        if not self.kind.has_numbers or not _INTEGER.fullmatch(value):
            return None
        return int(value) - (0 if self.is_number else int(self.choices[0]))


def read_condition(text: object, earlier: Mapping[str, Earlier], later: Mapping[str, Sequence[str]]) -> Condition:
    """Read an author's condition.

    Parameters
    ----------
    text : str
    earlier : mapping of str to Earlier
        The questions that stand before, by id.
    later : mapping of str to sequence of str
        The questions from this one on, this one first, each with the ids that its own condition may be about.

    Raises
    ------
    SurveyError
        If it is not a condition on earlier answers; the message has no subject.
    """
    if not isinstance(text, str):
        raise SurveyError(f'must be a condition such as "smokes = yes", got {shown(text)}')
    if len(text) > MAX_LENGTH:
        raise SurveyError(f"must be at most {MAX_LENGTH} characters, got {len(text)}")
    reader = _Reader(_tokens(text), earlier, later)
    condition = reader.read()
    if condition.depth > MAX_DEPTH:
        raise SurveyError(f"must nest at most {MAX_DEPTH} deep, got {condition.depth}; take brackets apart")
    check_condition(condition, {name: each.answers for name, each in earlier.items()})
    return condition


def words_of(text: object) -> tuple[str, ...]:
    """All words of a condition, among which the ids are that it may be about; none of what is no condition."""
    if not isinstance(text, str) or len(text) > MAX_LENGTH:
        return ()
    return tuple(found[4] for found in _TOKEN.finditer(text) if found[4])


@dataclass(frozen=True)
class _Token:
    text: str
    is_quoted: bool = False

    def is_word(self, *words: str) -> bool:
        return not self.is_quoted and self.text.casefold() in words


_END = _Token("")


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    place = 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            raise SurveyError(f"cannot be read from {shown(text[place:].strip()[:30])} on")
        sign, double, single, word = match.groups()
        quoted = double if double is not None else single
        found.append(_Token(sign or word) if quoted is None else _Token(quoted, is_quoted=True))
        place = match.end()
    return found


@dataclass
class _Reader:
    """Reads tokens from the first to the last."""

    tokens: list[_Token]
    earlier: Mapping[str, Earlier]
    later: Mapping[str, Sequence[str]]
    place: int = field(default=0)
    depth: int = field(default=0)

    def read(self) -> Condition:
        condition = self._joined("or")
        if self._now is not _END:
            self._expected("and, or, or the end")
        return condition

    @property
    def _now(self) -> _Token:
        return self.tokens[self.place] if self.place < len(self.tokens) else _END

    def _next(self) -> _Token:
        token = self._now
        self.place += 1
        return token

    def _takes(self, *words: str) -> bool:
        """Whether the next token is one of these words, which is then read."""
        found = self._now.is_word(*words)
        self.place += found
        return found

    def _expected(self, what: str) -> NoReturn:
        came = "the end" if self._now is _END else shown(self._now.text)
        raise SurveyError(f"must have {what}, got {came}")

    def _joined(self, word: str) -> Condition:
        """Conditions joined by ``or``, whose parts are joined by ``and``."""
        parts = [self._part(word)]
        while self._takes(word):
            parts.append(self._part(word))
        return joined("any" if word == "or" else "all", parts)

    def _part(self, word: str) -> Condition:
        return self._joined("and") if word == "or" else self._negation()

    def _negation(self) -> Condition:
        # Brackets are counted while they are open: deep ones would exhaust Python's stack before anybody sees the
        # depth.
        self.depth += 1
        if self.depth > MAX_BRACKETS:
            raise SurveyError(f"must nest at most {MAX_BRACKETS} brackets and nots")
        found = self._bracketed()
        self.depth -= 1
        return found

    def _bracketed(self) -> Condition:
        if self._takes("not"):
            return opposite(self._negation())
        if self._takes("("):
            found = self._joined("or")
            if not self._takes(")"):
                self._expected("a closing bracket )")
            return found
        return self._test()

    def _test(self) -> Condition:
        token = self._next()
        if token is _END or token.is_quoted or token.is_word(*_RESERVED, *_SIGNS, ")", ",", "[", "]"):
            self.place -= 1
            self._expected("the id of an earlier question")
        name = token.text
        asked = self._question(name)
        if self._takes("applies"):
            return self._applies(name, asked)
        if self._takes("has"):
            return self._has(name, asked)
        if asked.kind.takes_several:
            raise SurveyError(
                f"must say {name} has {shown(asked.choices[0])}, because question {name!r} takes several answers"
            )
        if self._takes("not"):
            if not self._takes("in"):
                self._expected("in")
            return opposite(self._in(name, asked))
        if self._takes("in"):
            return self._in(name, asked)
        if not self._now.is_word(*_SIGNS):
            self._expected(f"one of {', '.join(_SIGNS)}, in, has or applies behind {name}")
        return self._compared(name, asked, self._next().text)

    def _question(self, name: str) -> Earlier:
        if name in self.earlier:
            return self.earlier[name]
        if name not in self.later:
            known = ", ".join(self.earlier) or "there is none"
            raise SurveyError(f"must be about earlier questions ({known}), got {shown(name)}")
        # The first of those that stand later is the question whose condition this is.
        own = next(iter(self.later))
        if name == own:
            raise SurveyError("must be about earlier questions, got the question itself: a circle")
        if own in self._behind(name):
            raise SurveyError(f"must be about earlier questions; {name!r} depends on {own!r} in turn: a circle")
        raise SurveyError(f"must be about earlier questions; {name!r} comes later, so move it up")

    def _behind(self, name: str) -> set[str]:
        """All questions that a later one may depend on, directly or by way of others."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            more = set(self.later.get(waiting.pop(), ())) - found
            found |= more
            waiting += more & self.later.keys()
        return found

    def _applies(self, name: str, asked: Earlier) -> Condition:
        if not asked.is_filtered:
            raise SurveyError(
                f"must not say {name} applies, because question {name!r} has no ask_if and applies to everybody"
            )
        if asked.kind.takes_several:
            # Whoever it does not apply to has the box behind the last one ticked.
            return Has(name, asked.last + 1, is_ticked=False)
        return among(name, [(asked.first, asked.last)], asked.answers.possible)

    def _has(self, name: str, asked: Earlier) -> Condition:
        if not asked.kind.takes_several:
            raise SurveyError(f"must say {name} = ..., because question {name!r} takes one answer")
        return Has(name, self._answer(name, asked))

    def _in(self, name: str, asked: Earlier) -> Among:
        closing = {"(": ")", "[": "]"}.get(self._now.text)
        if closing is None or self._now.is_quoted:
            self._expected(f"a list in brackets behind {name} in")
        self.place += 1
        answers = [self._answer(name, asked)]
        while self._takes(","):
            answers.append(self._answer(name, asked))
        if not self._takes(closing):
            self._expected(f"a comma or {closing}")
        found = among(name, [(each, each) for each in answers], asked.answers.possible)
        # With a filter *does not apply* is left outside, so that the test can fail all the same.
        if not asked.is_filtered and not found.outside:
            raise SurveyError(f"must leave out an answer to {name!r}, got all of them: {name} in ... always holds")
        return found

    def _answer(self, name: str, asked: Earlier) -> int:
        """The number of the answer that stands next."""
        value = self._value()
        number = asked.number_of(value)
        if number is None:
            possible = f"{asked.numbers[0]} to {asked.numbers[-1]}" if asked.is_number else ", ".join(asked.choices)
            quotes = "; put an answer of several words in quotes" if any(" " in each for each in asked.choices) else ""
            raise SurveyError(f"must name an answer to {name!r} ({possible:.300}), got {shown(value)}{quotes}")
        return number

    def _value(self) -> str:
        token = self._next()
        if token is _END or (not token.is_quoted and token.text in (*_SIGNS, "(", ")", ",", "[", "]")):
            self.place -= 1
            self._expected("an answer, in quotes where it has several words")
        return token.text

    def _compared(self, name: str, asked: Earlier, sign: str) -> Condition:
        if sign in ("=", "!="):
            if self._takes("="):
                raise SurveyError(f"must have one = behind {name}, got ==")
            number = self._answer(name, asked)
            found = among(name, [(number, number)], asked.answers.possible)
            return found if sign == "=" else opposite(found)
        value = self._value()
        place = asked.place_of(value)
        if place is None:
            which = (
                f"compare {name} with a whole number"
                if asked.kind.has_numbers
                else f"say {name} = ... or {name} in (...)"
            )
            why = "" if asked.kind.has_numbers else ", whose answers have no order"
            raise SurveyError(f"must {which}{why}, got {sign} {shown(value)}")
        low, high = asked.first, asked.last
        interval = {
            "<": (low, place - 1),
            "<=": (low, place),
            ">": (place + 1, high),
            ">=": (place, high),
        }[sign]
        # *Does not apply* is above every number and must not count as more than any.
        found = among(name, [(max(interval[0], low), min(interval[1], high))], asked.answers.possible)
        is_all = found.intervals == ((low, high),) and not asked.is_filtered
        if not found.intervals or is_all:
            said = "can never hold" if not found.intervals else "always holds"
            raise SurveyError(f"must depend on {name!r}, which has {self._range(asked)}; {name} {sign} {value} {said}")
        return found

    @staticmethod
    def _range(asked: Earlier) -> str:
        if asked.is_number:
            return f"the answers {asked.numbers[0]} to {asked.numbers[-1]}"
        return f"the answers {asked.choices[0]} to {asked.choices[-1]}"


def condition_words(condition: Condition, questions: Mapping[str, Question]) -> str:
    """A condition as an author could have written it.

    >>> from deniable import Question, Warner
    >>> smokes = Question("smokes", "yes-no", "?", ("no", "yes"), Warner.from_epsilon(1))
    >>> condition_words(among("smokes", [(1, 1)], range(2)), {"smokes": smokes})
    'smokes = yes'
    """
    if isinstance(condition, Joined):
        word = " and " if condition.name == "all" else " or "
        parts = ((condition_words(each, questions), isinstance(each, Joined)) for each in condition.parts)
        return word.join(f"({text})" if is_joined else text for text, is_joined in parts)
    if isinstance(condition, Has):
        return _has_words(condition, questions[condition.question])
    assert isinstance(condition, Among)
    return _among_words(condition, questions[condition.question])


def _has_words(test: Has, question: Question) -> str:
    if question.ask_if and test.box == len(question.choices):
        return f"not {question.id} applies" if test.is_ticked else f"{question.id} applies"
    text = f"{question.id} has {_quoted(str(question.options[test.box]))}"
    return text if test.is_ticked else f"not {text}"


def _among_words(test: Among, question: Question) -> str:
    name, possible = question.id, question.mechanism.answer_range
    none = possible[-1] if question.ask_if else None
    last = possible[-1] - (none is not None)

    def word(number: int) -> str:
        return _quoted(str(question.options[number])) if question.options else str(number)

    if none is not None and test.intervals[-1][1] == none:
        # Everybody else, and those whom it does not apply to: the opposite says it without them.
        return (
            f"not {name} applies"
            if test.intervals == ((none, none),)
            else f"not ({_among_words(Among(test.question, test.outside, test.intervals), question)})"
        )
    if none is not None and test.intervals == ((possible[0], last),):
        return f"{name} applies"
    if len(test.intervals) == 1 and question.kind.has_numbers:
        low, high = test.intervals[0]
        if low < high:
            ends = [f"{name} >= {word(low)}"] * (low > possible[0]) + [f"{name} <= {word(high)}"] * (high < last)
            return " and ".join(ends) if len(ends) == 1 else f"({' and '.join(ends)})"
    numbers = [number for low, high in test.intervals for number in range(low, high + 1)]
    if len(numbers) == 1:
        return f"{name} = {word(numbers[0])}"
    return f"{name} in ({', '.join(map(word, numbers))})"


def opposite(condition: Condition) -> Condition:
    """The condition that holds where this one does not, if all answers are there.

    >>> opposite(Joined("all", (Has("drugs", 0), Has("drugs", 2)))).publish()
    ['any', ['lacks', 'drugs', 0], ['lacks', 'drugs', 2]]
    """
    match condition:
        case Among(question, intervals, outside):
            return Among(question, outside, intervals)
        case Has(question, box, is_ticked):
            return Has(question, box, not is_ticked)
        case Joined(name, parts):
            # De Morgan: not (a and b) is (not a) or (not b), and the other way round.
            return Joined("any" if name == "all" else "all", tuple(map(opposite, parts)))
    raise TypeError(f"condition: must be of a known kind, got {type(condition).__name__}")


def _quoted(text: str) -> str:
    """A value as conditions hold it: in quotes where it is no single word, or one of the grammar's own."""
    found = _TOKEN.fullmatch(text)
    is_word = found is not None and found[4] == text and text.casefold() not in _RESERVED
    # A text with both kinds of quotes cannot be written here; options that hold one kind are put in the other.
    return text if is_word else f'"{text}"' if "'" in text else f"'{text}'"

"""The canonical form of a report, in which both clients write it, and its fast reader.

A collector reads a report for every person who answers, so the form that nearly all of them have is read by one regular
expression. `deniable.report.report` reads every other form as JSON and makes all error messages. As measured, that
takes 3.4 times as long for a report of one question and 3.2 times for one of five.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

from deniable.wire.space import Value

Check = Callable[[object, str], Value]

_COHORT = r'null|"([ !#-\[\]-~]*)"'
"""A cohort in ASCII without characters that JSON escapes, or null."""

_VALUES: dict[type, str] = {int: "(0|-?[1-9][0-9]{0,13})", str: '"([01]*)"'}

REMEMBERED = 4096
"""Size of the caches, in values: of each question alone, and of all questions together."""


class CanonicalForm:
    """The form of a survey's reports, as both clients write them.

    Every parser of JSON reads what has this form alike, so nothing is left for `deniable.wire.strict_json` to refuse.
    """

    def __init__(
        self,
        types: Mapping[str, type[int] | type[str]],
        checks: Mapping[str, tuple[Check, str]],
        cohorts: Collection[str | None],
        check_draw: Callable[[Mapping[str, Value]], None] | None = None,
        credential: str | None = None,
    ) -> None:
        # Questions stand in the order of the survey, as both clients write them: one pattern fits nearly every report.
        asked = "(?:null|{})" if check_draw else "{}"
        right = f',"credential":"({credential})"' if credential else "()"
        values = ",".join(f'"{question}":{asked.format(_VALUES[kind])}' for question, kind in types.items())
        self._match = re.compile(
            f'{{"id":"([0-9a-f]{{32}})","cohort":(?:{_COHORT}),"values":({{{values}}}){right}}}'
        ).fullmatch
        # A set of the few that there are: reading escapes is left to the strict parser.
        self._cohorts = frozenset(cohorts)
        self._readers = [(question, _reader(kind, *checks[question])) for question, kind in types.items()]
        self._check_draw = check_draw
        self._known: dict[str, Mapping[str, Value]] = {}
        # A bound in values, whatever the number of questions.
        self._room = REMEMBERED // len(types)

    def read(self, raw: bytes) -> tuple[str, str | None, Mapping[str, Value], str | None] | None:
        """Id, cohort, values and credential of a report; None if its form or its cohort is another.

        Raises
        ------
        ReportError
            If a mechanism cannot have made such a value, or no device asks just these questions.
        """
        found = self._match(raw.decode("latin-1"))  # never fails, and equals ASCII where the form can match
        if found is None:
            return None
        report_id, cohort, text = found.group(1, 2, 3)
        # The strict parser refuses it with a message that names what was expected.
        if cohort not in self._cohorts:
            return None
        *texts, credential = found.groups()[3:]
        return report_id, cohort, self._known.get(text) or self._values(text, texts), credential or None

    def _values(self, text: str, texts: Sequence[str | None]) -> Mapping[str, Value]:
        values = {question: read(each) for (question, read), each in zip(self._readers, texts, strict=True)}
        if self._check_draw:
            self._check_draw(values)
        # Bounded: a sender who makes up values must not fill the memory.
        if len(self._known) < self._room:
            self._known[text] = values  # with few questions the same values come again
        return values


def _reader(kind: type[int] | type[str], check: Check, subject: str) -> Callable[[str | None], Value]:
    """A cached function that reads and checks the text of a noisy value; None stands for null."""

    @lru_cache(maxsize=REMEMBERED)
    def read(text: str | None) -> Value:
        return check(None if text is None else kind(text), subject)

    return read

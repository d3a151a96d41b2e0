"""Conditions of other tools in the words of a survey file: comparisons of earlier answers, joined by and, or, not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from deniable.survey.texts import DEFAULT
from deniable_server.authors.importing.imported_questions import Asked

_TOKEN = re.compile(
    r"""\s*(?:(?P<name>\$?\{[^{}]+\})|'(?P<single>[^']*)'|"(?P<double>[^"]*)"|(?P<number>-?\d+)(?![\w.])"""
    r"""|(?P<sign><=|>=|!=|<>|==|&&|\|\||[=<>(),!\[\]])|(?P<word>[A-Za-z][\w-]*(?:\(\))?))"""
)
_SAME = {"==": "=", "<>": "!=", "&&": "and", "||": "or", "!": "not", "notequal": "!=", "equal": "=", "greater": ">"} | {
    "less": "<", "greaterorequal": ">=", "lessorequal": "<="
}  # fmt: skip
_SIGNS = ("=", "!=", "<", "<=", ">", ">=")
_TRUTH = {"true": "yes", "false": "no", "true()": "yes", "false()": "no"}


NO_COMPARISON = "it is no comparison of earlier answers with options or numbers"


class Untranslatable(Exception):
    """A condition says what the words of a survey file do not; its text says what."""

    def __init__(self, why: str = NO_COMPARISON) -> None:
        super().__init__(why)


Known = Mapping[str, tuple[str, Asked]]
"""The questions that were taken over before: id and question, by their name in the other tool."""


def translate(condition: str, known: Known) -> str:
    """A condition of XLSForm or SurveyJS in the words of a survey file; an empty one is an empty text.

    Raises
    ------
    Untranslatable
        If it cannot be said.

    Examples
    --------
    >>> smokes = Asked("s", "choice", {"default": "?"}, options=(("1", {"default": "Yes"}), ("2", {"default": "No"})))
    >>> translate("${s} = '1' or not(${s} = '2')", {"s": ("smokes", smokes)})
    "smokes = 'Yes' or not (smokes = 'No')"
    >>> translate("{s} anyof ['1', '2']", {"s": ("smokes", smokes)})
    "smokes in ('Yes', 'No')"
    """
    return _Reader(condition, known).whole() if condition.strip() else ""


class _Reader:
    """Reads a condition from left to right."""

    def __init__(self, text: str, known: Known) -> None:
        self.known = known
        self.tokens = list(_tokens(text))
        self.at = 0

    def whole(self) -> str:
        found = self._joined("or", lambda: self._joined("and", self._negation))
        if self.at < len(self.tokens):
            raise Untranslatable
        return found

    def _joined(self, word: str, part: Callable[[], str]) -> str:
        parts = [part()]
        while self._takes("word", word):
            parts.append(part())
        return f" {word} ".join(parts)

    def _negation(self) -> str:
        if self._takes("word", "not"):
            inner = self._negation()
            # `not` binds tighter than `and` in the other language too, but brackets leave no doubt.
            return f"not {inner}" if inner.startswith("(") else f"not ({inner})"
        if self._takes("sign", "("):
            inner = self._joined("or", lambda: self._joined("and", self._negation))
            self._needs("sign", ")")
            return f"({inner})"
        return self._selected() if self._takes("word", "selected") else self._test()

    def _selected(self) -> str:
        """``selected(${drugs}, 'cannabis')``"""
        self._needs("sign", "(")
        name = self._needs("name")
        self._needs("sign", ",")
        value = self._value()
        self._needs("sign", ")")
        return self._compared(name, "has" if self._question(name)[1].kind == "ticks" else "=", value)

    def _test(self) -> str:
        name = self._needs("name")
        kind, sign = self._next()
        if kind == "sign" and sign in _SIGNS:
            return self._compared(name, sign, self._value())
        if kind != "word" or sign not in ("contains", "anyof", "notcontains", "noneof", "allof"):
            raise Untranslatable
        each = [self._compared(name, self._verb(name), value) for value in self._list()]
        # One answer out of several options is among them; of boxes each has to be asked for.
        verb = "and" if sign == "allof" else "or"
        if len(each) == 1:
            said = each[0]
        elif verb == "or" and self._question(name)[1].kind != "ticks":
            said = self._among(each)
        else:
            said = f"({f' {verb} '.join(each)})"
        return f"not ({said.removeprefix('(').removesuffix(')')})" if sign in ("notcontains", "noneof") else said

    def _among(self, each: list[str]) -> str:
        """Several comparisons of one question, as one."""
        name = each[0].partition(" = ")[0]
        return f"{name} in ({', '.join(one.partition(' = ')[2] for one in each)})"

    def _verb(self, name: str) -> str:
        return "has" if self._question(name)[1].kind == "ticks" else "="

    def _list(self) -> list[str]:
        if not self._takes("sign", "["):
            return [self._value()]
        values = [self._value()]
        while self._takes("sign", ","):
            values.append(self._value())
        self._needs("sign", "]")
        return values

    def _value(self) -> str:
        kind, text = self._next()
        if kind == "word" and text in _TRUTH:
            return _TRUTH[text]
        if kind not in ("single", "double", "number") or not text:
            raise Untranslatable
        return text

    def _question(self, name: str) -> tuple[str, Asked]:
        if name not in self.known:
            raise Untranslatable(f"it is about {name}, which is not asked before it")
        return self.known[name]

    def _compared(self, name: str, sign: str, value: str) -> str:
        identifier, asked = self._question(name)
        is_number = asked.kind in ("scale", "rating", "number")
        # A number compared with a word, or a word with a number, means something else in the other tool.
        if is_number != (re.fullmatch(r"-?\d+", value) is not None and asked.kind not in ("choice", "ticks", "yes-no")):
            raise Untranslatable
        if is_number:
            return f"{identifier} {sign} {value}"
        if sign not in ("=", "!=", "has"):
            raise Untranslatable
        text = self._option(asked, value)
        if "'" in text and '"' in text:
            raise Untranslatable
        quote = '"' if "'" in text else "'"
        return f"{identifier} {sign} {quote}{text}{quote}"

    def _option(self, asked: Asked, value: str) -> str:
        if asked.kind == "yes-no":
            codes = {code: said for (code, _), said in zip(asked.options, ("no", "yes"), strict=True)}
            found = codes.get(value, value if value in ("yes", "no") else None)
        else:
            found = next((text[DEFAULT] for code, text in asked.options if code == value), None)
        if found is None:
            raise Untranslatable(f"{value!r:.60} is no option of {asked.name}")
        return found

    def _next(self) -> tuple[str, str]:
        if self.at >= len(self.tokens):
            raise Untranslatable
        self.at += 1
        return self.tokens[self.at - 1]

    def _takes(self, kind: str, text: str) -> bool:
        found = self.at < len(self.tokens) and self.tokens[self.at] == (kind, text)
        self.at += found
        return found

    def _needs(self, kind: str, text: str | None = None) -> str:
        found, said = self._next()
        if found != kind or text not in (None, said):
            raise Untranslatable
        return said


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or token.end() == at:
            raise Untranslatable
        at = token.end()
        kind, said = next((kind, each) for kind, each in token.groupdict().items() if each is not None)
        if kind == "name":
            said = said.strip("${}").strip()
        if kind in ("word", "sign"):
            said = _SAME.get(said.lower(), said.lower())
            kind = "word" if said in ("and", "or", "not") else "sign" if said in _SIGNS else kind
        found.append((kind, said))
    return found

"""Survey files from few arguments, for tests that need a survey of their own."""

from __future__ import annotations

import datetime
import json


def survey_toml(title: object, *questions: str, **keys: object) -> str:
    """A survey file with these keys, and with questions as `question_toml` writes them."""
    return "\n".join([_lines({"title": title, **keys}), *questions])


def question_toml(name: str, kind: str, text: object = "Q?", **keys: object) -> str:
    """A question of a survey file, its own keys as an author would write them.

    >>> print(question_toml("affair", "yes-no", truth="1/2"), end="")
    [[questions]]
    id = "affair"
    type = "yes-no"
    text = "Q?"
    truth = "1/2"
    """
    return "[[questions]]\n" + _lines({"id": name, "type": kind, "text": text, **keys})


def _lines(keys: dict[str, object]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in keys.items())


def _value(value: object) -> str:
    """A value as TOML writes it; its texts, lists and numbers look like those of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return str(value) if isinstance(value, datetime.date) else json.dumps(value, ensure_ascii=False)

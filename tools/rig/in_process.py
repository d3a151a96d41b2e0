"""A collector in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from apiflask import APIFlask
from werkzeug.routing import Rule

from deniable_server.results import computing

computing.START_SECONDS = 60  # applications here start their process when they need it, on a machine that may be busy


@contextmanager
def ended(app: APIFlask) -> Iterator[APIFlask]:
    """An application in this process; its writer and its store end afterwards."""
    yield app
    app.extensions["deniable"]["writer"].stop()
    app.extensions["deniable"]["store"].close()


def compile_addresses_once() -> None:
    """Share the functions that Werkzeug compiles to build addresses among all applications of this process.

    Each application has the same rules, and compiling them takes almost half of the time that making one takes. What
    makes such a function is all in the key; it is bound to its rule afterwards.
    """
    compiled: dict[object, Callable[..., tuple[str, str]]] = {}
    original = Rule._compile_builder

    def builder(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        key = (rule.rule, tuple(rule._trace), repr(rule.defaults), frozenset(rule.arguments), append_unknown)
        if key not in compiled:
            compiled[key] = original(rule, append_unknown)
        return compiled[key]

    Rule._compile_builder = builder  # type: ignore[assignment, method-assign]


compile_addresses_once()

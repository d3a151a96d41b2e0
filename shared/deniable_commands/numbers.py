"""Numbers on the command line: with a decimal point, and a sentence for those who wrote a comma or a percentage."""

from __future__ import annotations

import math
from typing import Any

import click

from deniable.exact import number_hint


class Number(click.FloatRange):
    """A number, within a range if one is given."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        # Before click's own message, which would not say that a comma or a percent sign is what is wrong.
        if isinstance(value, str) and (hint := number_hint(value)):
            self.fail(f"{value!r} is not a number{hint}", param, ctx)
        number = super().convert(value, param, ctx)
        if math.isnan(number):  # which no range excludes
            self.fail(f"{value!r} is not a number", param, ctx)
        return number

    def _describe_range(self) -> str:
        return super()._describe_range() if self.min is not None or self.max is not None else ""

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return "NUMBER"

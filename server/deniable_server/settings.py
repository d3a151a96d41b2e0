"""The settings of a collector: one class, from which the flags of ``deniable serve`` and its documentation are made."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from deniable.errors import ParameterError
from deniable_server.edge.limits import Rate
from deniable_server.location import Address, location

PREFIX = "DENIABLE_"

OF_COMMANDS = {
    "DENIABLE_ENGINE": "The engine of commands with `--engine`, in place of that option.",
    "DENIABLE_LOG": "The file that gets a line for each command that changes a database: [logs](operations.md#logs).",
    "DENIABLE_MEMORY": "The file in which `deniable answer` remembers its reports.",
    "DENIABLE_TOKEN": "The API token of commands with `--url`, in place of `--token`.",
}
"""Environment variables of commands other than ``serve``, which are no unknown settings, and what they are for."""


Rehearsal: TypeAlias = bool | Literal["demo"]
"""Whether a program sends all replies of a collector: made-up ones, or those of the demo."""

_URL = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")


def _public_url(text: object) -> str | None:
    """The start of links to this collector, without a slash at its end."""
    if text is None:
        return None
    if not _URL.fullmatch(str(text)):
        raise ParameterError("must be like https://collector.example")
    return str(text).rstrip("/")


_YES, _NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


def _rehearsal(given: object) -> object:
    """Yes, no or demo, in whatever case, or what pydantic takes for yes and no in other settings."""
    word = str(given).lower()
    if word == "demo":
        return word
    if word not in (*_YES, *_NO):
        raise ParameterError(f"must be yes, no or demo, got {str(given)!r:.20}")
    return word in _YES


class Settings(BaseSettings):
    """The settings of ``deniable serve``: ``--rate-limit 120/minute``, or ``DENIABLE_RATE_LIMIT=120/minute``.

    A flag wins over the environment. A value that a setting cannot have raises `ParameterError` from `settings_from`.
    """

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", validate_default=True)

    # NoDecode: pydantic-settings would read the text of the environment as JSON.
    db: Annotated[Path | Address, NoDecode, BeforeValidator(location)] = Field(
        default=Path("deniable.db"), description="The collector's SQLite file, or postgresql://user@host/name."
    )
    host: str = Field(default="127.0.0.1", min_length=1, description="Address to listen on.")
    port: int = Field(default=8000, ge=1, le=65535, description="Port to listen on.")
    public_url: Annotated[str | None, BeforeValidator(_public_url)] = Field(
        default=None,
        description="Public address of this collector, for links: https://... By default the host name of the request.",
    )
    contact: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="A contact for this collector, shown on its home page and on the first screen of surveys: "
        "an email address, a link, or text.",
    )
    rate_limit: Annotated[Rate | None, NoDecode, BeforeValidator(Rate.parse)] = Field(
        default=Rate(300, 60),
        description=(
            "How many reports one network address may send, and how many results and batches it may fetch: "
            "120/minute, 5/second, or off."
        ),
    )
    trusted_proxies: int = Field(
        default=0, ge=0, le=16, description="Number of reverse proxies in front. Their X-Forwarded-For is trusted."
    )
    fold_seconds: float = Field(
        default=10,
        gt=0,
        le=86400,
        description=(
            "Seconds after which waiting reports are released if there are enough of them, and otherwise only sorted "
            "by their random ids."
        ),
    )
    sealing_keys: Path | None = Field(
        default=None,
        description="The folder with the keys that open sealed reports, created by 'deniable sealing keys'.",
    )
    rehearsal: Annotated[Rehearsal, BeforeValidator(_rehearsal)] = Field(
        default=False,
        description=(
            "Say on every page and in every file that a program sent the replies: yes for made-up ones, as "
            "'deniable survey try' does, or demo for those of 'deniable demo'."
        ),
    )
    min_free_mb: int = Field(
        default=100,
        ge=0,
        description="Megabytes that must be free on the disk; with less, /readyz says that the collector is not ready.",
    )


def settings_from(flags: Mapping[str, Any]) -> Settings:
    """Settings from flags, and from the environment where a flag was not given.

    Raises
    ------
    ParameterError
        Naming the flag or variable: a value that it cannot have, or a variable that does not exist. A typing
        mistake must not leave a limit off.
    """
    # A mistyped DENIABLE_RATE_LIMT would silently leave the default in force.
    known = {variable(name) for name in Settings.model_fields} | OF_COMMANDS.keys()
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in known:
            raise ParameterError(f"{name}: is not a setting; there are {', '.join(sorted(known))}")
    given = {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        # One mistake at a time is what a person at a terminal acts on.
        mistake = error.errors(include_url=False, include_context=False)[0]
        name = str(mistake["loc"][0])
        subject = flag(name) if name in given else variable(name)
        raise ParameterError(f"{subject}: {mistake['msg'].removeprefix('Value error, ')}") from None


def flag(name: str) -> str:
    """The flag of a setting.

    >>> flag("rate_limit")
    '--rate-limit'
    """
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    """The environment variable of a setting.

    >>> variable("rate_limit")
    'DENIABLE_RATE_LIMIT'
    """
    return PREFIX + name.upper()

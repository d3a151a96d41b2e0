"""Lines in the log that a database was made or migrated.

An operator who goes back must know from what to what it was migrated. A new database where there should be an old one
means that the old one is lost, or that a setting names another.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

LOGGER = logging.getLogger("deniable")


def log_created(database: str) -> None:
    """Write a line that the tables of a database were made, because there were none."""
    LOGGER.info("created a new database", extra={"details": {"database": database}})


def log_migrated(database: str, before: Sequence[str], now: Sequence[str]) -> None:
    """Write a line with the last step of the tables before and after, by their names.

    Parameters
    ----------
    database : str
        The file, or the address without its password.
    before, now : sequence of str
        The names of the steps that were applied, in their order.
    """
    details = {"database": database, "from": before[-1] if before else "no step", "to": now[-1]}
    LOGGER.info("database migrated", extra={"details": details})

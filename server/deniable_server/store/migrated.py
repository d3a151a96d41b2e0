"""The line in the log that a database was migrated: an operator who goes back must know from what to what."""

from __future__ import annotations

import logging
from collections.abc import Sequence

LOGGER = logging.getLogger("deniable")


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

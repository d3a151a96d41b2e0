"""Which surveys a collector publishes: those that some device answers."""

from __future__ import annotations

from deniable.errors import BudgetError
from deniable.privacy.ceiling import Ceiling
from deniable.survey.document import Survey


def check_askable(survey: Survey, force: str) -> None:
    """Raise a BudgetError, with the way out, if every device refuses the survey unless its owner raises the ceiling.

    Parameters
    ----------
    survey : Survey
    force : str
        What its author has to do to publish it in spite of this, for the message.
    """
    try:
        # The default ceiling is the one that devices have unless their owner raised it.
        Ceiling().check(survey)
    except BudgetError as error:
        raise BudgetError(
            f"{error}; every device refuses this survey until its owner raises the ceiling, so it was not published. "
            f"Lower epsilon or ask fewer questions ('deniable survey check' says what that costs), or {force}"
        ) from None

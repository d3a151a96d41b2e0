"""The key of a gateway that a survey publishes: its address says which one that is, so nobody gets one of their own."""

from __future__ import annotations

import datetime

from deniable.errors import SurveyError
from deniable.survey.document import Survey
from deniable_transport.oblivious.encapsulation import KeyConfiguration


def configuration_of(survey: Survey, today: datetime.date) -> KeyConfiguration:
    """The key configuration of a day: the number of the week is its identifier."""
    assert survey.sealed is not None, "whoever calls this looked"
    number = survey.sealed.week(today)
    return KeyConfiguration(number, bytes.fromhex(survey.sealed.keys[number]))


def check_pinned(survey: Survey, used: KeyConfiguration) -> None:
    """Raise a SurveyError unless a survey publishes the key by which it was fetched.

    A key of one person alone would tell the gateway who asks, again and again.
    """
    keys = survey.sealed.keys if survey.sealed else ()
    if used.identifier >= len(keys) or bytes.fromhex(keys[used.identifier]) != used.public:
        raise SurveyError(
            f"survey {survey.id}: must publish the key by which it was fetched, got another one, by which its "
            "collector could know this device; take the keys from somebody else"
        )

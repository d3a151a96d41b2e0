"""What the reply to one question, and a whole reply, can make of a suspicion, for pages of results."""

from __future__ import annotations

from deniable.exact import chances_above
from deniable.privacy.odds import ONE_IN_TEN
from deniable.survey.document import Survey


def raised_suspicion(survey: Survey) -> str:
    """What a suspicion of 10 in 100 becomes at most by the reply to one question, the weakest, out of 100.

    Under a joint response this is so for somebody who knows the other answers in it. Surveys of one total epsilon
    differ here, because one response may put all of it on one answer, or each question may have its own part.

    >>> from deniable import Question, TwoCoin
    >>> raised_suspicion(Survey("T", (Question("q", "yes-no", "Q?", ("no", "yes"), TwoCoin("1/2", "1/2")),)))
    '25'
    """
    ratios = ((each.group and each.group.joint) or each.mechanism for each in survey.questions)
    return chances_above(max(each.likelihood_ratio for each in ratios), ONE_IN_TEN)


def raised_by_all(survey: Survey) -> str:
    """What a suspicion of 10 in 100 becomes at most by all that one person sends, out of 100.

    Respondents read the same number before they start.

    >>> from deniable import Question, TwoCoin
    >>> coins = TwoCoin("1/2", "1/2")
    >>> raised_by_all(Survey("T", tuple(Question(each, "yes-no", "Q?", ("no", "yes"), coins) for each in "qr")))
    '50'
    """
    return chances_above(survey.likelihood_ratio, ONE_IN_TEN)

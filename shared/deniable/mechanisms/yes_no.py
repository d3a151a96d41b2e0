"""The base of yes-no mechanisms: two options, and two probabilities of sending Yes."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from functools import cached_property

from deniable.exact import of_100
from deniable.mechanisms.base import OneOfK
from deniable.mechanisms.pure import PureMechanism
from deniable.mechanisms.support import Support
from deniable.wire.space import Numbers


class YesNoMechanism(PureMechanism, OneOfK):
    """A mechanism over the options 0, no, and 1, yes."""

    k = 2

    @cached_property
    def reports(self) -> Numbers:
        return Numbers(range(2), ("no", "yes"))

    @property
    @abstractmethod
    def yes_if_yes(self) -> Fraction:
        """``P(1|1)``: probability that a true Yes sends Yes."""

    @property
    @abstractmethod
    def yes_if_no(self) -> Fraction:
        """``P(1|0)``: probability that a true No sends Yes."""

    @cached_property
    def support(self) -> tuple[Support, ...]:
        return (Support(1 - self.yes_if_no, 1 - self.yes_if_yes), Support(self.yes_if_yes, self.yes_if_no))

    @property
    def odds(self) -> tuple[str, ...]:
        yes_if_yes, yes_if_no = of_100(self.yes_if_yes), of_100(self.yes_if_no)
        return (
            f"Of 100 people whose true answer is Yes, about {yes_if_yes} send Yes and {100 - yes_if_yes} send No.",
            f"Of 100 people whose true answer is No, about {yes_if_no} send Yes and {100 - yes_if_no} send No.",
        )

    @property
    def likelihood_ratio(self) -> Fraction:
        yes = self.yes_if_yes / self.yes_if_no
        no = (1 - self.yes_if_no) / (1 - self.yes_if_yes)
        # A coin may turn answers over more often than not, so either answer can be the likelier one behind a report.
        return max(yes, 1 / yes, no, 1 / no)

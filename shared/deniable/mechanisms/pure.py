"""Pure mechanisms: how likely a report supports an option depends only on whether that option is the truth."""

from __future__ import annotations

from abc import abstractmethod

from deniable.mechanisms.base import Mechanism
from deniable.mechanisms.support import Support


class PureMechanism(Mechanism):
    """A mechanism with one pair of support probabilities for each option, so that every count is one binomial."""

    @property
    @abstractmethod
    def support(self) -> tuple[Support, ...]: ...

"""The classical designs of randomised response as channels, for analysing data that were collected elsewhere.

Nothing here randomises an answer. A design whose epsilon is infinite, such as Mangat's or the triangular
model, can be analysed; `Channel.can_collect` says that it protects nobody for certain, and `Channel.refusal` why.
"""

from deniable.errors import needing

with needing("statistics"):
    from deniable_statistics.classical.algebra import Matrix
    from deniable_statistics.classical.channel import Channel, Groups
    from deniable_statistics.classical.derived import CombinedShare, combined_share
    from deniable_statistics.classical.designs import (
        cheater_detection,
        crosswise,
        disguised_response,
        forced_response,
        from_matrix,
        from_mechanism,
        kuk,
        mangat,
        of_one_truth,
        stochastic_lie_detector,
        triangular,
        unrelated_question,
        unrelated_question_unknown,
        warner,
    )
    from deniable_statistics.designs.design import Derived

__all__ = [
    "Channel",
    "CombinedShare",
    "Derived",
    "Groups",
    "Matrix",
    "cheater_detection",
    "combined_share",
    "crosswise",
    "disguised_response",
    "forced_response",
    "from_matrix",
    "from_mechanism",
    "kuk",
    "mangat",
    "of_one_truth",
    "stochastic_lie_detector",
    "triangular",
    "unrelated_question",
    "unrelated_question_unknown",
    "warner",
]

"""Several questions of the same people together, although nobody's answer to any of them is known.

The chance in the reports to different questions is independent, so that products of what single reports tell are
unbiased for what goes together. Epsilons add up.

* `crosstab` counts combinations of answers to two questions or more: joint, conditional and most likely shares.
* `independence` tests whether two questions have to do with each other; `independence_power` plans for it.
* `correlation` of two randomised numbers, or of one and a plain variable.
* `box_pair` and `question_pair` do the same for two boxes, or questions, of one draw, whose chance is one.
* `JointReports` is what they all start from: items of the same people, or a table of counts.
"""

from deniable.errors import needing

with needing("statistics"):
    from deniable_statistics.joint.association import OddsRatio
    from deniable_statistics.joint.conditional import Conditional
    from deniable_statistics.joint.correlation import Correlation, correlation
    from deniable_statistics.joint.crosstab import Crosstab, crosstab
    from deniable_statistics.joint.independence import Independence, independence, independence_power
    from deniable_statistics.joint.pairs import DrawnPair, box_pair, question_pair
    from deniable_statistics.joint.reports import JointReports

__all__ = [
    "Conditional",
    "Correlation",
    "Crosstab",
    "DrawnPair",
    "Independence",
    "JointReports",
    "OddsRatio",
    "box_pair",
    "correlation",
    "crosstab",
    "independence",
    "independence_power",
    "question_pair",
]

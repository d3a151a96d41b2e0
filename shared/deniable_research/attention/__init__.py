"""People who answer a randomised question at random: how many, by a second question whose answer is known.

`anchored` corrects a share by an anchor question, in closed form or by the likelihood of both questions; `corrected` by
supposing how many there are.
"""

from deniable_research.attention.anchor import Anchor, AnchoredShare, anchored
from deniable_research.attention.correction import Corrected, corrected
from deniable_research.attention.likelihood import AnchoredFit

__all__ = ["Anchor", "AnchoredFit", "AnchoredShare", "Corrected", "anchored", "corrected"]

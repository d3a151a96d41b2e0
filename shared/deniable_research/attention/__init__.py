"""Corrections of shares for people who answer a randomised question at random instead of attending to it.

`anchored` estimates their share by an anchor question, whose true share is known, in closed form or by the likelihood
of both questions. `corrected` supposes their share.
"""

from deniable.errors import needing

with needing("research"):
    from deniable_research.attention.anchor import Anchor, AnchoredShare, anchored
    from deniable_research.attention.anchor_likelihood import AnchoredFit
    from deniable_research.attention.correction import Corrected, corrected

__all__ = ["Anchor", "AnchoredFit", "AnchoredShare", "Corrected", "anchored", "corrected"]

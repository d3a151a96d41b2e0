"""What an epsilon means, adds up to, and may come to on one device.

The public names are those of `composition`; `ledger` adds up, `ceiling` says what a device accepts, `odds` says it in
words.
"""

from deniable.privacy.composition import *  # noqa: F403
from deniable.privacy.composition import __all__ as __all__

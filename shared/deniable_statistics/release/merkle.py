"""The head of an append-only log: the root of the Merkle tree of RFC 9162, section 2.1.

The log of a survey has a leaf for each of its releases, some dozens. So whoever checks it fetches all leaves and
computes any head anew, instead of asking for proofs of consistency.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def leaf_hash(entry: bytes) -> bytes:
    """The hash of an entry of the log.

    >>> leaf_hash(b"").hex()[:16]
    '6e340b9cffb37a98'
    """
    # Leaves and nodes have different prefixes, so that no node can be passed off as an entry (second preimages).
    return hashlib.sha256(b"\x00" + entry).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root of the tree over these hashes of entries; that of no entry is the hash of nothing.

    >>> root_of([leaf_hash(b""), leaf_hash(b"\\x00")]).hex()[:16]
    'fac54203e7cc696c'
    """
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    # The left subtree has the largest power of two of leaves that is smaller than all of them.
    left = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\x01" + root_of(leaves[:left]) + root_of(leaves[left:])).digest()

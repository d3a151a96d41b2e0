"""A witness of logs: it keeps the head of each log that it has seen, and says when a log does not extend it.

A collector that shows different releases to different people, or takes one back, has to show somebody a log that does
not extend the one that was seen before. So heads that are kept elsewhere, by anybody, are what makes a log
append-only.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from deniable.errors import ParameterError
from deniable_research.results.log import Log, NotVerified
from deniable_statistics.data.whole import replace_file
from deniable_statistics.release.merkle import root_of


@dataclass(frozen=True)
class KeptHead:
    """The last head of a log that a witness saw.

    Attributes
    ----------
    key : str
        The collector's public key, in hexadecimal.
    size : int
    root : str
    """

    key: str
    size: int
    root: str

    @classmethod
    def of(cls, log: Log) -> KeptHead:
        """The head of a log that was checked."""
        return cls(log.key.raw.hex(), log.head.size, log.head.root)


def check_extends(log: Log, kept: KeptHead) -> None:
    """Raise unless a log holds all that was seen before, unchanged and in its order.

    Raises
    ------
    NotVerified
        If the key is another one, a release is gone, or one was replaced.
    """
    if log.key.raw.hex() != kept.key:
        raise NotVerified("log: is signed by another key than before; ask who runs the collector why")
    if log.head.size < kept.size:
        raise NotVerified(f"log: had {kept.size} releases when it was seen before, and now has {log.head.size}")
    # An append-only log has the old root over its first leaves; anything else was rewritten.
    if root_of(log.leaves[: kept.size]).hex() != kept.root:
        raise NotVerified(f"log: its first {kept.size} releases are not those that were seen before: it was forked")


def read_heads(path: Path) -> dict[str, KeptHead]:
    """The heads in a file, by the address of their survey; none if there is no file yet.

    Raises
    ------
    ParameterError
        If the file is not one of a witness.
    """
    if not path.exists():
        return {}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {
            address: KeptHead(str(head["key"]), int(head["size"]), str(head["root"])) for address, head in kept.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ParameterError(f"heads: must be a file that 'deniable witness' wrote, got {path.name!r:.80}") from None


def write_heads(path: Path, heads: dict[str, KeptHead]) -> None:
    """Write the heads, all of them or none."""
    text = json.dumps({address: asdict(head) for address, head in sorted(heads.items())}, indent=1) + "\n"
    replace_file(path, lambda part: part.write_bytes(text.encode()))

"""Faults planted on purpose, and whether the audit finds them: ``python -m tools.planted [--sessions N] [WORD ...]``.

Each is a change of a few characters in a copy of a client, or of the bundle that it makes; an audit of the copy must
fail. A word chooses the faults whose family or name holds it.
"""

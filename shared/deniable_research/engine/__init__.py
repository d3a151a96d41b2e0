"""Counting of reports on a database engine: hundreds of millions of rows, on every engine that ibis supports.

Estimates need counts only, and equal rows are one row with a frequency. So the engine counts, only the counts are
fetched, and the usual analyses run on them.

* `open_source` opens the rows: Parquet, CSV or JSONL files for the embedded DuckDB or for Spark, or a table of an
  engine.
* `EngineReports` makes the tables that analyses take, one for each set of columns.
* `count_tallies` makes the tallies that a collector keeps of a survey's reports, for `deniable.estimate`.
* `count_patterns` and `count_supports` are its two queries: the frequencies of equal rows, and the numbers of reports
  that support each option.
"""

from deniable.errors import needing

with needing("research"):
    from deniable_research.engine.counting import Patterns, Supports, count_patterns, count_supports
    from deniable_research.engine.engine_reports import EngineReports
    from deniable_research.engine.sources import Source, open_source
    from deniable_research.engine.tallies import count_tallies

__all__ = [
    "EngineReports",
    "Patterns",
    "Source",
    "Supports",
    "count_patterns",
    "count_supports",
    "count_tallies",
    "open_source",
]

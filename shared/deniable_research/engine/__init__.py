"""Counting reports where they are: hundreds of millions of rows on any engine that ibis speaks to.

Estimates need counts, and rows that are alike are one row with a frequency. So the engine counts, only counts come
back, and everything after that is the functions that there are.

* `open_source` names rows: Parquet, CSV or JSONL for the DuckDB within this process or for Spark, or what an engine
  knows by name.
* `EngineReports` gives the tables that analyses take, one for what they put together.
* `count_tallies` gives what a collector keeps of the reports of a survey, for `deniable.estimate`.
* `count_patterns` and `count_supports` are what it asks the engine: rows that are alike, and how many reports support
  each option.
"""

from deniable_research.engine.counting import Patterns, Supports, count_patterns, count_supports
from deniable_research.engine.reports import EngineReports
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

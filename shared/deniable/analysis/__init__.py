"""Analysing files of reports, from a collector of this project or from anywhere else.

* `Layout` says what stands in which column: of a survey, of a design file (`read_layout`), or in short
  (`quick_question`).
* `Table.read` reads the file; `Table.item` and `Table.items` give single questions to `deniable.joint`,
  `deniable.comparison` and whoever else works on items.
* `estimate_shares`, `compare`, `cross` and `regress` give the rows of ``deniable analyze``: shares as a collector
  publishes them, cohorts side by side, columns together, models.
"""

from deniable.analysis.comparing import ComparisonRow, compare
from deniable.analysis.crossing import CrosstabRow, cross
from deniable.analysis.designs import DESIGNS, direct, quick_question, read_layout
from deniable.analysis.layout import Layout, RandomizedColumn
from deniable.analysis.regressing import regress
from deniable.analysis.shares import estimate_shares
from deniable.analysis.table import Table

__all__ = [
    "DESIGNS",
    "ComparisonRow",
    "CrosstabRow",
    "Layout",
    "RandomizedColumn",
    "Table",
    "compare",
    "cross",
    "direct",
    "estimate_shares",
    "quick_question",
    "read_layout",
    "regress",
]

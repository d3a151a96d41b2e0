"""Analysing files of reports, from a collector of this project or from anywhere else.

* `Layout` says which column holds what. It is made from a survey, from a design file (`read_layout`) or from a question
  in short (`quick_question`).
* `Table.read` reads the file; `Table.item` and `Table.items` give single questions to `deniable_statistics.joint`,
  `deniable_statistics.comparison` and everything else that works on items.
* `estimate_shares`, `compare`, `cross` and `regress` give the rows of ``deniable analyze``: shares as a collector
  publishes them, cohorts side by side, columns together, models.
"""

from deniable.errors import needing

with needing("research"):
    from deniable_research.files.comparing import compare
    from deniable_research.files.crossing import cross
    from deniable_research.files.design_files import DESIGNS, direct, quick_question, read_layout
    from deniable_research.files.estimating import estimate_shares
    from deniable_research.files.layout import Layout, RandomizedColumn
    from deniable_research.files.regressing import regress
    from deniable_research.files.report_table import Table
    from deniable_research.files.result_rows import ComparisonRow, CrosstabRow
    from deniable_research.files.samples import SamplingColumns, read_margins

__all__ = [
    "DESIGNS",
    "ComparisonRow",
    "CrosstabRow",
    "Layout",
    "RandomizedColumn",
    "SamplingColumns",
    "Table",
    "compare",
    "cross",
    "direct",
    "estimate_shares",
    "quick_question",
    "read_layout",
    "read_margins",
    "regress",
]

"""Codebooks of surveys and of design files: what each column of a file of reports holds, and how it was randomised.

* `Codebook.of_survey` and `Codebook.of_layout` make one.
* `to_markdown` writes it for people, `to_ddi` for archives, in DDI-Codebook 2.5.
"""

from deniable.errors import needing

with needing("research"):
    from deniable_research.codebook.codebook import Codebook
    from deniable_statistics.archive.codebook import Entry, ProbabilityTable
    from deniable_statistics.archive.codebook_markdown import to_markdown
    from deniable_statistics.archive.ddi import to_ddi

__all__ = ["Codebook", "Entry", "ProbabilityTable", "to_ddi", "to_markdown"]

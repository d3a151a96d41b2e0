"""Exports of the tools that store values of ``<deniable-question>`` themselves, read as those tools write them.

`read_export` reads one, and `looks_like` says which tool a file seems to come from.
"""

from deniable_research.hosts.exported_values import HostExport, read_export
from deniable_research.hosts.recognition import looks_like
from deniable_research.hosts.tools import HOSTS

__all__ = ["HOSTS", "HostExport", "looks_like", "read_export"]

"""Downloads of reports to a folder for an engine to read."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import urllib3

from deniable.errors import CollectorError, ParameterError, ReportError
from deniable_research.results import collector
from deniable_research.web import DownloadError, StatusError, connections, download
from deniable_statistics.data.manifest import (
    MANIFEST,
    REPORTS,
    SURVEY,
    Export,
    Manifest,
    PartFile,
    parse_manifest,
    shown,
)
from deniable_statistics.data.survey_data import COHORT
from deniable_statistics.published.csv_cells import plain_cell

MOST_BYTES = 2**26
"""Largest manifest or survey that is fetched, in bytes."""


def fetch(url: str, folder: Path, files: tuple[str, ...]) -> Path:
    """Download the folder of an export, or a file of reports, into a folder.

    Parameters
    ----------
    url : str
        Address of a file that ends in one of ``files``, or of a folder that `deniable export` wrote. Its query is kept.
    folder : Path
        Folder for the download, which keeps its name.
    files : tuple of str
        Suffixes of files of reports.

    Returns
    -------
    Path
        The file, or the folder of the export. Its parts are at most as long as the manifest says; their hashes are not
        compared here.

    Raises
    ------
    ParameterError
        If the address is not valid, or holds a password.
    ReportError
        If it cannot be reached, or is neither a file nor an export.
    """
    try:
        asked = urlsplit(url)
    except ValueError:  # says which, but the address may hold a password
        raise ParameterError("source: must be a valid address, got one whose host cannot be read") from None
    if "@" in asked.netloc:
        raise ParameterError("source: must be an address without a name and a password in it")
    segments = [each for each in asked.path.split("/") if each]
    # The name comes from outside: without separators, not hidden, and within the limit of file systems.
    name = re.sub(r"[^\w.-]", "_", unquote(segments[-1]) if segments else asked.hostname or "")[-100:].lstrip(".")
    if not name:
        raise ParameterError("source: must be an address that ends in the name of a folder or a file")
    target = folder / name
    with connections() as pool:
        if name.lower().endswith(files):
            _get(pool, url, target, name)
            return target
        target.mkdir()

        def get(path: str, most: int) -> Path:
            # The names of Hive partitions hold an =, which stays.
            place = f"{asked.path.rstrip('/')}/{quote(path, safe='/=')}"
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            _get(
                pool, urlunsplit(asked._replace(path=place, fragment="")), target / path, f"{name}: {shown(path)}", most
            )
            return target / path

        # First, because it lists the parts and bounds their lengths.
        raw = get(MANIFEST, MOST_BYTES).read_bytes()
        try:
            manifest = parse_manifest(raw, name)
        except ReportError as error:
            where = urlunsplit((asked.scheme, asked.netloc, asked.path, "", ""))
            raise ReportError(
                f"{error}; {where} must be a survey, a folder that 'deniable export' wrote, or a file that ends in one "
                f"of {', '.join(files)}"
            ) from None
        get(SURVEY, MOST_BYTES)
        for part in manifest.parts:
            get(part.path, part.bytes)
    return target


def fetch_survey(url: str, folder: Path) -> Export:
    """Download the released reports of a survey from its collector, as an export.

    A token is taken from ``DENIABLE_TOKEN``.

    Raises
    ------
    SurveyError, CollectorError, ParameterError
        As `deniable_research.results.collector.published` raises them.
    """
    reports = folder / REPORTS
    reports.mkdir()
    survey = collector.published(url, reports, os.environ.get("DENIABLE_TOKEN"))
    path = reports / collector.REPORTS
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, restval="")
        if COHORT not in (rows.fieldnames or ()):
            raise CollectorError(f"survey {survey.id}: must have reports as CSV with a column {COHORT}, got others")
        by_cohort = Counter(plain_cell(row[COHORT]) or None for row in rows)
    # No SHA-256: this comes from the collector itself, without a manifest to compare with.
    part = PartFile(f"{REPORTS}/{collector.REPORTS}", sum(by_cohort.values()), path.stat().st_size, "")
    return Export(folder, survey, Manifest(survey.id, "csv", (), by_cohort, {}, (part,)))


def _get(pool: urllib3.PoolManager, url: str, path: Path, subject: str, most: int | None = None) -> None:
    try:
        download(pool, url, path, most=most, follow=True)
    except DownloadError as error:
        raise ReportError(f"{subject}: {error}") from None
    except StatusError as error:
        raise ReportError(f"{subject}: must be there, got status {error.status} from its server") from None
    except OSError as error:
        raise ReportError(f"{subject}: cannot be kept: {error.strerror or error}") from None

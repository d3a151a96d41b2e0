"""What a collector publishes of a survey: the survey itself, checked, and its noisy reports."""

from __future__ import annotations

import ipaddress
import re
import tempfile
from pathlib import Path

import urllib3

from deniable.errors import CollectorError, ParameterError, SurveyError
from deniable.survey.document import Survey, is_address
from deniable.survey.published import parse_survey

_ADDRESS = re.compile(r"(https?://[^\s?#]+?)/(?:s|api/v1/surveys)/([a-z2-7]{26})(?:[/?#]\S*)?", re.IGNORECASE)


def is_url(source: str) -> bool:
    """Whether a text is meant as an address in the web.

    >>> is_url("https://collector.example/s/x"), is_url("reports.csv")
    (True, False)
    """
    return source.lower().startswith(("http://", "https://"))


def published(url: str, token: str | None = None) -> tuple[Survey, Path, tempfile.TemporaryDirectory[str]]:
    """Fetch a survey and its reports.

    Parameters
    ----------
    url : str
        A link to the survey, its page of results, or its address under ``/api/v1/surveys``.
    token : str, optional
        Where results need one.

    Returns
    -------
    Survey
        Its bytes are those of the address.
    Path
        Of the reports as CSV.
    TemporaryDirectory
        Where they are, as long as the caller keeps it.

    Raises
    ------
    SurveyError
        If the URL is of no survey, or the collector gives other bytes than those of the address.
    CollectorError
        If it cannot be reached, or refuses.
    """
    collector, survey_id = _parts(url)
    if token and not collector.startswith("https://") and not _is_this_machine(collector):
        raise ParameterError(f"{collector}: must start with https://, or everybody on the way can read the token")
    with urllib3.PoolManager(retries=_RETRIES, timeout=_TIMEOUT) as pool:
        survey = parse_survey(_get(pool, collector, f"/surveys/{survey_id}", None), expected_id=survey_id)
        reports = _get(pool, collector, f"/surveys/{survey_id}/reports.csv", token)
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "reports.csv"
    path.write_bytes(reports)
    return survey, path, folder


_RETRIES = urllib3.Retry(
    3, redirect=0, status_forcelist=(429, 502, 503, 504), backoff_factor=0.2, raise_on_status=False
)
_TIMEOUT = urllib3.Timeout(30)


def _parts(url: str) -> tuple[str, str]:
    """The collector, and the survey there."""
    found = _ADDRESS.fullmatch(url)
    if not found or not is_address(found[2]) or "@" in found[1]:
        raise SurveyError(
            "survey: must be a link such as https://collector.example/s/ and 26 letters and digits, "
            f"got {url.partition('?')[0]!r:.120}"
        )
    scheme, rest = found[1].split("://", 1)
    return f"{scheme.lower()}://{rest}", found[2]


def _get(pool: urllib3.PoolManager, collector: str, path: str, token: str | None) -> bytes:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        answer = pool.request("GET", f"{collector}/api/v1{path}", headers=headers)
    except urllib3.exceptions.HTTPError as error:
        raise CollectorError(f"{collector}: cannot be reached ({type(error).__name__})") from None
    if answer.status == 404:
        raise SurveyError(f"survey: is not at {collector}")
    if answer.status == 401:
        raise CollectorError(f"{collector}: results of this survey need a token; give one as token=")
    if answer.status != 200:
        raise CollectorError(f"{collector}: answered with status {answer.status}")
    return answer.data


def _is_this_machine(collector: str) -> bool:
    host = urllib3.util.parse_url(collector).host or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False

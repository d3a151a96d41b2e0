"""What a collector publishes of a survey: the survey itself, checked, and its noisy reports."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import urllib3

from deniable.errors import CollectorError, ParameterError, SurveyError
from deniable.survey.document import Survey, is_address
from deniable.survey.published import parse_survey
from deniable_research.web import DownloadError, StatusError, connections, download

_ADDRESS = re.compile(r"(https?://[^\s?#]+?)/(?:s|api/v1/surveys)/([a-z2-7]{26})(?:[/?#]\S*)?", re.IGNORECASE)


class NoSurvey(SurveyError):
    """A collector has no survey, or no file of it, at an address that may be one."""


REPORTS = "reports.csv"
"""Name of the file that the reports are fetched to."""


def published(url: str, folder: Path, token: str | None = None) -> Survey:
    """Fetch a survey, and its reports to `REPORTS` in a folder.

    Parameters
    ----------
    url : str
        A link to the survey, its page of results, or its address under ``/api/v1/surveys``.
    folder : Path
        An existing folder, which receives the survey and its reports.
    token : str, optional
        An API token, for a survey whose results need one.

    Returns
    -------
    Survey
        Its bytes have the hash that is its address.

    Raises
    ------
    SurveyError
        If the URL is not that of a survey, or the collector's bytes do not have the hash in the address.
    CollectorError
        If the collector cannot be reached, or refuses.
    ParameterError
        If a token would be sent in plain HTTP to another machine.
    """
    collector, survey_id = _parts(url)
    _refuse_open_token(collector, token)
    document = folder / "survey.json"
    with connections() as pool:
        _get(pool, collector, f"/api/v1/surveys/{survey_id}", document)
        # The address is a hash of the survey's bytes, so a collector cannot give others.
        survey = parse_survey(document.read_bytes(), expected_id=survey_id)
        _get(pool, collector, f"/api/v1/surveys/{survey_id}/reports.csv", folder / REPORTS, token)
    return survey


class PublishedBytes:
    """The bytes that a collector publishes of one survey, path by path.

    Parameters
    ----------
    url : str
        A link to the survey, as of `published`.
    token : str, optional
        An API token, for a survey whose results need one.

    Attributes
    ----------
    address : str
        The address of the survey's pages, which names it among others.
    survey_id : str

    Raises
    ------
    SurveyError
        If the URL is not that of a survey.
    ParameterError
        If a token would be sent in plain HTTP to another machine.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._collector, self.survey_id = _parts(url)
        _refuse_open_token(self._collector, token)
        self._token = token
        self.address = f"{self._collector}/s/{self.survey_id}"

    def fetch(self, path: str) -> bytes:
        """The bytes at a path.

        Raises
        ------
        SurveyError
            If there is nothing at this path.
        CollectorError
            If the collector cannot be reached, or refuses.
        """
        with connections() as pool, TemporaryDirectory() as folder:
            content = Path(folder) / "content"
            _get(pool, self._collector, path, content, self._token)
            return content.read_bytes()


def is_survey(url: str) -> bool:
    """Whether an address looks like that of a survey.

    >>> is_survey("https://collector.example/s/rq63yln63zxn277654vvg45c44"), is_survey("https://example.com/reports.csv")
    (True, False)
    """
    return _ADDRESS.fullmatch(url) is not None


def _parts(url: str) -> tuple[str, str]:
    """The address of the collector, and the id of the survey."""
    found = _ADDRESS.fullmatch(url)
    # What stands before an @ is a user, so the token would go to the host behind it.
    if not found or not is_address(found[2]) or "@" in found[1]:
        raise SurveyError(
            "survey: must be a link such as https://collector.example/s/ and 26 letters and digits, "
            f"got {url.partition('?')[0]!r:.120}"
        )
    scheme, rest = found[1].split("://", 1)
    return f"{scheme.lower()}://{rest}", found[2]


def _get(pool: urllib3.PoolManager, collector: str, address: str, path: Path, token: str | None = None) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    # Each status becomes a sentence that says what to do about it.
    try:
        download(pool, f"{collector}{address}", path, headers=headers)
    except DownloadError as error:
        raise CollectorError(f"{collector}: {error}") from None
    except StatusError as error:
        if error.status == 404:
            raise NoSurvey(f"survey: there is none with this id at {collector}") from None
        if error.status == 401 and token:
            raise CollectorError(f"{collector}: this token is unknown, revoked or expired") from None
        if error.status == 403:
            raise CollectorError(
                f"{collector}: this token may not read the results of this survey; ask for one that includes it"
            ) from None
        if error.status == 401:
            raise CollectorError(
                f"{collector}: results of this survey need a token; give one as token=, or as DENIABLE_TOKEN"
            ) from None
        raise CollectorError(f"{collector}: {error}") from None


def _refuse_open_token(collector: str, token: str | None) -> None:
    # A token in plain HTTP is as good as published, unless it never leaves this machine.
    if token and not collector.startswith("https://") and not _is_this_machine(collector):
        raise ParameterError(f"{collector}: must start with https://, or everybody on the way can read the token")


def _is_this_machine(collector: str) -> bool:
    # Addresses alone: any other name than localhost may be resolved to another machine.
    try:
        host = urllib3.util.parse_url(collector).host or ""
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False

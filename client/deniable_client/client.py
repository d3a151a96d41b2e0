"""The client: fetch a survey, check it, randomise, send. Answers never leave `deniable_client.device`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import urllib3

from deniable import (
    Ceiling,
    CollectorError,
    Report,
    ReportConflict,
    ReportError,
    Survey,
    SurveyClosed,
    SurveyError,
    __version__,
    is_address,
    odds_sentences,
    parse_survey,
    whole_odds_sentences,
)
from deniable_client.device import Given, randomize

CLIENT = f"deniable-python {__version__}"

_LINK = re.compile(r"(https?://[^/]+(?:/[^#?]*?)?)/s/([a-z2-7]{26})/?(?:[#?].*)?")

_REFUSALS: dict[int, type[ReportError]] = {409: ReportConflict, 410: SurveyClosed}


@dataclass(frozen=True)
class Receipt:
    """What a respondent can keep. It holds nothing that could be looked up later.

    Attributes
    ----------
    survey : str
        The survey's address.
    collector : str
    odds : tuple of str
        The chance that was mixed in, in words.
    client : str
        What randomised, with its version.
    """

    survey: str
    collector: str
    odds: tuple[str, ...]
    client: str = CLIENT
    statement: str = "Chance was mixed into your answers on this device. Your true answers were not sent or kept."


class Client:
    """Answers surveys of one collector.

    Parameters
    ----------
    collector : str
        Its URL, such as ``"http://127.0.0.1:8000"``.
    ceiling : Ceiling
        The largest epsilon that this device accepts.
    retries : int
        How often the same bytes are sent again when the network or the collector fails.
    timeout : float
        Seconds to wait for a connection and for each read.
    connections : int
        Connections kept open, for callers with as many threads.

    Notes
    -----
    A client keeps nothing between calls. Whoever answers twice draws twice, and two draws tell more than one: keep
    the report and `submit` it again instead of calling `answer` again.

    Examples
    --------
    ::

        client = Client("http://127.0.0.1:8000")
        survey = client.survey("bpn4zq5y7xlxpqd63hsrm4s5ky")
        client.answer(survey, {"affair": "yes"}, cohort="paper")
    """

    def __init__(
        self,
        collector: str,
        *,
        ceiling: Ceiling | None = None,
        retries: int = 5,
        timeout: float = 30.0,
        connections: int = 8,
    ) -> None:
        if not re.match(r"https?://[^/]", collector):
            raise CollectorError(f"collector: must be a URL that starts with http:// or https://, got {collector!r}")
        self.collector = collector.rstrip("/")
        self.ceiling = ceiling or Ceiling()
        self._pool = urllib3.PoolManager(
            maxsize=connections,
            block=True,
            timeout=timeout,
            headers={"User-Agent": "deniable"},
            retries=urllib3.Retry(
                total=retries,
                redirect=0,  # a survey lives at its address or nowhere
                allowed_methods=None,  # POST too: the collector counts the same bytes once
                status_forcelist=(429, 502, 503, 504, 507),
                backoff_factor=0.1,
                backoff_jitter=0.1,
                raise_on_status=False,
                raise_on_redirect=False,
            ),
        )

    def survey(self, link: str) -> Survey:
        """Fetch a survey by id or link, and check that the bytes are those of its address.

        Raises
        ------
        SurveyError
            If they are not, or there is no such survey.
        CollectorError
            If the collector cannot be reached.
        """
        survey_id = self._survey_id(link)
        answer = self._request("GET", f"/surveys/{survey_id}")
        if answer.status == 404:
            raise SurveyError(f"survey {survey_id}: is not at {self.collector}")
        if answer.status != 200:
            raise self._unexpected(answer)
        return parse_survey(answer.data, expected_id=survey_id)

    def answer(self, survey: Survey, answers: Mapping[str, Given], cohort: str | None = None) -> Receipt:
        """Randomise the answers of one person and send the report.

        Parameters
        ----------
        survey : Survey
            As `survey` returned it.
        answers : mapping
            Question id to what the person chose, for every question; see `deniable_client.randomize`.
        cohort : str, optional
            One of the survey's cohorts.

        Raises
        ------
        AnswerError
            If an answer is not among its question's options. The message does not repeat it; nothing is sent.
        BudgetError
            If the survey asks for more than this device's ceiling; nothing is sent.
        CollectorError
            If the report could not be delivered; its attribute `report` can be given to `submit` later.
        """
        return self.submit(survey, self.randomize(survey, answers, cohort))

    def randomize(self, survey: Survey, answers: Mapping[str, Given], cohort: str | None = None) -> Report:
        """Check the ceiling and mix chance into the answers of one person; sends nothing."""
        self.ceiling.check(survey)
        return randomize(survey, answers, cohort)

    def submit(self, survey: Survey, report: Report) -> Receipt:
        """Send a report; every try, now and later, sends the same bytes, and the collector counts it once."""
        try:
            answer = self._request("POST", f"/surveys/{survey.id}/reports", report.encode())
            if answer.status in (200, 201):
                odds = [sentence for question in survey.questions for sentence in odds_sentences(question)]
                return Receipt(survey.id, self.collector, (*odds, *whole_odds_sentences(survey)))
            if answer.status in (404, 409, 410, 413, 422):
                raise _REFUSALS.get(answer.status, ReportError)(_detail(answer))
            raise self._unexpected(answer)
        except CollectorError as error:
            raise UndeliveredReport(str(error), report) from None

    def _request(self, method: str, path: str, body: bytes | None = None) -> urllib3.BaseHTTPResponse:
        headers = {"User-Agent": "deniable", "Content-Type": "application/json"} if body is not None else None
        try:
            return self._pool.request(method, f"{self.collector}/api/v1{path}", body=body, headers=headers)
        except urllib3.exceptions.HTTPError as error:
            raise CollectorError(f"{self.collector}: cannot be reached ({type(error).__name__})") from None

    def _survey_id(self, link: str) -> str:
        if is_address(link):
            return link
        found = _LINK.fullmatch(link)
        if not found:
            raise SurveyError(
                f"survey: must be 26 letters and digits or a link that ends in /s/ and them, got {link!r}"
            )
        if found[1] != self.collector:
            raise SurveyError(f"survey: the link is to {found[1]}, this client talks to {self.collector}")
        return found[2]

    def _unexpected(self, answer: urllib3.BaseHTTPResponse) -> CollectorError:
        return CollectorError(f"{self.collector}: answered with status {answer.status}: {_detail(answer)}")


class UndeliveredReport(CollectorError):
    """A report that did not arrive. Send `report` again with `Client.submit`; never answer again."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


def _detail(answer: urllib3.BaseHTTPResponse) -> str:
    try:
        return str(json.loads(answer.data)["detail"])
    except (ValueError, KeyError, TypeError):
        return "it does not say why"

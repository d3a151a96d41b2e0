"""The client: fetch a survey, check it, randomise, send. Answers never leave `deniable_client.device`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from deniable import (
    Ceiling,
    CollectorError,
    NotInvited,
    Report,
    ReportConflict,
    ReportError,
    Survey,
    SurveyClosed,
    SurveyError,
    __version__,
    is_address,
    odds_sentences,
    parse_report,
    parse_survey,
    whole_odds_sentences,
)
from deniable.access.invitation import hash_of, is_invitation
from deniable.access.words import ONE_REPORT
from deniable.errors import describe
from deniable.mechanisms.longitudinal import waves_of
from deniable.report.report import content_of
from deniable_client.connection import Busy, Connection, Hindrance
from deniable_client.device import Given, draw_questions, permanent, randomize, true_answers
from deniable_client.frames import answers_stay
from deniable_client.link import collector_url, parse_link
from deniable_client.memory import Kept, Memory, State, Told
from deniable_client.tokens import TokenRequest

CLIENT = f"deniable-python {__version__}"


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
    access : str
        Whether one report a person is enforced, and by what, in words.
    again : bool
        Whether this device or the collector knew the report already; it counts once. What a memory kept was then sent,
        and not drawn from the answers just given.
    """

    survey: str
    collector: str
    odds: tuple[str, ...]
    access: str
    client: str = CLIENT
    again: bool = False
    statement: str = (
        "Your answers were not kept. What was sent has chance mixed in, and nobody is told whether it is your answer."
    )


@dataclass(frozen=True)
class Delivery:
    """What became of a report that waited, as `Client.resend` tells it.

    Attributes
    ----------
    survey : str
        The survey's address.
    state : {"waiting", "sent", "refused"}
    reason : str
        Why it was not sent; empty when it was.
    """

    survey: str
    state: State
    reason: str = ""


class Client:
    """Answers surveys of one collector.

    Parameters
    ----------
    collector : str
        Its URL, such as ``"http://127.0.0.1:8000"``.
    memory : Memory, optional
        Where one person's reports are kept, so that each survey is drawn once; by default nothing is.
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
    A memory belongs to a person, a client does not: programs answer for thousands through one client, and a kiosk for
    whoever comes next. A memory that they did not ask for would send the first person's report for everybody. So there
    is none unless it is named, and `deniable answer`, which asks one person, names it.

    Without a memory whoever answers twice draws twice, and two draws tell more than one; no ledger adds up what a
    collector was told; and a report that cannot be delivered is lost unless the caller keeps `UndeliveredReport.report`
    and gives it to `submit` later, instead of calling `answer` again.

    Examples
    --------
    ::

        client = Client("http://127.0.0.1:8000", memory=Memory())  # one person's own device
        survey = client.survey("bpn4zq5y7xlxpqd63hsrm4s5ky")
        client.answer(survey, {"affair": "yes"}, cohort="paper")
    """

    def __init__(
        self,
        collector: str,
        *,
        memory: Memory | None = None,
        ceiling: Ceiling | None = None,
        retries: int = 5,
        timeout: float = 30.0,
        connections: int = 8,
    ) -> None:
        self.collector = collector_url(collector)
        self.memory = memory
        self.ceiling = ceiling or Ceiling()
        self._connect = partial(Connection, retries=retries, timeout=timeout, size=connections)
        self._connection = self._connect(self.collector)
        self._signers: dict[str, Connection] = {}

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
        return parse_survey(self._connection.fetch(survey_id), expected_id=survey_id)

    @answers_stay
    def answer(
        self,
        survey: Survey,
        answers: Mapping[str, Given],
        cohort: str | None = None,
        asked: Collection[str] | None = None,
        invitation: str | None = None,
    ) -> Receipt:
        """Randomise the answers of one person and send the report.

        With a memory this sends what was drawn the first time, and nothing at all once that has arrived. A first report
        is drawn only after the collector was asked whether it would count, see `check_open`.

        Of a survey with blind tokens this gets the token and spends it at once, which whoever watches both can see by
        the time. `credential` gets it earlier, and `randomize` and `submit` spend it.

        Parameters
        ----------
        survey : Survey
            As `survey` returned it.
        answers : mapping
            Question id to what the person chose, for every question that `asked` names, or for all; see
            `deniable_client.randomize`.
        cohort : str, optional
            One of the survey's cohorts.
        asked : collection of str, optional
            As `asked` drew it, where there is no memory to keep it.
        invitation : str, optional
            What stands behind the # of the person's link: 32 hexadecimal digits. A survey that is open to everybody
            needs none, and then nobody is shown it.

        Raises
        ------
        NotInvited
            If the survey needs an invitation, and there is none or another one.
        ReportConflict
            If the invitation was used.
        SurveyClosed
            If the survey takes no reports now.
        AnswerError
            If an answer is not among its question's options. The message does not repeat it; nothing is sent.
        BudgetError
            If the survey asks for more than this device's ceiling, or its ledger has no room; nothing is sent.
        UnusableMemory
            If the memory cannot be read or written; nothing is drawn or sent.
        UndeliveredReport
            If the report could not be delivered. A memory keeps it for `resend`; without one its attribute `report`
            can be given to `submit` later.
        """
        if not self.kept(survey):
            self.check(survey)
            told, given = self._told_of(survey, answers, asked)
            true_answers(survey, given, cohort, told)  # a slip uses no invitation
            try:
                self.check_open(survey, invitation)
            except ReportError:
                if not self.kept(
                    survey
                ):  # otherwise another process has answered meanwhile, perhaps by this invitation
                    raise
        credential = self.credential(survey, invitation)
        report = self.randomize(survey, answers, cohort, asked, credential)
        kept = self.kept(survey)
        if kept is not None and kept.state == "sent":
            return self.receipt(survey, again=True)
        return self.submit(survey, report)

    def hindrance(self, survey: Survey, invitation: str | None = None) -> Hindrance | None:
        """Ask the collector why a report would not count, to be called before anybody is asked.

        It is told the survey and, where reports carry an invitation and results are not live, the hash of that.

        Returns
        -------
        {"closed", "early", "used", "unknown"} or None
            Of the survey that it was closed or is not open yet; of the invitation that it was used or is none of the
            survey, which is not told of blind tokens and where results are live. None also where the collector cannot
            be reached or is too old to say it: then the report itself will show it.
        """
        carried = hash_of(_needed(invitation)) if survey.access == "invited" else None
        return self._connection.hindrance(survey.id, carried if tells_use(survey) else None)

    def check_open(self, survey: Survey, invitation: str | None = None) -> None:
        """Raise a SurveyClosed, a ReportConflict or a NotInvited where there is a `hindrance`."""
        if hindrance := self.hindrance(survey, invitation):
            error, message = _REFUSED[hindrance]
            raise error(f"{message}; nothing was sent")

    def credential(self, survey: Survey, invitation: str | None = None) -> str | None:
        """What lets the report of one person count: the invitation, or a blind token that it is used for; None if open.

        To be called before anybody is asked, so that nobody answers for nothing. A memory keeps what asks for a token
        before the issuer is asked, and then the token: whoever comes back gets the same one. Without a memory a token
        is in the caller's hands alone, and is lost with this call if the issuer's answer does not arrive.

        Raises
        ------
        NotInvited
            If there is no invitation where one is needed, or the issuer knows no such one.
        ReportConflict
            If the invitation was used for another token.
        BudgetError
            If the survey asks for more than this device gives; nothing is used for it.
        CollectorError
            If the issuer cannot be reached, or signs with another key.
        """
        if survey.access == "open":
            return None
        self.check(survey)
        kept = self.kept(survey)
        if kept and self.memory:
            if survey.access == "invited" and kept.state == "refused" and invitation:
                self.memory.invite(survey, self.collector, invitation)
            return parse_report((self.kept(survey) or kept).report, survey).credential
        if survey.access == "invited":
            return _needed(invitation)
        make = partial(TokenRequest.new, survey)
        request = self.memory.token_request(survey, make) if self.memory else make()
        if isinstance(request, str):
            return request
        signature = self._signer_of(survey).sign(survey.id, _needed(invitation), request.blinded.message)
        token = request.token(survey, signature)
        if self.memory:
            self.memory.keep_token(survey, token)
        return token

    def _signer_of(self, survey: Survey) -> Connection:
        """Whoever signs the survey's tokens, over a connection that no report uses: that would join the two."""
        url = survey.issuer.url if survey.issuer else None
        signer = collector_url(url) if url else self.collector
        if signer not in self._signers:
            self._signers[signer] = self._connect(signer)
        return self._signers[signer]

    @answers_stay
    def randomize(
        self,
        survey: Survey,
        answers: Mapping[str, Given],
        cohort: str | None = None,
        asked: Collection[str] | None = None,
        credential: str | None = None,
    ) -> Report:
        """Check the ceiling and mix chance into the answers of one person; sends nothing.

        With a memory this is the report that it keeps of the survey, drawn from these answers if there was none.
        """
        self.check(survey)
        if self.memory is None:
            return randomize(survey, answers, cohort, asked=asked, credential=credential)
        told, given = self._told_of(survey, answers, asked)
        return self.memory.once(
            survey,
            self.collector,
            lambda: permanent(survey, given, cohort, asked=told, credential=credential),
            self.ceiling,
        )

    def _told_of(
        self, survey: Survey, answers: Mapping[str, Given], asked: Collection[str] | None
    ) -> tuple[Collection[str] | None, Mapping[str, Given]]:
        """What is asked, where a memory or the caller says so, and the answers to that.

        Of what a device does not ask, an answer that a program has all the same goes nowhere.
        """
        if self.memory is None:
            return asked, answers
        told = self.memory.asked(survey, partial(draw_questions, survey))
        spare = {each.id for each in survey.questions}.difference(told) if asked is None else ()
        return told, {name: answer for name, answer in answers.items() if name not in spare}

    def asked(self, survey: Survey) -> tuple[str, ...]:
        """The ids of the questions to ask this person, drawn before anything is shown; a memory keeps the draw."""
        draw = partial(draw_questions, survey)
        return self.memory.asked(survey, draw) if self.memory else draw()

    def submit(self, survey: Survey, report: Report) -> Receipt:
        """Send a report; every try, now and later, sends the same bytes, and the collector counts it once.

        Raises
        ------
        ReportConflict
            If the memory keeps another report of the survey, or the collector another one of the same id.
        ReportError
            If the memory keeps none, and a question of the survey has waves: a report does not tell what to keep.
        """

        def drawn_elsewhere() -> Report:
            for question in survey.questions:
                if waves_of(question.mechanism):
                    raise ReportError(
                        f"report: must be drawn by this client, whose memory keeps what the waves of question "
                        f"{question.id!r} are made of, got one that was drawn elsewhere"
                    )
            return report

        if self.memory and self.memory.once(survey, self.collector, drawn_elsewhere, self.ceiling) != report:
            raise ReportConflict(f"report: must be the one that this device keeps of survey {survey.id}, got another")
        try:
            return self.receipt(survey, again=self._deliver(survey.id, report.encode()))
        except CollectorError as error:
            kept = "; the memory keeps the report, and Client.resend sends it" if self.memory else ""
            seconds = error.seconds if isinstance(error, Busy) else None
            raise UndeliveredReport(f"{error}{kept}", report, seconds) from None

    def check(self, survey: Survey) -> None:
        """Raise a BudgetError if the ceiling, or a ledger of the memory, has no room for the survey."""
        self.told(survey)

    def told(self, survey: Survey) -> Told:
        """What this collector and all together will have been told once the survey is answered, as far as is known.

        Raises
        ------
        BudgetError
            If that is too much.
        """
        if self.memory:
            return self.memory.told(survey, self.collector, self.ceiling)
        self.ceiling.check(survey)
        return Told(survey.epsilon, survey.epsilon)

    def kept(self, survey: Survey) -> Kept | None:
        """What the memory keeps of a survey, and whether this collector has it; None before the first answer."""
        return self.memory.recall(survey.id, self.collector) if self.memory else None

    def pending(self) -> tuple[Kept, ...]:
        """The reports in the memory that this collector has still to get."""
        return self.memory.pending(self.collector) if self.memory else ()

    def resend(self) -> tuple[Delivery, ...]:
        """Send every report that waits, each as the very bytes that were kept, and tell what became of it.

        What has not the form of a report, as an older version kept it, is refused here and not sent.
        """
        deliveries = []
        for kept in self.pending():
            try:
                self._deliver(kept.survey, kept.report)
                deliveries.append(Delivery(kept.survey, "sent"))
            except CollectorError as error:
                deliveries.append(Delivery(kept.survey, "waiting", str(error)))
            except ReportError as error:
                deliveries.append(Delivery(kept.survey, "refused", str(error)))
        return tuple(deliveries)

    def receipt(self, survey: Survey, *, again: bool = False) -> Receipt:
        """What a respondent can keep after the report has arrived."""
        odds = [sentence for question in survey.questions for sentence in odds_sentences(question)]
        sentences = (*odds, *whole_odds_sentences(survey))
        return Receipt(survey.id, self.collector, sentences, ONE_REPORT[survey.access], again=again)

    def _deliver(self, survey_id: str, body: bytes) -> bool:
        """Send the bytes of a report and note what became of them; whether the collector knew them already."""
        try:
            content_of(body)  # what an older version kept is not for a collector of this one
            again = self._connection.send(survey_id, body)
        except ReportError:
            self._note(survey_id, "refused")
            raise
        self._note(survey_id, "sent")
        return again

    def _note(self, survey_id: str, state: State) -> None:
        if self.memory:
            self.memory.mark(survey_id, self.collector, state)

    def _survey_id(self, link: str) -> str:
        if is_address(link):
            return link
        found = parse_link(link)
        if found.collector != self.collector:
            raise SurveyError(f"survey: the link is to {found.collector}, this client talks to {self.collector}")
        return found.survey


def tells_use(survey: Survey) -> bool:
    """Whether a collector says if an invitation was used: beside live results it would say whose report came when."""
    return survey.access == "invited" and survey.results != "live"


_REFUSED: dict[Hindrance, tuple[type[ReportError], str]] = {
    "closed": (SurveyClosed, "survey: is closed"),
    "early": (SurveyClosed, "survey: is not open yet"),
    "used": (ReportConflict, "invitation: was used for another report"),
    "unknown": (NotInvited, "invitation: must be one of this survey"),
}


def _needed(invitation: object) -> str:
    if not isinstance(invitation, str) or not is_invitation(invitation):
        raise NotInvited(
            "invitation: must be the 32 hexadecimal digits behind the # of a link to this survey, got "
            f"{describe(invitation)}; only who was invited is counted"
        )
    return invitation


class UndeliveredReport(CollectorError):
    """A report that did not arrive. Send `report` again with `Client.submit`; never answer again.

    Attributes
    ----------
    report : Report
    seconds : float or None
        When the collector wants to be asked again, counted from now, if it says so.
    """

    def __init__(self, message: str, report: Report, seconds: float | None = None) -> None:
        super().__init__(message)
        self.report = report
        self.seconds = seconds

"""The client: fetch a survey, check it, randomise, send. Answers never leave `deniable_client.device`."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial

from deniable import (
    Ceiling,
    CollectorError,
    NotInvited,
    ParameterError,
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
from deniable.errors import MessageError, check_kind, describe
from deniable.mechanisms.longitudinal import waves_of
from deniable.report.report import content_of
from deniable_client.blind_token import UnsignedToken
from deniable_client.collector_connection import Busy, CollectorConnection, Hindrance
from deniable_client.device import Given, draw_questions, permanent, randomize, true_answers
from deniable_client.frames import answers_stay
from deniable_client.link import collector_url, origin_of, parse_link, way_by
from deniable_client.memory import Disclosure, KeptReport, Memory, State
from deniable_client.oblivious_connection import ObliviousConnection
from deniable_client.sealing import seal
from deniable_transport.oblivious.encapsulation import KeyConfiguration, parse_keys
from deniable_transport.oblivious.pinned import check_pinned, configuration_of

CLIENT = f"deniable-python {__version__}"


@dataclass(frozen=True)
class Receipt:
    """A receipt for the respondent. It holds nothing by which the report could be found later.

    Attributes
    ----------
    survey : str
        The survey's address.
    collector : str
    odds : tuple of str
        The chance that was mixed in, in words.
    client : str
        The client that randomised, with its version.
    access : str
        How one report a person is enforced, in words.
    again : bool
        Whether this device or the collector knew the report already; it counts once. The report is then the one that
        the memory kept, not one drawn from the answers just given.
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
class DeliveryStatus:
    """The result of one try of `Client.resend` to send a report that waited.

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
        The memory of one person's reports, so that each survey is drawn once; by default nothing is kept.
    ceiling : Ceiling
        The largest epsilon that this device accepts.
    retries : int
        How often the same bytes are sent again if the network or the collector fails.
    timeout : float
        Seconds to wait for a connection and for each read.
    connections : int
        Number of connections that are kept open, one for each thread of the caller.
    place : str, optional
        The origin of a place, through which everything is sent, so that the collector does not see who asks. If a
        survey names places, reports are sent to the first of them even without this, but then the survey is
        fetched from the collector itself.
    relay : str, optional
        The URL of a relay of Oblivious HTTP (RFC 9458) that passes requests on to the gateway of the survey. Then the
        collector sees the relay, and the relay reads nothing. It has no batches, as a place has.
    keys : bytes, optional
        The key configurations of that gateway (``application/ohttp-keys``), from anybody but this device's own request
        to the collector. `survey` refuses keys that the survey does not publish.

    Notes
    -----
    A memory belongs to a person, a client does not: programs answer for thousands of people through one client, and a
    kiosk for one visitor after another. A memory by default would send the first person's report for everybody. So a
    client has none unless it is given one; `deniable answer`, which asks one person, gives it one.

    Without a memory, a person who answers twice draws twice, and two draws reveal more than one; no ledger adds up what
    a collector was told; and an undelivered report is lost unless the caller keeps `UndeliveredReport.report` and gives
    it to `submit` later, instead of calling `answer` again.

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
        place: str | None = None,
        relay: str | None = None,
        keys: bytes | None = None,
    ) -> None:
        self.collector = collector_url(collector)
        self.place = place and origin_of(place)
        if memory is not None:
            check_kind(memory, Memory, "memory")
        self.memory = memory
        self.ceiling = ceiling or Ceiling()
        self._connect = partial(CollectorConnection, retries=retries, timeout=timeout, size=connections)
        self._by_relay = partial(
            ObliviousConnection, self.collector, retries=retries, timeout=timeout, size=connections
        )
        self._relay = relay and collector_url(relay)
        # One operator who relays and opens would know who asks and what.
        if self._relay and origin_of(self._relay) == origin_of(self.collector):
            raise ParameterError("relay: must be somebody else's, or the collector sees who asks; got its own address")
        # Keys without a relay would hide nothing: whoever opens the request would see who sends it.
        self._keys = _usable(keys) if self._relay else None
        if self._relay and self._keys:
            self._connection: CollectorConnection = self._by_relay(relay=self._relay, configuration=self._keys)
        else:
            self._connection = self._connect(way_by(self.place, self.collector) if self.place else self.collector)
        self._places: dict[str, CollectorConnection] = {}
        self._surveys: dict[str, Survey] = {}
        # Issuers get connections of their own, see `_signer_of`.
        self._signers: dict[str, CollectorConnection] = {}

    def survey(self, link: str) -> Survey:
        """Fetch a survey by id or link, and check that the bytes are those of its address.

        Raises
        ------
        SurveyError
            If their hash is not the address, or there is no such survey.
        CollectorError
            If the collector cannot be reached.
        """
        survey_id = self._survey_id(link)
        survey = parse_survey(self._connection.fetch(survey_id), expected_id=survey_id)
        if self._keys:
            check_pinned(survey, self._keys)
        self._surveys[survey_id] = survey
        return survey

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

        A report is drawn only after the collector was asked whether it would count, with and without a memory; see
        `check_open`. With a memory this sends the report that was drawn the first time, or nothing once that has
        arrived.

        With blind tokens this gets a token and spends it at once, so somebody who watches issuer and collector can link
        the two by their time. To avoid that, call `credential` earlier, then `randomize` and `submit`.

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
            The 32 hexadecimal digits behind the # of the person's link. A survey that is open to everybody needs none,
            and then it is sent to nobody.

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
        """Ask the collector whether a report would count; call this before the person is asked anything.

        The collector learns the survey and, where reports carry an invitation and results are not live, its hash.

        Returns
        -------
        {"closed", "early", "used", "unknown"} or None
            The survey is closed or not open yet, or the invitation was used or is unknown; the state of an invitation
            is not told with blind tokens or live results. None if nothing hinders the report, or if the collector
            cannot be reached or is too old to say: then sending the report will show it.
        """
        check_kind(survey, Survey, "survey")
        # The hash alone: the invitation itself is shown to the collector with the report, and not before.
        carried = hash_of(_needed(invitation)) if survey.access == "invited" else None
        told = carried if tells_use(survey) and not self._place_of(survey) else None  # a place passes no question on
        return self._connection_of(survey).hindrance(survey.id, told)

    def check_open(self, survey: Survey, invitation: str | None = None) -> None:
        """Raise a SurveyClosed, a ReportConflict or a NotInvited where there is a `hindrance`."""
        if hindrance := self.hindrance(survey, invitation):
            error, message = _REFUSED[hindrance]
            raise error(f"{message}; nothing was sent")

    def credential(self, survey: Survey, invitation: str | None = None) -> str | None:
        """The credential of one person's report: the invitation, or a blind token signed for it; None if the survey is
        open.

        Call this before the person is asked anything, so that nobody answers for nothing. A memory keeps the request
        for a token before the issuer is asked, and then the token, so that a second call gets the same one. Without a
        memory the caller alone has the token, and it is lost with this call if the issuer's answer does not arrive.

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
        check_kind(survey, Survey, "survey")
        if survey.access == "open":
            return None
        self.check(survey)
        kept = self.kept(survey)
        # A report that is kept already has its credential, which must not change between tries.
        if kept and self.memory:
            if survey.access == "invited" and kept.state == "refused" and invitation:
                # Another invitation for the same report: its noise is not drawn anew.
                self.memory.invite(survey, self.collector, invitation)
            return parse_report((self.kept(survey) or kept).report, survey).credential
        if survey.access == "invited":
            return _needed(invitation)
        make = partial(UnsignedToken.new, survey)
        request = self.memory.token_request(survey, make) if self.memory else make()
        if isinstance(request, str):
            return request
        # The request is in the memory before it is sent: an answer that is lost is asked for again, with the same
        # message.
        signature = self._signer_of(survey).sign(survey.id, _needed(invitation), request.blinded.message)
        token = request.token(survey, signature)
        if self.memory:
            self.memory.keep_token(survey, token)
        return token

    def _signer_of(self, survey: Survey) -> CollectorConnection:
        """A connection to the issuer that no report uses: over a shared one, token and report could be linked."""
        url = survey.issuer.url if survey.issuer else None
        place = self._place_of(survey)
        relay = f"{way_by(place, self.collector)}/api/v1/surveys/{survey.id}/gateway" if place else self._relay
        if relay and not url:  # the collector signs, and nobody on the way need see the invitation
            configuration = configuration_of(survey, datetime.datetime.now(datetime.UTC).date())
            name = f"{relay} {configuration.identifier}"
            if name not in self._signers:
                self._signers[name] = self._by_relay(relay=relay, configuration=configuration)
            return self._signers[name]
        # A place passes the request on, to the issuer that the survey names.
        signer = way_by(place, self.collector) if place else collector_url(url) if url else self.collector
        if signer not in self._signers:
            self._signers[signer] = self._connect(signer)
        return self._signers[signer]

    def _place_of(self, survey: Survey) -> str | None:
        """The place by which a survey is answered; None where its collector is asked itself."""
        return self.place or (survey.places[0] if survey.places else None)

    def _connection_of(self, survey: Survey) -> CollectorConnection:
        """The connection over which reports of a survey go."""
        if self.place or not survey.places:
            return self._connection
        way = way_by(survey.places[0], self.collector)
        if way not in self._places:
            self._places[way] = self._connect(way)
        return self._places[way]

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

        With a memory this is the stored report on the survey, which is drawn from these answers if there was none.
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
        """The ids of the asked questions, if a memory or the caller knows them, and the answers to these alone.

        Answers to questions that the device did not draw are dropped here.
        """
        if self.memory is None:
            return asked, answers
        told = self.memory.asked(survey, partial(draw_questions, survey))
        # Answers to questions that this device did not draw must not reach the randomiser: it refuses what was not
        # asked.
        spare = {each.id for each in survey.questions}.difference(survey.shown(told)) if asked is None else ()
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
        check_kind(survey, Survey, "survey")
        check_kind(report, Report, "report")

        def drawn_elsewhere() -> Report:
            for question in survey.questions:
                if waves_of(question.mechanism):
                    raise ReportError(
                        f"report: must be drawn by this client, whose memory keeps what the waves of question "
                        f"{question.id!r} are made of, got one that was drawn elsewhere"
                    )
            return report

        # A report that the memory does not keep could be one of two draws of the same answers.
        if self.memory and self.memory.once(survey, self.collector, drawn_elsewhere, self.ceiling) != report:
            raise ReportConflict(f"report: must be the one that this device keeps of survey {survey.id}, got another")
        try:
            return self.receipt(survey, again=self._deliver(survey, report.encode()))
        except CollectorError as error:
            # The report is in the error, so that nobody has to answer, and draw, again.
            kept = "; the memory keeps the report, and Client.resend sends it" if self.memory else ""
            seconds = error.seconds if isinstance(error, Busy) else None
            raise UndeliveredReport(f"{error}{kept}", report, seconds) from None

    def check(self, survey: Survey) -> None:
        """Raise a BudgetError if the ceiling, or a ledger of the memory, has no room for the survey."""
        if self.place and survey.places and self.place not in survey.places:
            raise SurveyError(f"survey {survey.id}: is answered at {survey.places[0]}, not at {self.place}")
        if (self.place or self._relay) and not survey.sealed:
            raise SurveyError(f"survey {survey.id}: is not sealed, so nobody else may pass its reports on")
        self.told(survey)

    def told(self, survey: Survey) -> Disclosure:
        """The privacy loss towards this collector, and in total, once the survey is answered.

        Raises
        ------
        BudgetError
            If that is too much.
        """
        check_kind(survey, Survey, "survey")
        if self.memory:
            return self.memory.told(survey, self.collector, self.ceiling)
        self.ceiling.check(survey)
        return Disclosure(survey.epsilon, survey.epsilon)

    def kept(self, survey: Survey) -> KeptReport | None:
        """The report that the memory keeps of a survey, with its state here; None before the first answer."""
        check_kind(survey, Survey, "survey")
        return self.memory.recall(survey.id, self.collector) if self.memory else None

    def pending(self) -> tuple[KeptReport, ...]:
        """The reports in the memory that still have to be sent to this collector."""
        return self.memory.pending(self.collector) if self.memory else ()

    def resend(self) -> tuple[DeliveryStatus, ...]:
        """Send every waiting report, as the very bytes that were kept, and return the result of each.

        Bytes that are no report, which an older version may have kept, are refused here and not sent.
        """
        deliveries = []
        for kept in self.pending():
            try:
                survey = self._surveys.get(kept.survey) or self.survey(kept.survey)
                self._deliver(survey, kept.report)
                deliveries.append(DeliveryStatus(kept.survey, "sent"))
            except CollectorError as error:
                deliveries.append(DeliveryStatus(kept.survey, "waiting", str(error)))
            except SurveyError as error:  # it is not at this collector any more
                self._note(kept.survey, "refused")
                deliveries.append(DeliveryStatus(kept.survey, "refused", str(error)))
            except ReportError as error:
                deliveries.append(DeliveryStatus(kept.survey, "refused", str(error)))
        return tuple(deliveries)

    def receipt(self, survey: Survey, *, again: bool = False) -> Receipt:
        """The receipt for a report that has arrived."""
        odds = [sentence for question in survey.questions for sentence in odds_sentences(question)]
        sentences = (*odds, *whole_odds_sentences(survey))
        return Receipt(survey.id, self.collector, sentences, ONE_REPORT[survey.access], again=again)

    def _deliver(self, survey: Survey, body: bytes) -> bool:
        """Send the bytes of a report and note the result in the memory; return whether the collector knew them."""
        try:
            content_of(body)  # what an older version kept is not for a collector of this one
            self._surveys[survey.id] = survey  # so that sending it later asks nobody for it
            connection = self._connection_of(survey)
            if survey.sealed:
                again = connection.send_sealed(survey.id, seal(survey, body))
            else:
                again = connection.send(survey.id, body)
        except ReportError:
            self._note(survey.id, "refused")
            raise
        self._note(survey.id, "sent")
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
    """Whether a collector tells if an invitation was used: with live results it would tell whose report came when."""
    return survey.access == "invited" and survey.results != "live"


_REFUSED: dict[Hindrance, tuple[type[ReportError], str]] = {
    "closed": (SurveyClosed, "survey: is closed"),
    "early": (SurveyClosed, "survey: is not open yet"),
    "used": (ReportConflict, "invitation: was used for another report"),
    "unknown": (NotInvited, "invitation: must be one of this survey"),
}


def _usable(keys: bytes | None) -> KeyConfiguration:
    """The first of the key configurations that can be used here: a gateway puts the one that it prefers first."""
    found = parse_keys(keys or b"")
    if not found:
        raise MessageError(
            "keys: must hold a key configuration of the gateway (application/ohttp-keys) with P-256 or X25519, "
            "HKDF-SHA256 and AES-128-GCM"
        )
    return found[0]


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
        The number of seconds after which the collector asks clients to try again, if it says so.
    """

    def __init__(self, message: str, report: Report, seconds: float | None = None) -> None:
        super().__init__(message)
        self.report = report
        self.seconds = seconds

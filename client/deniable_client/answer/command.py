"""``deniable answer``"""

from __future__ import annotations

import datetime
import sys
import time
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

import click

from deniable import (
    BudgetError,
    CollectorError,
    NotInvited,
    ParameterError,
    Report,
    ReportConflict,
    ReportError,
    Survey,
    SurveyClosed,
    SurveyError,
    parse_report,
)
from deniable.errors import MessageError
from deniable.privacy.ceiling import weakness
from deniable.randomness import system_word
from deniable_client.answer import messages as m
from deniable_client.answer import screens
from deniable_client.answer.asking import StopRequest, ask_all, read
from deniable_client.answer.screens import Paragraphs, notice, show
from deniable_client.client import Client, UndeliveredReport
from deniable_client.collector_connection import Untrusted
from deniable_client.completion import completion_of
from deniable_client.frames import answers_stay
from deniable_client.link import parse_link
from deniable_client.memory import Disclosure, Memory, utc_today
from deniable_commands.files import NEW_FILE
from deniable_commands.main import example

LONGEST_SLEEP = 30.0
"""Longest sleep between two looks at the clock while a report waits, in seconds."""

INTERRUPTED = 130
"""Exit status if the person stops: 128 + SIGINT, as shells give it for Ctrl-C."""


@click.command(
    epilog=example(
        "deniable answer 'https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=web'",
        "deniable answer https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky --try",
        "deniable answer https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky --relay https://relay.example/ "
        "--relay-keys keys.bin",
        "deniable answer --resend",
    )
)
@click.argument("link", required=False)
@click.option("--kiosk", is_flag=True, help="Keep nothing on this device: for a device that several people share.")
@click.option(
    "--try",
    "is_trial",
    is_flag=True,
    help="Show what would be sent if you typed send 100 times. Asks nobody and sends nothing.",
)
@click.option(
    "--resend", is_flag=True, help="Send the replies that are waiting on this device, without asking any question."
)
@click.option(
    "--history", is_flag=True, help="Show what this device has sent so far; with LINK, what it sent to that survey."
)
@click.option("--json", "with_json", is_flag=True, help="At the end, show exactly what was sent.")
@click.option("--relay", metavar="URL", help="An Oblivious HTTP relay, which forwards requests and cannot read them.")
@click.option(
    "--relay-keys", "keys", type=click.File("rb"), help="The key configuration of the gateway behind the relay."
)
@click.option("--memory", "path", type=NEW_FILE, envvar="DENIABLE_MEMORY", show_envvar=True,
              help="The file in which this device remembers its reports; by default in your data folder.")  # fmt: skip
def answer(
    link: str | None,
    kiosk: bool,
    is_trial: bool,
    resend: bool,
    history: bool,
    with_json: bool,
    relay: str | None,
    keys: BinaryIO | None,
    path: Path | None,
) -> None:
    """Answer a survey in the terminal.

    LINK is the link that the author of the survey gave you. This device adds noise to your answers and sends the
    result, once. The answers that you type are neither shown nor stored.
    """
    getattr(sys.stdout, "reconfigure", _nothing)(errors="replace")  # a survey may use letters that a terminal has not
    if (link is None) is not resend and not (history and link is None):
        raise click.UsageError("LINK: must be given, or --resend or --history in its place.")
    if (relay is None) is not (keys is None):
        raise click.UsageError("--relay: must be given together with --relay-keys.")
    via = Relay(relay, keys.read()) if relay and keys else None
    if history:
        show(history_of(Memory(path)) if link is None else told_in_words(open_survey(link, Memory(path), via)))
    elif link is None:
        send_what_waits(Memory(path))
    elif is_trial:
        show(screens.trial(open_survey(link, None, via).survey))
    elif in_terminal():
        converse(open_survey(link, None if kiosk else Memory(path), via), with_json=with_json, own=Memory(path))
    else:
        raise click.ClickException(m.NO_TERMINAL)


def history_of(memory: Memory) -> Paragraphs:
    """The surveys that this device has answered, what is left of its limits, and how to forget."""
    replies = memory.replies()
    collectors = sorted({reply.collector for reply in replies})
    used = {collector: memory.ledger(collector).epsilon for collector in collectors}
    return screens.history(replies, used, memory.ledger().epsilon, memory.path)


def told_in_words(opened: OpenSurvey) -> Paragraphs:
    """What this device told one survey, in words."""
    kept = opened.client.kept(opened.survey)
    if not kept:
        return [m.DEVICE_NOT_THIS]
    return screens.told(opened.survey, parse_report(kept.report, opened.survey), kept.state == "sent")


def in_terminal() -> bool:
    """Whether a person reads and types here; programs give their answers to `deniable_client.Client`."""
    return sys.stdin.isatty() and sys.stdout.isatty()


class OpenSurvey(NamedTuple):
    """The survey of a link, with the cohort and the invitation in the link."""

    client: Client
    survey: Survey
    cohort: str | None
    invitation: str | None


class Relay(NamedTuple):
    """A relay of Oblivious HTTP, and the keys of the gateway behind it."""

    url: str
    keys: bytes


def open_survey(link: str, memory: Memory | None, via: Relay | None = None) -> OpenSurvey:
    """The survey of a link, after all checks that are possible before the person answers."""
    try:
        parsed = parse_link(link)
        url, keys = via or (None, None)
        client = Client(parsed.collector, memory=memory, place=parsed.place, relay=url, keys=keys)
        survey = client.survey(parsed.survey)
        client.check(survey)
    except (SurveyError, MessageError, ParameterError) as error:
        end(notice(m.ALTERED, m.ALTERED_TEXT, detail=str(error)))
    except CollectorError as error:
        end(notice(m.UNREACHABLE, why_nothing_came(error), detail=str(error)))
    except BudgetError:  # its own message is for programmers
        end(notice(m.REFUSED, m.REFUSED_TEXT))
    return OpenSurvey(client, survey, parsed.cohort, parsed.invitation)


@answers_stay
def converse(opened: OpenSurvey, *, with_json: bool, own: Memory) -> None:
    """Lead a person from consent, or from a report that waits already, to the receipt.

    ``own`` is the memory of the device, which tells even at a kiosk that somebody answered here before.
    """
    client, survey, cohort, invitation = opened
    is_drawn = False  # whether chance was drawn, so that a report exists that must not be drawn again
    try:
        if not client.memory and own.was_asked(survey):
            show(notice(m.SENT_BEFORE, m.KIOSK_OTHER))
            read(m.OTHER)
        kept = client.kept(survey)
        told = client.told(survey)  # once, so that the receipt is as strong as the consent
        receipt = partial(screens.receipt, survey, client.collector, is_kiosk=client.memory is None, told=told)
        if kept and kept.state == "sent":
            is_mine = invitation is None or invitation.encode() in kept.report
            sent = kept.report if with_json else None
            show(receipt(is_old=True, is_mine=is_mine, report=sent, completion=completion_of(survey)))
            return
        if kept:
            is_drawn = True
            show(notice(m.WAITING, m.WAITING_TEXT))
            read(m.AGAIN)
            client.credential(survey, invitation)  # after a refusal the report gets the credential of this link
            report = parse_report((client.kept(survey) or kept).report, survey)
        else:
            agree(client, survey, cohort, invitation, told)
            credential = credential_of(client, survey, invitation)
            asked = client.asked(survey)
            presentation = survey.presented(asked, system_word)
            answers = ask_all(
                [survey.question(each) for each in presentation.block.ids],
                presentation,
                weakness(survey, told.collector),
            )
            is_drawn = True
            report = client.randomize(survey, answers, cohort, asked, credential)
            del answers  # the report alone is needed from here on, and sending may take hours
        deliver(client, survey, report)
        # Drawn only now, so that no code is there before the report was sent.
        sent = report.encode() if with_json else None
        show(receipt(is_old=False, report=sent, completion=completion_of(survey)))
    except BudgetError:  # spent by another process since it was checked
        end(notice(m.REFUSED, m.REFUSED_TEXT))
    except (StopRequest, click.Abort, KeyboardInterrupt):
        late = m.STOPPED_LATE if client.memory else m.STOPPED_LATE_KIOSK
        invited = m.STOPPED_INVITED if client.memory else m.STOPPED_INVITED_KIOSK
        early = invited if survey.issuer else m.STOPPED
        end(["", late if is_drawn else early], INTERRUPTED)


def agree(client: Client, survey: Survey, cohort: str | None, invitation: str | None, told: Disclosure) -> None:
    """Show the consent until the person starts; ends the command if the report would be refused."""
    # Before the consent: nobody should read and decide for a survey that takes no report.
    if closed := screens.not_open(survey, utc_today(), cohort, invitation):
        end(closed)
    if hindrance := client.hindrance(survey, invitation):
        end(screens.hindered(survey, hindrance))
    show(screens.consent(survey, cohort, is_kiosk=client.memory is None, told=told))
    while read(m.START) == "?":
        show([*screens.onlookers(survey, told), *screens.odds(survey, told), *screens.invitation(survey)])


def credential_of(client: Client, survey: Survey, invitation: str | None) -> str | None:
    """The credential of the person's report; ends the command without one, before anything is asked for nothing."""
    while True:
        if survey.issuer:
            show([m.CHECKING])
        try:
            return client.credential(survey, invitation)
        except CollectorError as error:
            show(notice(m.UNSIGNED, why_nothing_came(error), detail=str(error)))
            read(m.AGAIN)
        except ReportError as error:
            end(notice(refusal(survey, error), m.NOT_ASKED, detail=str(error)))


def why_nothing_came(error: CollectorError) -> str:
    """What a person reads above the message of the error. A connection is not to blame for a certificate."""
    return m.UNTRUSTED_TEXT if isinstance(error, Untrusted) else m.UNREACHABLE_TEXT


def refusal(survey: Survey, error: ReportError) -> str:
    """The heading for a refusal by an issuer or a collector."""
    of_invitations = {} if survey.access == "open" else {NotInvited: m.UNKNOWN, ReportConflict: m.USED_BEFORE}
    return {SurveyClosed: m.CLOSED, **of_invitations}.get(type(error), m.NOT_TAKEN)


def deliver(client: Client, survey: Survey, report: Report) -> None:
    """Send a report until it has arrived or is refused, or until the person stops."""
    while True:
        show([m.SENDING])
        try:
            client.submit(survey, report)
        except UndeliveredReport as error:
            show(notice(m.WAITING, m.WAITING_TEXT, detail=str(error)))
            if error.seconds is None:
                read(m.AGAIN)
            else:
                wait(error.seconds)
        except ReportError as error:
            left = m.NOT_KEPT if client.memory else m.KIOSK_CLEARED
            end(notice(refusal(survey, error), f"{m.TOO_LATE} {left}", detail=str(error)))
        else:
            return


def wait(seconds: float) -> None:
    """Wait until the time that the collector asked for, by the clock: a timer may stop while the device sleeps."""
    due = datetime.datetime.now().astimezone() + datetime.timedelta(seconds=seconds)
    show([m.AGAIN_AT.format(time=f"{due:%Y-%m-%d %H:%M}")])
    while (left := (due - datetime.datetime.now().astimezone()).total_seconds()) > 0:
        time.sleep(min(left, LONGEST_SLEEP))


def send_what_waits(memory: Memory) -> None:
    """Send each report that waits to its own collector."""
    collectors = {kept.collector for kept in memory.pending()}
    found = [each for collector in sorted(collectors) for each in Client(collector, memory=memory).resend()]
    titles = {"sent": m.SENT, "waiting": m.WAITING, "refused": m.NOT_TAKEN}
    for delivery in found:
        show(notice(titles[delivery.state], f"{m.SURVEY}: {delivery.survey}", detail=delivery.reason))
    if not found:
        show([m.NONE_WAITS])
    if any(delivery.state != "sent" for delivery in found):
        raise click.exceptions.Exit(1)


def end(paragraphs: Paragraphs, status: int = 1) -> NoReturn:
    """Show the reason why the command ends, and end it."""
    show(paragraphs, err=True)
    raise click.exceptions.Exit(status)


def _nothing(**_settings: str) -> None:
    """Stand in for ``reconfigure`` of an output that has none, since it is not a text stream."""

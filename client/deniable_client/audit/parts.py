"""The parts of an audit, each with what was looked at, what was found, and how small a leak would have been found."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Literal

import click

from deniable import Survey
from deniable_client.audit.again import SecondLook
from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.contrast import POWER
from deniable_client.audit.evidence import FOUND, Audit
from deniable_client.audit.findings import AuditPart, PowerRow
from deniable_client.audit.forms import FORMS
from deniable_client.audit.history_bound import bound_waves, draw_waves_of_javascript, draw_waves_of_python
from deniable_client.audit.judge import Bench, Suspect, power
from deniable_client.audit.places import Places
from deniable_client.audit.promises import STATES
from deniable_client.audit.python_histories import Unfinished
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.release import VISITS, check_served
from deniable_client.audit.sampling import Draw, draw_javascript, draw_python
from deniable_client.audit.second_look import look_again_in_browser, look_again_in_python
from deniable_client.audit.shipped import (
    FORMS_SHARE,
    RACES,
    Target,
    audit_forms,
    audit_installed,
    audit_shipped,
    check_promises,
    check_races,
)

CLIENTS: dict[str, Draw] = {"python": draw_python, "browser": draw_javascript, "firefox": draw_javascript}
"""By the name of a client what draws many reports from it."""


def served(target: Target) -> tuple[AuditPart, bool]:
    """Whether page and script are those of a known release; and whether they are there at all."""
    click.echo(f"page and script are fetched, up to {VISITS} times", err=True)
    relay = target.relay()
    try:
        found = check_served(relay, target.companions.survey.id)
    finally:
        relay.close()
    if not found.is_there:
        return AuditPart("page and script", "Without both of them nobody can answer.", found.faults), False
    known = f"It is of release {found.release}." if found.release else "It belongs to no known release."
    # One visit in 1 / share gets something else; all visits miss it with probability 0.01.
    one_in = math.floor(1 / (1 - 0.01 ** (1 / found.visits)))
    others = f" Of known releases are also {', '.join(found.others)}." if found.others else ""
    looked = (
        f"The page loads one script, whose hash is {found.hash}; the second one, which that loads, must have the hash "
        f"that stands in it. {known}{others} The page and its script were fetched {found.visits} times, as a browser "
        f"asks. If one visitor in {one_in} got something else, at random or in turn, this would be found with "
        "probability 0.99. What a collector serves to certain visitors alone, nobody else can see."
    )
    return AuditPart("page and script", looked, found.faults), True


def people_answer(name: str, target: Target, sessions: int, program: str | None, failure: float) -> list[AuditPart]:
    """People who answer through a client, and what was seen of them.

    Parameters
    ----------
    name : {"python", "browser", "firefox"}
    target : Target
    sessions : int
    program : str or None
        Path of a browser.
    failure : float
        Probability that a faultless client is accused.
    """
    start = time.monotonic()
    # A third of the failure probability each for what all sessions show, for what is lived again, and for forms.
    share = failure / 3
    try:
        bench, names = _lived(name, target, sessions, program, share)
    except Unfinished as error:
        return [AuditPart(f"{name}: everything seen", "The client did not come to its end.", (str(error),))]
    if not bench.has_finished:
        looked = (
            f"{bench.sessions:,} simulated people tried to answer, and none of them came to the receipt. So no more "
            "came, and nothing else was looked at."
        )
        told = _told(bench.suspects(failure), is_loose=False)
        return [AuditPart(f"{name}: everything sent, stored and shown", looked, told), _hosts(name, names)]
    parts = _seen(name, bench, share, time.monotonic() - start)
    if name != "python":
        click.echo(f"{name}: what the first screen says, and two tabs at once", err=True)
        parts += [_promised(name, target, program), _raced(name, target, program)]
        forms, others = _filled_in(name, target, sessions // FORMS_SHARE, program, share)
        parts += [forms, _hosts(name, names | others)]
    return parts


def _lived(name: str, target: Target, sessions: int, program: str | None, failure: float) -> tuple[Bench, set[str]]:
    """What was seen of everybody, at the second look too, and the hosts that browsers asked for."""
    with Places(target) as places:
        with click.progressbar(length=target.people(sessions), label=f"{name}: people answer") as bar:
            if name == "python":
                bench, names = audit_installed(target, sessions, progress=bar.update, places=places), set[str]()
            else:
                bench, names = audit_shipped(target, sessions, progress=bar.update, program=program, kind=_kind(name))
        if bench.has_finished:
            click.echo(f"{name}: pairs that differ most answer again", err=True)
            if name == "python":
                look_again_in_python(target, bench, failure, places=places)
            else:
                look_again_in_browser(target, bench, failure, program=program, kind=_kind(name))
    return bench, names


def _filled_in(
    name: str, target: Target, sessions: int, program: str | None, failure: float
) -> tuple[AuditPart, set[str]]:
    """People who fill in forms of another site that hold one question, and the hosts that their browsers asked for."""
    title = f"{name}: one question in a form"
    people = target.filling_in(sessions)
    if not people:
        return AuditPart(title, "Not looked at: no question of this survey can stand in a form by itself."), set()
    with click.progressbar(length=people, label=f"{name}: forms are filled in") as bar:
        bench, names = audit_forms(target, sessions, progress=bar.update, program=program, kind=_kind(name))
    questions = {name for block in bench.blocks for session, _ in block for name in session.answers[0]}
    looked = (
        f"{bench.sessions:,} simulated people filled in a form on another site in which <deniable-question> holds one "
        f"question. Questions: {len(questions)}; ways to use the form: {len(FORMS)}. Again the two people of a pair "
        "had the same random numbers and different answers. The form must get the value that a second implementation "
        "computes. Nothing else that the site, the collector or this device sees may depend on the answer: attributes, "
        "properties, events and size of the element, requests, storage and times. If 1 in 100 people who give an "
        f"answer leaked it, this would be found with probability {power(bench.sessions):.3f}."
    )
    told = tuple(str(each) for each in bench.suspects(failure))
    return AuditPart(title, looked, told), names


def _hosts(name: str, names: set[str]) -> AuditPart:
    """Whether a browser asked for other hosts."""
    asked = "reach" if name == "firefox" else "look up"
    looked = f"A page may not make the browser {asked} any host but the collector. Any other would be listed here."
    return AuditPart(f"{name}: other hosts", looked, tuple(sorted(names)))


def _kind(name: str) -> Literal["chromium", "firefox"]:
    return "firefox" if name == "firefox" else "chromium"


def _promised(name: str, target: Target, program: str | None) -> AuditPart:
    """Whether what the first screen says of requests and memory is so."""
    looked = (
        f"{len(STATES)} visits: {', '.join(STATES.values())}. What the first screen says about requests and about what "
        "this device remembers was held against what was sent and stored."
    )
    faults = check_promises(target, program=program, kind=_kind(name))
    return AuditPart(f"{name}: promises of the first screen", looked, tuple(faults))


def _raced(name: str, target: Target, program: str | None) -> AuditPart:
    """Whether two tabs that send at the same moment make one report."""
    looked = (
        f"{RACES} times somebody answered in two tabs, differently, and pressed Send in both at the same moment. One "
        "report may come of it."
    )
    faults = check_races(target, program=program, kind=_kind(name))
    return AuditPart(f"{name}: two tabs at once", looked, tuple(faults))


def _seen(name: str, bench: Bench, failure: float, seconds: float) -> list[AuditPart]:
    """What all sessions show exactly, and what varies by itself."""
    traces = [trace for block in bench.blocks for _, trace in block]
    observed = len({key for trace in traces for key in trace.exact})
    exact = (
        f"{bench.sessions:,} simulated people answered, from the first screen to the receipt. A recorder kept all that "
        f"they sent, stored, showed or asked of their system, {observed:,} things of each, and a second implementation "
        "computed every report again, bit by bit. People came in pairs: both had the same random numbers and different "
        "answers, so everything else about them must be the same. If 1 in 100 people who give an answer "
        f"leaked it, this would be found with probability {power(bench.sessions):.3f}. It took {seconds:.0f} s, with "
        "the next part."
    )
    varied = bench.contrasts(failure)
    loose = (
        "Times, connections and the order of files differ from visit to visit anyway. So they were compared "
        f"statistically between the two people of each pair (comparisons: {varied.tested:,}). "
        f"{_lived_again(bench.again)} A faultless client fails this part with probability {2 * failure:g} at most. "
        f"{_what_is_found(varied.least)}"
    )
    suspects = bench.suspects(failure)
    return [
        AuditPart(f"{name}: everything sent, stored and shown", exact, _told(suspects, is_loose=False)),
        AuditPart(f"{name}: what varies by itself", loose, _told(suspects, is_loose=True), _powers(bench, failure)),
    ]


def _lived_again(again: SecondLook) -> str:
    if not again.pairs:
        return "There were too few pairs for a second look at those that differed most."
    return (
        f"The {again.pairs:,} pairs that differed most answered again with the same random numbers, in "
        f"{again.sessions:,} visits; {again.tested:,} differences came back each time and were tested."
    )


def _told(suspects: list[Suspect], *, is_loose: bool) -> tuple[str, ...]:
    return tuple(str(each) for each in suspects if each.is_loose == is_loose)


def _what_is_found(share: float) -> str:
    """How small a leak in what varies by itself is found, in words."""
    if share >= 1:
        return "With so few visits the comparisons find nothing."
    return (
        f"The table says how small a leak is found with probability {POWER} or more. Share: how many of those who give "
        "an answer must show it, if it is larger than what the machine does by itself. In all: the smallest "
        "difference, if all of them show it. In 1 of 100: the smallest difference, if 1 in 100 of them shows it and it "
        "depends on answers and random numbers alone, not on the clock. Times are in milliseconds."
    )


def _powers(bench: Bench, failure: float) -> tuple[PowerRow, ...]:
    # In few pairs a leak of one in 100 mostly does not show at all.
    rare = {each.feature: each.size for each in bench.again.powers if power(2 * each.pairs) >= POWER}
    return tuple(
        PowerRow(each.feature, each.pairs, each.share, each.shift, rare.get(each.feature, math.inf))
        for each in bench.contrasts(failure).powers
    )


def many_reports(name: str, survey: Survey, draws: int, failure: float) -> list[AuditPart]:
    """Many reports at once, without pages; then what several waves of one device tell together."""
    start = time.monotonic()
    click.echo(f"{name}: {draws:,} reports are drawn", err=True)
    found = audit_survey(survey, CLIENTS[name], max(draws, 1000), failure)
    seconds = time.monotonic() - start
    by = "Python client" if name == "python" else "browser client's modules"
    looked = (
        f"The {by}, as installed here, made {found.draws:,} reports of random answers in {seconds:.0f} s, without "
        "pages and without the collector. They were compared with what the survey publishes. Epsilon says how much a "
        "report tells about an answer: declared is the most that it may tell, measured is what it tells at least. Each "
        f"other line says which fault would have been found with probability {FOUND}."
    )
    counted = AuditPart(f"{name}: many reports", looked, tuple(_faults(found)), lines=tuple(_counted(found)))
    return [counted, _waves(name, survey, max(draws // 25, 400), failure)]


def _waves(name: str, survey: Survey, people: int, failure: float) -> AuditPart:
    """What several waves of one device tell together."""
    title = f"{name}: whole histories"
    if any(each.ask_if for each in survey.questions):
        return AuditPart(title, "Not looked at: with filters nobody can give the last answer to everything.")
    draw = draw_waves_of_python if name == "python" else draw_waves_of_javascript
    found = bound_waves(PublishedSurvey(survey.document), draw, people, failure)
    lines = tuple(_epsilons(each.name, each.declared, each.bound) for each in found.bounds)
    faults = tuple(
        f"{each.name}: at least epsilon {each.bound:.4f} in {found.waves} waves, {each.declared:.4f} declared"
        for each in found.bounds
        if not each.passed
    )
    looked = (
        f"{found.people:,} devices answered the survey {found.waves} times each, under other titles, with the same "
        "answers. All that a device sent may tell no more than is declared."
    )
    return AuditPart(title, looked, faults, lines=lines)


def _epsilons(name: str, declared: float, measured: float) -> str:
    return f"{name}: epsilon {declared:.4f} declared, at least {max(measured, 0):.4f} measured"


def _counted(found: Audit) -> Iterator[str]:
    yield from (_epsilons(each.question, each.declared, each.bound) for each in found.findings)
    yield from (f"{_LABELS[check.name]}: {check.power}" for check in found.checks)


_LABELS = {
    "form": "how a report is written",
    "source of chance": "what becomes of the random numbers",
    "ids differ": "ids",
    "other answers": "replies and answers to other questions",
    "values together": "replies and replies to other questions",
    "ids and answers": "ids and answers",
    "ids and values": "ids and replies",
    "time": "time that a report takes",
}
"""What each check of many reports looks at, in words."""


def _faults(found: Audit) -> Iterator[str]:
    for each in found.findings:
        if not each.passed:
            yield f"{each.question}: {each.fault or each.event}"
    for check in found.checks:
        if check.fault:
            yield f"{check.name}: {check.fault}"

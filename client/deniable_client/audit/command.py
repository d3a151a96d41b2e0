"""``deniable audit``"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from deniable import Survey, parse_survey, read_survey
from deniable.errors import DeniableError
from deniable_client import Client
from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.contrast import POWER
from deniable_client.audit.evidence import FAILURE, FOUND, Audit, AuditFailed
from deniable_client.audit.findings import AuditPart, as_json, as_junit, as_text
from deniable_client.audit.history_bound import bound_waves, draw_waves_of_javascript, draw_waves_of_python
from deniable_client.audit.judge import Bench, power
from deniable_client.audit.promises import STATES
from deniable_client.audit.python_histories import Unfinished
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.release import check_served
from deniable_client.audit.sampling import Draw, draw_javascript, draw_python
from deniable_client.audit.served import PLACEHOLDER, serving
from deniable_client.audit.shipped import (
    RACES,
    SESSIONS,
    Target,
    audit_installed,
    audit_shipped,
    check_promises,
    check_races,
)
from deniable_client.link import parse_link
from deniable_commands.main import example

CLIENTS: dict[str, Draw] = {"python": draw_python, "browser": draw_javascript, "firefox": draw_javascript}
"""By the name of a client what draws many reports from it."""

BOTH = ("python", "browser")


@click.command(
    epilog=example(
        "deniable audit https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky",
        "deniable audit my-survey.toml",
        "deniable audit published.json --client browser --draws 1000000 --junit audit.xml",
    )
)
@click.argument("survey")
@click.option("--draws", type=click.IntRange(0, 100_000_000), default=100_000, show_default=True,
              help="Reports drawn from each client at once; 0 draws none.")  # fmt: skip
@click.option("--sessions", type=click.IntRange(0, 1_000_000), default=SESSIONS, show_default=True,
              help="People who answer through each client, from first screen to receipt; 0 for none.")  # fmt: skip
@click.option("--client", type=click.Choice(["both", *CLIENTS]), default="both", show_default=True,
              help="browser: pages in Chromium; firefox: pages in Firefox; both: Python and Chromium.")  # fmt: skip
@click.option("--browser", "program", help="Path of a Chromium or Firefox; by default the one that is installed.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False), help="Write all findings as JSON."
)
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write them for a build server.")
def audit(
    survey: str,
    draws: int,
    sessions: int,
    client: str,
    program: str | None,
    json_file: Path | None,
    junit: Path | None,
) -> None:
    """Look for anything that a device sends, keeps or shows and that tells more than the survey declares.

    SURVEY is the link to a survey at a running collector, whose own pages and script are then audited, or a file of
    its author's TOML or of published JSON. People who answer at random use the pages in a real browser, and the
    Python client as a process; a recorder around them keeps every byte, connection, file and change of storage.
    Chance comes from the audit, from below the client, and a second implementation computes what must be sent. No
    report reaches a collector. Fails when anything depends on an answer that may not. A pass is evidence, not a proof:
    each part says how small a leak it would have found.
    """
    parts: list[AuditPart] = []
    chosen = BOTH if client == "both" else (client,)
    has_pages = client != "python"
    with _target(survey, has_pages=bool(sessions) or has_pages) as (target, read):
        if has_pages:
            parts.append(_served(target))
        for name in chosen if sessions else ():
            parts += _lived(name, target, sessions, program, len(chosen))
        for name in chosen if draws else ():
            parts += _drawn(name, read, draws, len(chosen))
            parts.append(_waves(name, read, max(draws // 25, 400), FAILURE / len(chosen)))
    click.echo(as_text(parts))
    if json_file:
        json_file.write_text(as_json(parts), encoding="utf-8")
    if junit:
        junit.write_text(as_junit(parts), encoding="utf-8")
    failed = [part.name for part in parts if part.faults]
    if failed:
        raise AuditFailed(f"audit: more is told than the survey declares: {', '.join(failed)}")
    click.echo("Nothing told more than declared.")


@contextmanager
def _target(survey: str, has_pages: bool) -> Iterator[tuple[Target, Survey]]:
    """What is to be audited: a survey at a collector of somebody, or at one of this audit's own.

    Where no pages are looked at, nothing is started, and the target has no address.
    """
    if survey.startswith(("http://", "https://")):
        link = parse_link(survey)
        read = Client(link.collector).survey(link.survey)
        yield Target.of(link.collector, PublishedSurvey(read.document)), read
        return
    path = Path(survey)
    if not path.is_file():
        raise DeniableError(f"survey: must be a link or a file, got {survey!r}")
    content = path.read_bytes()
    with tempfile.TemporaryDirectory(prefix="deniable-") as name:
        folder, page = Path(name), None
        if content.startswith(b"{"):
            read = parse_survey(content)
            path = folder / "page.toml"
            path.write_text(PLACEHOLDER, encoding="utf-8")
            page = PublishedSurvey(read_survey(PLACEHOLDER).document)
        else:
            read = read_survey(content, folder=path.parent)
        with serving(path, folder) if has_pages else nullcontext("") as url:
            yield Target.of(url, PublishedSurvey(read.document), page), read


def _served(target: Target) -> AuditPart:
    """Whether page and script are those of a known release."""
    relay = target.relay()
    try:
        served = check_served(relay, target.companions.survey.id)
    finally:
        relay.close()
    known = f"that of release {served.release}" if served.release else "that of no known release"
    return AuditPart(
        "pages and script", f"The script is {known}: {served.hash}. The page loads and runs it alone.", served.faults
    )


def _lived(name: str, target: Target, sessions: int, program: str | None, clients: int) -> list[AuditPart]:
    """People who answer through a client, and what was seen of them."""
    start = time.monotonic()
    names: set[str] = set()
    with click.progressbar(length=target.people(sessions), label=f"{name}: people answer") as bar:
        try:
            if name != "python":
                kind = "firefox" if name == "firefox" else "chromium"
                bench, names = audit_shipped(target, sessions, progress=bar.update, program=program, kind=kind)
            else:
                bench = audit_installed(target, sessions, progress=bar.update)
        except Unfinished as error:
            return [AuditPart(f"{name}: everything seen", "The client did not come to its end.", (str(error),))]
    parts = [_seen(name, bench, FAILURE / clients, time.monotonic() - start)]
    if name != "python":
        parts += [_promised(name, target, program), _raced(name, target, program)]
        asked = "reach" if name == "firefox" else "look up"
        text = f"Host names that the browser was asked to {asked}, by whatever in a page."
        parts.append(AuditPart(f"{name}: host names", text, tuple(sorted(names))))
    return parts


def _promised(name: str, target: Target, program: str | None) -> AuditPart:
    """Whether what the first screen says of requests and memory is so."""
    looked = (
        f"What it says of requests before Send and of what is remembered, in each state ({', '.join(STATES)}), beside "
        "what was requested and kept there."
    )
    faults = check_promises(target, program=program, kind="firefox" if name == "firefox" else "chromium")
    return AuditPart(f"{name}: words of the first screen", looked, tuple(faults))


def _raced(name: str, target: Target, program: str | None) -> AuditPart:
    """Whether two tabs that send at the same moment make one report."""
    looked = f"{RACES} times somebody presses Send in two tabs at the same moment, with other answers in each."
    faults = check_races(target, program=program, kind="firefox" if name == "firefox" else "chromium")
    return AuditPart(f"{name}: two tabs at once", looked, tuple(faults))


def _seen(name: str, bench: Bench, failure: float, seconds: float) -> AuditPart:
    traces = [trace for block in bench.blocks for _, trace in block]
    observed = len({key for trace in traces for key in (*trace.exact, *trace.loose)})
    varied = bench.contrasts(failure)
    looked = (
        f"{bench.sessions:,} sessions in {seconds:.0f} s, {observed:,} observables: each report bit by bit, all that "
        "is kept, shown and requested, alike for all who send the same values. A leak in 1 of 100 sessions of half of "
        f"all people is found with probability {power(bench.sessions):.3f}. Times, order and connections are compared "
        f"between two answers to each question, {varied.tested:,} comparisons with a family-wise error rate of "
        f"{failure:g}: {_least(varied.least)}."
    )
    return AuditPart(f"{name}: everything seen", looked, tuple(map(str, bench.suspects(failure))))


def _least(share: float) -> str:
    """How small a leak in what varies by itself is found, in words."""
    if share >= 1:
        return "with so few sessions they find nothing"
    return f"found with probability {POWER} is what {share:.0%} of those who give an answer show, and nobody else"


def _drawn(name: str, survey: Survey, draws: int, clients: int) -> list[AuditPart]:
    """Many reports at once, without pages and memory."""
    start = time.monotonic()
    click.echo(f"{name}: {draws:,} reports are drawn", err=True)
    found = audit_survey(survey, CLIENTS[name], max(draws, 1000), FAILURE / clients)
    return [AuditPart(f"{name}: many reports", _counted(found, time.monotonic() - start), tuple(_faults(found)))]


def _waves(name: str, survey: Survey, people: int, failure: float) -> AuditPart:
    """What several waves of one device tell together."""
    title = f"{name}: whole histories"
    if any(each.ask_if for each in survey.questions):
        return AuditPart(title, "Not looked at: with filters nobody can give the last answer to everything.")
    draw = draw_waves_of_python if name == "python" else draw_waves_of_javascript
    found = bound_waves(PublishedSurvey(survey.document), draw, people, failure)
    looked = "; ".join(f"{each.name}: epsilon {each.declared:.4f} declared, at least {each.bound:.4f} measured"
                       for each in found.bounds)  # fmt: skip
    faults = tuple(
        f"{each.name}: at least epsilon {each.bound:.4f} in {found.waves} waves, {each.declared:.4f} declared"
        for each in found.bounds
        if not each.passed
    )
    return AuditPart(title, f"{found.people:,} devices, {found.waves} waves of each. {looked}.", faults)


def _counted(found: Audit, seconds: float) -> str:
    questions = "; ".join(
        f"{each.question}: epsilon {each.declared:.4f} declared, at least {max(each.bound, 0):.4f} measured"
        for each in found.findings
    )
    checks = "; ".join(f"{check.name}: {check.power}" for check in found.checks)
    return f"{found.draws:,} reports in {seconds:.0f} s. {questions}. Found with probability {FOUND}: {checks}."


def _faults(found: Audit) -> Iterator[str]:
    for each in found.findings:
        if not each.passed:
            yield f"{each.question}: {each.fault or each.event}"
    for check in found.checks:
        if check.fault:
            yield f"{check.name}: {check.fault}"

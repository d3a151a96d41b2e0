"""``deniable audit``"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

from deniable import Survey, parse_survey, read_survey
from deniable.errors import DeniableError
from deniable_client.audit.blackbox.fetching import AS_BROWSERS_ASK, Fetching
from deniable_client.audit.evidence import FAILURE, AuditFailed
from deniable_client.audit.findings import AuditPart, Stopwatch, as_json, as_junit, as_text
from deniable_client.audit.parts import CLIENTS, many_reports, people_answer, served
from deniable_client.audit.reference.device import MILLION, OF_COLLECTOR
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.served import PLACEHOLDER, serving
from deniable_client.audit.shipped import SESSIONS, Target
from deniable_client.link import parse_link
from deniable_commands.main import example

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
              help="Number of reports drawn directly from each client; 0 skips this part.")  # fmt: skip
@click.option("--sessions", type=click.IntRange(0, 1_000_000), default=SESSIONS, show_default=True,
              help="Simulated people for each client; a quarter as many fill in forms. 0 for none.")  # fmt: skip
@click.option("--client", type=click.Choice(["both", *CLIENTS]), default="both", show_default=True,
              help="browser: pages in Chromium; firefox: pages in Firefox; both: Python and Chromium.")  # fmt: skip
@click.option("--browser", "program", help="Path of a Chromium or Firefox; by default the installed one.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write all results to this file as JSON.",
)
@click.option(
    "--junit",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the results to this file as JUnit XML, for a build server.",
)
def audit(
    survey: str,
    draws: int,
    sessions: int,
    client: str,
    program: str | None,
    json_file: Path | None,
    junit: Path | None,
) -> None:
    """Check whether anything that a device sends, stores or shows reveals more than the survey declares.

    SURVEY is the link to a survey at a running collector, whose pages and script are then audited. It can also be a
    file: the author's TOML, or the published JSON. Simulated people answer at random, with the pages in a real browser
    and with the Python client as a process of its own. Others fill in forms of another site that contain one question.
    The audit records every byte, connection, file and change of storage. It replaces the source of random numbers below
    the client, and a second implementation computes what must be sent. No report reaches a collector. A part fails if
    anything depends on an answer although it must not. If no part fails, that is evidence and not a proof: each part
    says how small a leak it would have found. The exit status is 0 if no part failed, and 1 otherwise.
    """
    spent = Stopwatch()
    parts: list[AuditPart] = []
    chosen = BOTH if client == "both" else (client,)
    has_pages = client != "python"
    with _target(survey, has_pages=bool(sessions) or has_pages) as (target, read):
        if sessions and target.cost > OF_COLLECTOR:
            most = OF_COLLECTOR // MILLION
            raise DeniableError(
                f"survey: must cost epsilon {most} at most, or no device answers it, got {target.cost / MILLION:.4g}; "
                "--sessions 0 audits reports alone"
            )
        if has_pages:
            part, is_there = served(target)
            parts.append(part)
            if not is_there:
                sessions = 0
        for name in chosen if sessions else ():
            parts += people_answer(name, target, sessions, program, FAILURE / len(chosen))
        for name in chosen if draws else ():
            parts += many_reports(name, read, draws, FAILURE / len(chosen))
    took = spent.read()
    click.echo(as_text(parts))
    click.echo(str(took))
    if json_file:
        json_file.write_text(as_json(parts, took), encoding="utf-8")
    if junit:
        junit.write_text(as_junit(parts, took), encoding="utf-8")
    failed = [part.name for part in parts if part.faults]
    if failed:
        raise AuditFailed(f"audit: these parts failed: {'; '.join(failed)}")
    click.echo("No part failed.")


@contextmanager
def _target(survey: str, has_pages: bool) -> Iterator[tuple[Target, Survey]]:
    """What is to be audited: a survey at a collector of somebody, or at one of this audit's own.

    Where no pages are looked at, nothing is started, and the target has no address.
    """
    if survey.startswith(("http://", "https://")):
        link = parse_link(survey)
        status, _, content = Fetching(link.collector).get(f"/api/v1/surveys/{link.survey}", AS_BROWSERS_ASK)
        if status != 200:
            raise DeniableError(
                f"survey {link.survey}: is not at {link.collector}, which answered with status {status}"
            )
        read = parse_survey(content, expected_id=link.survey)
        yield Target.of(link.collector, PublishedSurvey(read.document)), read
        return
    path = Path(survey)
    if not path.is_file():
        raise DeniableError(f"survey: must be a link or a file, got {survey!r}")
    content = path.read_bytes()
    with tempfile.TemporaryDirectory(prefix="deniable-") as name:
        folder, page = Path(name), None
        is_published = content.startswith(b"{")
        read = parse_survey(content) if is_published else read_survey(content, folder=path.parent)
        # Only files of authors can be published, and only where the private half of an issuer's key is.
        if is_published or read.issuer:
            path = folder / "page.toml"
            path.write_text(PLACEHOLDER, encoding="utf-8")
            page = PublishedSurvey(read_survey(PLACEHOLDER).document)
        with serving(path, folder) if has_pages else nullcontext("") as url:
            yield Target.of(url, PublishedSurvey(read.document), page), read

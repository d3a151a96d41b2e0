"""``deniable audit``"""

from __future__ import annotations

import time
from typing import BinaryIO

import click

from deniable import Survey, parse_survey, read_survey
from deniable.auditing import AuditFailed
from deniable.cli import example
from deniable_client.audit.sampling import Draw, audit_survey, draw_javascript, draw_python

CLIENTS: dict[str, Draw] = {"python": draw_python, "javascript": draw_javascript}


@click.command(
    epilog=example(
        "deniable audit my-survey.toml",
        "deniable audit published.json --client javascript --draws 200000",
    )
)
@click.argument("survey", type=click.File("rb"))
@click.option("--draws", type=click.IntRange(1000, 100_000_000), default=1_000_000, show_default=True,
              help="Reports drawn for each question and client.")  # fmt: skip
@click.option("--client", type=click.Choice(["both", *CLIENTS]), default="both", show_default=True)
def audit(survey: BinaryIO, draws: int, client: str) -> None:
    """Bound the real epsilon of what the clients send.

    SURVEY is a file of its author's TOML or of published JSON. Reports to different answers are drawn, serialised as
    they are sent, and compared. Fails when they tell more than the survey declares. A pass is evidence, not a proof:
    small faults need many draws.
    """
    content = survey.read()
    audited: Survey = parse_survey(content) if content.startswith(b"{") else read_survey(content)
    click.echo(f"{'question':<16}{'client':<12}{'declared':>10}{'at least':>10}   most telling")
    failed = []
    for name, draw in CLIENTS.items():
        if client not in ("both", name):
            continue
        start = time.monotonic()
        for finding in audit_survey(audited, draw, draws):
            verdict = "" if finding.passed else "   FAILED"
            click.echo(
                f"{finding.question:<16}{name:<12}{finding.declared:>10.4f}{finding.bound:>10.4f}   "
                f"{finding.event[:60]}{verdict}"
            )
            if not finding.passed:
                failed.append(f"{finding.question} ({name})")
        click.echo(f"{'':<16}{name:<12}{draws:,} reports a question, {time.monotonic() - start:.0f} s")
    if failed:
        raise AuditFailed(f"audit: reports tell more than the survey declares: {', '.join(failed)}")
    click.echo("No report told more than declared.")

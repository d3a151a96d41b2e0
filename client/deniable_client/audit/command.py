"""``deniable audit``"""

from __future__ import annotations

import time
from typing import BinaryIO

import click

from deniable import Survey, parse_survey, read_survey
from deniable.commands.files import folder_of
from deniable.commands.main import example
from deniable_client.audit.auditor import audit_survey
from deniable_client.audit.evidence import FAILURE, FOUND, Audit, AuditFailed
from deniable_client.audit.sampling import Draw, draw_javascript, draw_python

CLIENTS: dict[str, Draw] = {"python": draw_python, "javascript": draw_javascript}


@click.command(
    epilog=example(
        "deniable audit my-survey.toml",
        "deniable audit published.json --client javascript --draws 200000",
    )
)
@click.argument("survey", type=click.File("rb"))
@click.option("--draws", type=click.IntRange(1000, 100_000_000), default=1_000_000, show_default=True,
              help="Reports drawn from each client.")  # fmt: skip
@click.option("--client", type=click.Choice(["both", *CLIENTS]), default="both", show_default=True)
def audit(survey: BinaryIO, draws: int, client: str) -> None:
    """Look for anything in what the clients send that tells more than the survey declares.

    SURVEY is a file of its author's TOML or of published JSON. Reports of random answers to all questions are drawn as
    they are sent. Every byte must be as reports are written; with one half, the report must be what the published
    mechanisms make of the chance that was drawn from the system. Values, ids and times must be related to no answer
    otherwise than published. Fails when anything is. A pass is evidence, not a proof: each line says how small a leak
    would have been found.
    """
    content = survey.read()
    audited: Survey = (
        parse_survey(content) if content.startswith(b"{") else read_survey(content, folder=folder_of(survey))
    )
    chosen = {name: draw for name, draw in CLIENTS.items() if client in ("both", name)}
    faults = []
    for name, draw in chosen.items():
        start = time.monotonic()
        found = audit_survey(audited, draw, draws, FAILURE / len(chosen))
        _show(found, name, time.monotonic() - start)
        faults += [f"{fault} ({name})" for fault in found.faults]
    if faults:
        raise AuditFailed(f"audit: reports tell more than the survey declares: {', '.join(faults)}")
    click.echo("No report told more than declared.")


def _show(found: Audit, client: str, seconds: float) -> None:
    """One line for each question and each check."""
    click.echo(f"{client}: {found.draws:,} reports, {seconds:.0f} s")
    click.echo(f"  {'question':<16}{'declared':>10}{'at least':>10}{'would find':>12}   most telling")
    for each in found.findings:
        text = f"FAILED: {each.fault}" if each.fault else ("" if each.passed else "FAILED: ") + each.event
        moved = f"{each.moved:.4f}" if each.moved < 1 else "nothing"
        click.echo(f"  {each.question:<16}{each.declared:>10.4f}{each.bound:>10.4f}{moved:>12}   {text}")
    click.echo("  A report whose probability is higher than published by as much is found with probability "
               f"{FOUND}, and so is:")  # fmt: skip
    for check in found.checks:
        click.echo(f"  {check.name:<18}{check.power}" + (f"\n{'':<20}FAILED: {check.fault}" if check.fault else ""))

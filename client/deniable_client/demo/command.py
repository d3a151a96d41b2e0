"""``deniable demo``"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import urllib3

from deniable import CollectorError, Survey
from deniable_client import Client
from deniable_client.demo.people import Answers, choose, everybody, survey_file, true_shares
from deniable_commands.ending import end
from deniable_commands.files import NEW_FILE
from deniable_commands.main import example

SENDERS = 16
"""Number of threads that send reports; with more threads, more reports share each commit of the collector."""


@click.command(
    epilog=example("deniable demo", "deniable demo --exit", "deniable demo --respondents 500 --db demo.db --exit")
)
@click.option(
    "--respondents",
    type=click.IntRange(1, 1_000_000),
    default=6366,
    show_default=True,
    help="Number of people who answer.",
)
@click.option("--exit", "stop", is_flag=True, help="Stop after the table, instead of keeping the collector running.")
@click.option(
    "--db",
    "database",
    type=NEW_FILE,
    help="A new SQLite file to store the reports in; by default a temporary one.",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the collector; by default 8000, or any free one.")
def demo(respondents: int, stop: bool, database: Path | None, port: int | None) -> None:
    """Send real people's answers through the whole system.

    In 1974, 6,366 readers told a magazine whether they had had an affair. In the demo each of them answers again:
    the client randomises the answers, the report goes to a collector over HTTP, and the estimates are printed next
    to the truth, which the collector never sees.
    """
    if database and database.exists():
        raise click.ClickException(f"--db {database}: exists already; the demo starts with a new file")
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        database = database or Path(folder) / "demo.db"
        click.echo(f"Publishing {Path(survey_file()).name} and starting a collector ...")
        survey_id = publish(database)
        with collector(database, port, "demo") as url:
            client = Client(url, connections=SENDERS)
            survey = client.survey(survey_id)
            people = choose(everybody(survey), respondents)
            answer_all(client, survey, people)
            fine = show_table(survey, people, estimates(url, survey_id), database)
            if not stop:
                keep_running(url, survey_id)
    if not fine:
        raise click.exceptions.Exit(1)


def publish(database: Path) -> str:
    """Publish the survey with the command that its author would type, and return its id."""
    # As a command of its own, so that the demo shows what authors run.
    command = [*deniable_command(), "survey", "publish", survey_file(), "--db", str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(f"publishing failed: {done.stderr.strip()}")
    return done.stdout.split()[1]


@contextmanager
def collector(database: Path, port: int | None, staged: str) -> Iterator[str]:
    """A collector in a process of its own, as ``deniable serve`` starts it; ends with the block.

    Without a port it is at 8000, or at a free one. ``staged`` is the value of ``--rehearsal``: the collector says
    wherever it can that a program sent the replies.
    """
    if port and not _is_free(port):
        raise click.ClickException(f"--port {port}: must be free on 127.0.0.1, something listens there already")
    port = port or free_port()
    command = [*deniable_command(), "serve", "--db", str(database), "--port", str(port)]
    command += ["--rate-limit", "off"]  # all these people have one address
    command += ["--rehearsal", staged]
    url = f"http://127.0.0.1:{port}"
    # Its log is for machines; people see it only if the collector does not start.
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        try:
            try:
                _wait_until_ready(url, process)
            except click.ClickException:
                log.seek(0)
                click.echo(log.read().decode(errors="replace"), err=True, nl=False)
                raise
            yield url
        finally:
            end(process, 15)


def answer_all(client: Client, survey: Survey, people: list[Answers]) -> None:
    """Every person answers through the client, a few at a time."""
    with (
        ThreadPoolExecutor(SENDERS) as senders,
        click.progressbar(length=len(people), label=f"{len(people):,} people answer", file=sys.stderr) as bar,
    ):
        for _ in senders.map(lambda person: client.submit(survey, client.randomize(survey, person)), people):
            bar.update(1)


def estimates(url: str, survey_id: str, token: str | None = None, by: str | None = None) -> dict[str, Any]:
    """The collector's estimates, as any researcher downloads them, by `by`; with a token also of private results."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = urllib3.request(
        "GET", f"{url}/api/v1/surveys/{survey_id}/estimates{f'?by={by}' if by else ''}", headers=headers
    )
    if answer.status != 200:
        raise CollectorError(f"{url}: gave no estimates, status {answer.status}")
    found: dict[str, Any] = answer.json()
    return found


def show_table(survey: Survey, people: list[Answers], result: dict[str, Any], database: Path) -> bool:
    """Print the estimates beside the truth; return whether every report was stored and counted once."""
    truth = true_shares(people, survey)
    click.echo()
    click.echo(f"{'question':<14}{'option':<11}{'truth':>8}{'estimate':>10}{'95 % interval':>20}   covers")
    covered = 0
    for row in result["estimates"]:
        true = truth[row["question"], row["option"]]
        covers = row["conf_low"] <= true <= row["conf_high"]
        covered += covers
        interval = f"{100 * row['conf_low']:z.1f} to {100 * row['conf_high']:z.1f} %"
        click.echo(
            f"{row['question']:<14}{row['option']:<11}{100 * true:>6.1f} %{100 * row['estimate']:>z8.1f} %"
            f"{interval:>20}   {'yes' if covers else 'no'}"
        )
    click.echo()
    click.echo(
        f"{result['n']:,} reports stored; {covered} of {len(result['estimates'])} intervals cover the truth; "
        "of 95 % intervals about 19 in 20 do."
    )
    click.echo("No true answer left the process that played the people; the collector has the noisy reports only.")
    if result["n"] != len(people):
        click.secho(f"Expected {len(people):,} reports.", fg="red", err=True)
    return bool(result["n"] == len(people))


def keep_running(url: str, survey_id: str, is_open: bool = True) -> None:
    """Leave the collector running for people who want to look, or to answer where it is open, until Ctrl-C."""
    click.echo()
    if is_open:
        click.echo(f"Answer it yourself:  {url}/s/{survey_id}")
    click.echo(f"Results:             {url}/s/{survey_id}/results")
    click.echo(f"Estimates as CSV:    {url}/api/v1/surveys/{survey_id}/estimates.csv")
    click.echo(f"What was stored:     {url}/api/v1/surveys/{survey_id}/reports.csv")
    click.echo(f"All as an archive:   {url}/api/v1/surveys/{survey_id}/archive.zip")
    click.echo("\nThe collector keeps running. Ctrl-C stops it.")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        click.echo("\nStopped.")


def free_port() -> int:
    """8000, or a free port when something else listens there."""
    chosen = _is_free(8000) or _is_free(0)
    if not chosen:
        raise click.ClickException("no port of 127.0.0.1 is free")
    return chosen


def _is_free(port: int) -> int:
    """The port if nothing listens there, any free one for 0; otherwise 0."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind(("127.0.0.1", port))
        except OSError:
            return 0
        chosen: int = attempt.getsockname()[1]
        return chosen


def deniable_command() -> list[str]:
    """The start of a command line of the installed program."""
    return [sys.executable, "-m", "deniable"]


def _wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    """Wait until the collector answers, as long as its process lives: a busy machine takes its time."""
    while process.poll() is None:
        with contextlib.suppress(urllib3.exceptions.HTTPError):
            if urllib3.request("GET", f"{url}/livez", retries=False, timeout=5).status == 200:
                return
        time.sleep(0.1)
    raise click.ClickException(f"the collector stopped with status {process.returncode} when it started")

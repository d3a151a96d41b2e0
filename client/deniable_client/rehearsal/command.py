"""``deniable survey try``"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import urllib3

from deniable import CollectorError, Survey, read_survey
from deniable.errors import NotInstalled, ParameterError
from deniable.table import format_table
from deniable_client.client import Client
from deniable_client.demo.command import SENDERS, collector, deniable_command, estimates, keep_running
from deniable_client.rehearsal.people import (
    Answers,
    Relation,
    make_people,
    make_people_of_cohorts,
    read_cohort_truths,
    read_truths,
    true_figures,
)
from deniable_commands.browser import open_page
from deniable_commands.main import example
from deniable_commands.rules import RuledCommand, excludes

PATIENCE = 60.0
"""Seconds to wait for the scratch collector, which may share a busy machine."""

LABELLED = {"reports.xlsx": "Excel", "reports.sav": "SPSS"}
"""Files of other programs, which need the extra files."""


@click.command(
    name="try",
    cls=RuledCommand,
    # The formula has no cohorts, and where these differ its coefficients are others than the effects within them.
    rules=[excludes("--formula", "--cohort-truth")],
    epilog=example(
        "deniable survey try my-survey.toml --respondents 400",
        'deniable survey try my-survey.toml --truth drunk=0.4 --cohort-truth "final year" drunk=0.5 --exit',
        'deniable survey try my-survey.toml --truth drunk=0.4 --formula "drunk ~ stressed" --to rehearsal --exit',
    ),
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--respondents",
    type=click.IntRange(1, 100_000),
    default=400,
    show_default=True,
    help="Number of simulated people.",
)
@click.option(
    "--truth",
    "truths",
    metavar="QUESTION=SHARES",
    multiple=True,
    help="True shares, such as affair=0.3, or town=0.2,0.5,0.3 of three options. May be repeated.",
)
@click.option(
    "--cohort-truth",
    "cohort_truths",
    metavar="COHORT QUESTION=SHARES",
    nargs=2,
    type=str,
    multiple=True,
    help="True shares in one cohort, where they differ from those of --truth. May be repeated. Not with --formula.",
)
@click.option("--formula", help='The analysis that you plan, with yes-no questions: "drunk ~ stressed".')
@click.option(
    "--effect", type=float, default=1.5, show_default=True, help="Log odds ratio of each predictor in the formula."
)
@click.option(
    "--seed", type=click.IntRange(0), help="Random seed for the true answers. The noise of the devices has no seed."
)
@click.option(
    "--to", "folder", type=click.Path(file_okay=False, path_type=Path), help="A new or empty folder for the data files."
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the collector; by default 8000, or any free one.")
@click.option("--exit", "stop", is_flag=True, help="Stop after the tables, instead of keeping the results page open.")
def rehearse(
    file: Path,
    respondents: int,
    truths: tuple[str, ...],
    cohort_truths: tuple[tuple[str, str], ...],
    formula: str | None,
    effect: float,
    seed: int | None,
    folder: Path | None,
    port: int | None,
    stop: bool,
) -> None:
    """Rehearse a survey: simulated people answer it, and you see the results and the data files.

    Each person's device adds noise to the answers and sends them to a temporary collector. Then you see the results
    page, the data files of a real study, and the result of the planned analysis next to the true value. Nothing is
    written to your database.

    Needs the extra server, and with --formula the extra research as well.
    """
    # Before anybody has answered: the collector and the analysis are programs of their own, and would say it late.
    for module in ("flask", "scipy") if formula else ("flask",):
        if find_spec(module) is None:
            raise NotInstalled(module)
    survey = read_survey(path=file)
    rehearsed = as_rehearsed(survey)
    if formula is not None and survey.retention == "tallies":
        raise ParameterError('formula: needs the rows of reports, which retention = "tallies" does not keep')
    relation = None if formula is None else Relation.parse(formula, survey, effect)
    shares, of_cohorts = read_truths(truths, survey), read_cohort_truths(cohort_truths, survey)
    dice = random.Random(seed)  # noqa: S311 - of made-up people
    if of_cohorts:
        people = make_people_of_cohorts(survey, respondents, shares, of_cohorts, dice)
    else:
        people = make_people(survey, respondents, shares, relation, dice)
    if folder is not None:
        _make(folder)
    if rehearsed != survey:
        click.echo("Everybody is asked at once: the rehearsal leaves out invitations, sealing and dates.")
    with tempfile.TemporaryDirectory(prefix="deniable-") as scratch:
        database, files = Path(scratch) / "rehearsal.db", folder or Path(scratch)
        with collector(database, port, "yes") as url:
            # A token of the scratch collector, by which the very survey is published that was read here.
            token = _run("token", "create", "rehearsal", "--db", str(database)).split()[-1]
            _post(f"{url}/api/v1/surveys?force=true", rehearsed.document, token)
            _send(url, rehearsed, people)
            # As at the end of a study: all that waits for a release comes out.
            _post(f"{url}/api/v1/surveys/{rehearsed.id}/close", b"", token)
            _download(url, token, rehearsed, files)
            by = "cohort" if of_cohorts else None
            _show_shares(rehearsed, people, estimates(url, rehearsed.id, token, by), by_cohort=by is not None)
            if relation is not None:
                _show_relation(relation, files)
            if folder is not None:
                _label(folder, url, token, rehearsed)
            if not stop:
                open_page(f"{url}/s/{rehearsed.id}/results")
                # The rehearsal closed it, as a study ends; the preview asks its questions.
                click.echo(f"\nThe survey is closed. To answer it yourself: deniable survey preview {file}")
                keep_running(url, rehearsed.id, is_open=False)


def as_rehearsed(survey: Survey) -> Survey:
    """The survey without what a real study alone has: invitations, seals, days, a number of replies that ends it."""
    return replace(survey, access="open", issuer=None, sealed=None, places=(), opens=None, closes=None, closes_at=None)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # One of an attempt that failed, at a port that was taken for instance, is empty.
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise click.ClickException(f"--to {folder}: cannot be made: {error.strerror}") from None
    if not is_empty:
        raise click.ClickException(f"--to {folder}: must be new or empty; name another folder")


def _send(url: str, survey: Survey, people: Sequence[Answers]) -> None:
    """Every person answers with a device of their own, a few at a time; cohorts take turns."""
    client = Client(url, connections=SENDERS)
    cohorts = survey.cohorts or (None,)

    def one(place: int) -> None:
        # As a client draws it before anything is asked: of a group each device answers some questions alone.
        client.submit(survey, client.randomize(survey, people[place], cohorts[place % len(cohorts)]))

    # Where nobody looks on, not even the bar's label is written.
    hidden = not sys.stderr.isatty()
    with (
        ThreadPoolExecutor(SENDERS) as senders,
        click.progressbar(length=len(people), label="Made-up people answer", file=sys.stderr, hidden=hidden) as bar,
    ):
        for _ in senders.map(one, range(len(people))):
            bar.update(1)
    click.echo(f"{len(people):,} simulated people answered through their devices.")


def _download(url: str, token: str, survey: Survey, folder: Path) -> None:
    """The files that researchers download: the survey, the noisy reports and the estimates, also of each cohort."""
    folder.joinpath("survey.json").write_bytes(survey.document)
    # File names as in the archive of a study, by the addresses where a collector has them.
    files = {"estimates.csv": "estimates.csv"}
    if survey.retention != "tallies":
        files["reports.csv"] = "reports.csv"
    if survey.cohorts:
        files["estimates-by-cohort.csv"] = "estimates.csv?by=cohort"
    for name, where in files.items():
        answer = urllib3.request(
            "GET", f"{url}/api/v1/surveys/{survey.id}/{where}", headers=_bearer(token), timeout=PATIENCE
        )
        if answer.status != 200:
            raise CollectorError(f"{url}: gave no {name}, status {answer.status}")
        folder.joinpath(name).write_bytes(answer.data)


def _label(folder: Path, url: str, token: str, survey: Survey) -> None:
    """The files of other programs, one that says what they are, and what stands in the folder."""
    # No column says it: a script that runs on these files is to run on those of the study, unchanged.
    folder.joinpath("REHEARSAL.txt").write_text("Rehearsal: made-up replies.\n", encoding="utf-8")
    for name, program in LABELLED.items() if survey.retention != "tallies" else ():
        command = ["export", survey.id, "--url", url, "--token", token, "--to", str(folder / name)]
        done = subprocess.run([*deniable_command(), *command], capture_output=True, text=True, check=False)
        if done.returncode:
            click.echo(f"No file for {program}: {done.stderr.strip().removeprefix('Error: ')}", err=True)
    click.echo(f"\nIn {folder}: {', '.join(sorted(each.name for each in folder.iterdir()))}")


def _show_shares(survey: Survey, people: Sequence[Answers], found: dict[str, Any], *, by_cohort: bool) -> None:
    """The estimates beside the truth that was put in, of everybody or of each cohort."""
    # Only here: it loads numpy, and help is whole where no extra is installed.
    from deniable_statistics.views.few_reports import axes_in, few_reports

    truth = _true_figures(survey, people, by_cohort)
    # Of too few people to whom a question applies there is no figure.
    estimated = [row for row in found["estimates"] if row["estimate"] is not None]
    rows = [_beside(truth[key], row, by_cohort) for row in estimated if (key := _key(row, by_cohort)) in truth]
    covered = sum(row[-1] == "yes" for row in rows)
    figures = ("truth", "estimate", "95 % interval")
    header = ("question", "option", *(["cohort"] if by_cohort else []), *figures, "covers")
    click.echo(f"\n{format_table(header, rows, right=figures)}")
    click.echo(f"\n{covered} of {len(rows)} intervals cover the truth; of 95 % intervals about 19 in 20 do.")
    if any(not 0 <= row["estimate"] <= 1 for row in estimated if row["option"]):
        click.echo("Estimates are unbiased, so noise can take them below 0 or above 100 %; intervals stay within.")
    estimates = [SimpleNamespace(**{**row, "std_error": None}) for row in found["estimates"]]
    for sentence in few_reports(estimates, axes_in(survey)):
        click.echo(sentence)


def _key(row: dict[str, Any], by_cohort: bool) -> tuple[str | None, str, str, str | None]:
    """What an estimate is of: the cohort or None for everybody, the statistic, the question and the option."""
    return row["cohort"] if by_cohort else None, row["statistic"], row["question"], row["option"] or None


def _true_figures(
    survey: Survey, people: Sequence[Answers], by_cohort: bool
) -> dict[tuple[str | None, str, str, str | None], float]:
    """The figures that were put in, by `_key`."""
    k = len(survey.cohorts)
    # Cohorts took turns.
    groups = {each: people[place::k] for place, each in enumerate(survey.cohorts)} if by_cohort else {None: people}
    return {
        (cohort, *what): figure
        for cohort, some in groups.items()
        for what, figure in true_figures(some, survey).items()
    }


def _beside(true: float, row: dict[str, Any], by_cohort: bool) -> tuple[str, ...]:
    """A row of the table: what was put in, and the estimate with its interval."""
    form = "{:.1%}".format if row["option"] else "{:.2f}".format
    interval = f"{form(row['conf_low'])} to {form(row['conf_high'])}"
    option = (row["option"] or "mean") + (", of those asked" if row["statistic"] == "among" else "")
    named = (row["question"], option, *([row["cohort"]] if by_cohort else []))
    covers = row["conf_low"] <= true <= row["conf_high"]
    return (*named, form(true), form(row["estimate"]), interval, "yes" if covers else "no")


def _show_relation(relation: Relation, folder: Path) -> None:
    """What the planned analysis finds in the file of reports, beside the effect that was put in."""
    formula = f"{relation.outcome} ~ {' + '.join(relation.predictors)}"
    command = ["analyze", "regress", str(folder / "reports.csv"), formula, "--survey", str(folder / "survey.json")]
    command = [*deniable_command(), *command, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        why = done.stderr.strip().removeprefix("Error: ")
        click.echo(f"\nThe planned analysis, {formula}, cannot be estimated from so few replies: {why}")
        return
    rows = []
    for row in json.loads(done.stdout)["terms"]:
        # Beside the coefficients stand the intercept and the shares of the predictors.
        if row["term"].partition("[")[0] in relation.predictors:
            # JSON has no infinity: where the likelihood has no maximum, or an interval no end, there is null.
            low = -math.inf if row["conf_low"] is None else row["conf_low"]
            high = math.inf if row["conf_high"] is None else row["conf_high"]
            estimate = "-" if row["estimate"] is None else f"{row['estimate']:.2f}"
            covers = "yes" if low <= relation.effect <= high else "no"
            figures = (f"{relation.effect:.2f}", estimate, f"{low:.2f} to {high:.2f}")
            rows.append((row["term"], *figures, covers))
    header = ("term", "truth", "estimate", "95 % interval", "covers")
    click.echo(f"\nThe planned analysis, {formula} (log-odds):\n{format_table(header, rows, right=header[1:4])}")
    if cautions := done.stderr.strip():
        click.echo(cautions)


def _run(*arguments: str) -> str:
    """Run a command as a user does, and return what it prints."""
    done = subprocess.run([*deniable_command(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise click.ClickException(done.stderr.strip().removeprefix("Error: "))
    return done.stdout


def _post(address: str, body: bytes, token: str) -> None:
    answer = urllib3.request("POST", address, body=body, headers=_bearer(token) | {"Content-Type": "application/json"})
    if answer.status not in (200, 201, 204):
        raise CollectorError(f"{address}: answered with status {answer.status}: {answer.data[:200]!r}")


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}

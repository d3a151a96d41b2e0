"""``deniable simulate``"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deniable.commands.main import example
from deniable.commands.numbers import Number
from deniable.errors import ParameterError
from deniable.exact import number_hint
from deniable.output import number, percent
from deniable.table import format_table
from deniable_research.commands.levels import LEVEL
from deniable_research.commands.options import NEW_FILE, format_option, plot_option
from deniable_research.commands.simulate_power import SPREAD, print_power
from deniable_research.files.regressing import PENALTIES
from deniable_research.output import records, rows_csv, to_json
from deniable_research.pictures import save_picture
from deniable_research.results.reading import read_any_survey
from deniable_research.simulation import (
    DEFAULT_SEED,
    Misbehaviour,
    Simulation,
    SimulationRow,
    generator_of,
    read_truth,
    reports_csv,
    write_rows,
)
from deniable_research.simulation.charts import simulation_chart
from deniable_research.simulation.epsilons import split_over_all
from deniable_research.simulation.power import ANALYSES, planning_curve
from deniable_research.simulation.study import Covariate, Study
from deniable_statistics.data.folder import check_folder
from deniable_statistics.estimates.estimate import DEFAULT_METHOD
from deniable_statistics.intervals import METHODS
from deniable_statistics.published.published_rows import EstimateOptions

SHARE = Number(0, 1)

MOST_IN_CSV = 1_000_000
"""They are sorted by their ids in memory."""


@click.command(
    epilog=example(
        "deniable simulate my-survey.toml --truth affair=0.32 --respondents 1000",
        "deniable simulate my-survey.toml --truth truth.toml --noncompliance 0.05 --careless 0.02",
        "deniable simulate my-survey.toml --truth affair=0.32 --compare affair=0.42",
        "deniable simulate my-survey.toml --truth affair=0.32 --reports reports.csv --repetitions 2",
        "deniable simulate my-survey.toml --truth affair=0.32 --respondents 100000000 --rows reports/ --repetitions 2",
        'deniable simulate my-survey.toml --truth affair=0.32 --formula "affair ~ age" --covariate age=young,old '
        '--effect "age[T.young]=-0.5" --over respondents=500,1000,2000 --over epsilon=1,2 --plot power.svg',
    )
)
@click.argument("file", metavar="SURVEY", type=click.File("rb"))
@click.option("--respondents", type=click.IntRange(1), default=1000, show_default=True, help="People in each survey.")
@click.option("--repetitions", type=click.IntRange(2), default=500, show_default=True, help="How many surveys.")
@click.option(
    "--truth",
    "truths",
    metavar="FILE|QUESTION=SHARES",
    multiple=True,
    help='True shares: a TOML file, affair=0.32, religious=0.2,0.3,0.4,0.1 or "town={A=0.5}". By default all alike.',
)
@click.option("--noncompliance", type=SHARE, default=0.0, help="Share of people who report the first option as it is.")
@click.option("--denial", type=SHARE, default=0.0, help="Share of people who answer the first option, then randomised.")
@click.option("--careless", type=SHARE, default=0.0, help="Share of people whose report is drawn from all, uniformly.")
@click.option(
    "--compare",
    "others",
    metavar="FILE|QUESTION=SHARES",
    multiple=True,
    help="Other truths of a second cohort, half of the people: power of the difference.",
)
@click.option(
    "--split", is_flag=True, help="Beside it the errors if every shared epsilon were split over all questions."
)
@click.option("--formula", help='Power of this analysis: "affair ~ age_group + C(cohort)", as for analyze regress.')
@click.option(
    "--effect", "effects", metavar="TERM=NUMBER", multiple=True, help='A true coefficient: "age_group[T.old]=0.4".'
)
@click.option(
    "--covariate",
    "covariates",
    metavar="COLUMN=WHAT",
    multiple=True,
    help="A plain column of the formula: age_group=young:0.6,old:0.4 or age=normal:40:10.",
)
@click.option(
    "--analysis",
    type=click.Choice(list(ANALYSES)),
    help="Of the formula: by default regress; of a question and one column also crosstab, or the trend over numbers.",
)
@click.option(
    "--penalty",
    type=click.Choice(list(PENALTIES)),
    default="auto",
    show_default=True,
    help="Of the regression of the formula, as for analyze regress: none does without a prior.",
)
@click.option(
    "--over",
    "curves",
    metavar="WHAT=NUMBERS",
    multiple=True,
    help="A planning curve: respondents=500,1000,2000 or epsilon=1,2,3; both for one curve each epsilon.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    help="Of an analysis, by default 1; or of --rows, at most one for each core, which is the default.",
)
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED, show_default=True, help="Of the words of chance.")
@click.option("--confidence", type=LEVEL, default=0.95, show_default=True)
@click.option("--method", type=click.Choice([DEFAULT_METHOD, *METHODS]), default=DEFAULT_METHOD, show_default=True)
@format_option
@click.option(
    "--reports",
    metavar="FILE",
    type=NEW_FILE,
    help="Write the reports of one such survey as CSV, to try 'deniable analyze' with; of at most 1,000,000 people.",
)
@click.option(
    "--rows",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Write the reports of one such survey, of however many people, to a new folder of Parquet with the survey "
    "beside, for 'deniable analyze ... --from FOLDER'.",
)
@plot_option("bias and coverage")
def simulate(
    file: Any,
    respondents: int,
    repetitions: int,
    truths: tuple[str, ...],
    noncompliance: float,
    denial: float,
    careless: float,
    others: tuple[str, ...],
    split: bool,
    formula: str | None,
    effects: tuple[str, ...],
    covariates: tuple[str, ...],
    analysis: str | None,
    penalty: str,
    curves: tuple[str, ...],
    processes: int | None,
    seed: int,
    confidence: float,
    method: str,
    form: str,
    reports: Path | None,
    folder: Path | None,
    picture: Path | None,
) -> None:
    """Draw whole surveys and say how well their estimates do.

    SURVEY is the author's TOML or the published JSON. Every repetition draws other people from the population, sends
    their answers through the survey's own mechanisms and estimates as a collector does. Who does not comply reports
    the first option (no tick, the lowest number) whatever the coins say; who denies answers it, and the device
    randomises that; who is careless reports anything. The same seed gives the same surveys: simulation only. Of more
    than 10,000 people only what is counted is drawn, in the same distribution, so 100,000,000 take no longer.

    With --formula it is the power of that analysis: people get covariates and the outcome that the effects make, and
    every sample is analysed as its file would be: a regression whose likelihood has no maximum estimates under a
    Cauchy prior, which pulls effects towards 0, and it is said for how many samples.
    """
    survey = read_any_survey(file.read())
    if formula is not None:
        if others or split or reports is not None or folder is not None or method != DEFAULT_METHOD:
            raise click.UsageError("--compare, --split, --reports, --rows and --method do not go with --formula")
        study = Study(
            survey,
            formula,
            {
                term: _number(effect, "--effect")
                for term, effect in _pairs(effects, "--effect", "age_group[T.old]=0.4").items()
            },
            {
                name: Covariate.parse(text)
                for name, text in _pairs(covariates, "--covariate", "age_group=young:0.6,old:0.4").items()
            },
            _shares(truths, "--truth"),
            respondents,
            Misbehaviour(noncompliance, denial, careless),
        )
        settings = {
            "analysis": analysis or "regress",
            "confidence_level": confidence,
            "penalty": PENALTIES[penalty],
            "processes": processes or 1,
        }
        print_power(planning_curve(study, _curves(curves), repetitions, seed, **settings), study, seed, form, picture)
        return
    if effects or covariates or analysis or curves or penalty != "auto":
        raise click.UsageError("--effect, --covariate, --analysis, --penalty and --over go with --formula")
    if processes is not None and folder is None:
        raise click.UsageError("--processes goes with --formula or --rows")
    simulation = Simulation(
        survey,
        _shares(truths, "--truth"),
        respondents,
        Misbehaviour(noncompliance, denial, careless),
        _shares(others, "--compare") if others else None,
    )
    if reports is not None and respondents > MOST_IN_CSV:
        raise click.UsageError(f"--reports writes at most {MOST_IN_CSV:,} people, got {respondents:,}")
    if folder is not None:
        check_folder(folder, "parquet")
    if reports is not None or folder is not None:
        simulation.check_links()
    rows = simulation.run(repetitions, seed, EstimateOptions(confidence, method))
    if split:
        if not survey.groups:
            raise click.UsageError("--split needs a survey with groups of questions that share an epsilon")
        other = replace(simulation, survey=split_over_all(survey)).run(repetitions, seed)
        rows = tuple(
            replace(row, empirical_se_if_split=each.empirical_se) for row, each in zip(rows, other, strict=True)
        )
    if form == "table":
        click.echo(_as_table(rows, simulation, seed))
    elif form == "csv":
        click.echo(rows_csv(rows, SimulationRow), nl=False)
    else:
        document = {
            "survey": survey.id,
            "seed": seed,
            "respondents": respondents,
            "repetitions": repetitions,
            "misbehaviour": vars(simulation.misbehaviour),
            "figures": records(rows, SimulationRow),
        }
        click.echo(to_json(document))
    if reports is not None:
        generator = generator_of(seed)
        try:
            reports.write_text("".join(reports_csv(simulation.draw(generator), generator)), "utf-8", newline="")
        except OSError as error:
            raise click.ClickException(f"{reports.name}: cannot be written: {error.strerror}") from None
    if folder is not None:
        write_rows(simulation, folder, seed, processes)
    if picture is not None:
        save_picture(picture, lambda: simulation_chart(rows))


def _shares(given: Sequence[str], flag: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for each in given:
        question, equals, shares = each.partition("=")
        try:
            if not equals:
                found |= read_truth(Path(each).read_text("utf-8"))
            elif shares.strip().startswith(("[", "{")):
                found |= read_truth(each)
            elif "," in shares:
                found[question.strip()] = [_share(share, each, flag) for share in shares.split(",")]
            else:
                found[question.strip()] = _share(shares, each, flag)
        except OSError:
            raise click.BadParameter(f"{each}: cannot be read as a file", param_hint=flag) from None
        except ValueError as error:
            if isinstance(error, ParameterError):
                raise
            hint = number_hint(shares.strip())
            raise click.BadParameter(f"must be like affair=0.32, got {each!r:.80}{hint}", param_hint=flag) from None
    return found


def _pairs(given: Sequence[str], flag: str, example: str) -> dict[str, str]:
    found = {}
    for each in given:
        name, equals, value = each.rpartition("=")
        if not equals or not name.strip() or not value.strip():
            raise click.BadParameter(f"must be like {example}, got {each!r:.80}", param_hint=flag)
        if name.strip() in found:
            raise click.BadParameter(f"must name {name.strip()} once", param_hint=flag)
        found[name.strip()] = value.strip()
    return found


def _number(text: str, flag: str) -> float:
    try:
        return float(text)
    except ValueError:
        hint = number_hint(text)
        raise click.BadParameter(f"must be a number, got {text!r:.40}{hint}", param_hint=flag) from None


def _curves(given: Sequence[str]) -> dict[str, list[float]]:
    found = {}
    for name, texts in _pairs(given, "--over", "epsilon=1,2,3").items():
        if name not in ("respondents", "epsilon"):
            raise click.BadParameter(f"must be over respondents or epsilon, got {name!r:.40}", param_hint="--over")
        found[name] = list(dict.fromkeys(_number(each, "--over") for each in texts.split(",")))
        if name == "respondents" and not all(each >= 1 and each == int(each) for each in found[name]):
            raise click.BadParameter(
                f"respondents must be integers of at least 1, got {texts!r:.60}", param_hint="--over"
            )
    return found


def _share(text: str, given: str, flag: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        hint = number_hint(given.partition("=")[2].strip()) or number_hint(f"{text.strip()}%")
        raise click.BadParameter(f"shares must be from 0 to 1, got {given!r:.80}{hint}", param_hint=flag)
    return share


def _as_table(rows: Sequence[SimulationRow], simulation: Simulation, seed: int) -> str:
    by_cohort = simulation.compare is not None
    header = ["question", "option", *(["cohort"] if by_cohort else []), "truth", "mean", "bias", "MC error"]
    split = [] if rows[0].empirical_se_if_split is None else ["if split"]
    header += ["spread", *split, "stated", "coverage", "MC error", "width", "rejected"]
    lines = []
    for row in rows:
        form = number if row.statistic == "mean" else percent
        lines.append(
            [
                row.question,
                row.option or row.statistic,
                *([row.cohort or ""] if by_cohort else []),
                *map(form, (row.truth, row.mean_estimate)),
                *((number(row.bias, 3), number(row.bias_error, 3)) if form is number else _points(row)),
                form(row.empirical_se),
                *([] if row.empirical_se_if_split is None else [form(row.empirical_se_if_split)]),
                form(row.stated_se),
                *map(percent, (row.coverage, row.coverage_error)),
                form(row.mean_width),
                percent(row.rejected),
            ]
        )
    table = format_table(header, lines, right=header[2 + by_cohort :])
    tests = "Rejected: surveys whose interval lies above a share of 0"
    if by_cohort:
        tests += "; of a difference, those with p below " + f"{1 - rows[0].conf_level:.2g}"
    methods = ", ".join(dict.fromkeys(row.method for row in rows))
    return "\n".join(
        [
            table,
            "",
            f"{rows[0].repetitions} surveys of {simulation.respondents} people, seed {seed} (PCG64: simulation only)",
            f"{100 * rows[0].conf_level:g} % intervals ({methods}). MC error: standard error of the simulation itself.",
            SPREAD,
            f"{tests}.",
            *(["If split: the spread if all people were asked all questions, at a part of epsilon each."] * len(split)),
            *_sentences(simulation.misbehaviour),
        ]
    )


def _points(row: SimulationRow) -> tuple[str, str]:
    return percent(row.bias, 2), percent(row.bias_error, 2)


def _sentences(misbehaviour: Misbehaviour) -> list[str]:
    said = {
        "noncompliance": "of the people report the first option as it is, whatever the instruction",
        "denial": "of the people answer the first option, which then is randomised",
        "careless": "of the people send a report drawn uniformly from all possible ones",
    }
    return [f"{100 * share:g} % {said[name]}." for name, share in vars(misbehaviour).items() if share]

"""``deniable simulate``"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import click

from deniable.errors import ParameterError
from deniable.exact import number_hint
from deniable.survey.document import Survey
from deniable_commands.files import folder_of
from deniable_commands.main import example
from deniable_commands.numbers import Number
from deniable_commands.working import done
from deniable_research.commands.levels import LEVEL
from deniable_research.commands.options import NEW_FILE, format_option, plot_option, refuse, size_options
from deniable_research.commands.plotting import AskedSize
from deniable_research.files.regressing import PENALTIES
from deniable_research.output import records, rows_csv, to_json
from deniable_research.pictures import check_picture, save_picture
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
from deniable_research.simulation.epsilons import split_over_all
from deniable_research.simulation.power import ANALYSES, planning_curve
from deniable_research.simulation.simulation_charts import power_chart, simulation_chart
from deniable_research.simulation.simulation_text import cautions, power_text, simulation_text
from deniable_research.simulation.study import Covariate, Study
from deniable_statistics.authoring.authoring import read_any_survey
from deniable_statistics.commands.options import with_options
from deniable_statistics.data.folder import check_folder
from deniable_statistics.estimates.estimate import DEFAULT_METHOD, INTERVAL_METHODS
from deniable_statistics.published.published_rows import EstimateOptions

T = TypeVar("T")
SHARE = Number(0, 1)
truths_option = partial(click.option, metavar="FILE|QUESTION=SHARES", multiple=True)

MOST_IN_CSV = 1_000_000
"""Largest number of reports that are written as CSV, since they are sorted by id in memory."""


@dataclass(frozen=True)
class SimulateRequest(AskedSize):
    """The options of ``deniable simulate``."""

    file: BinaryIO
    respondents: int
    repetitions: int
    truths: tuple[str, ...]
    noncompliance: float
    denial: float
    careless: float
    others: tuple[str, ...]
    split: bool
    formula: str | None
    effects: tuple[str, ...]
    covariates: tuple[str, ...]
    analysis: str | None
    penalty: str
    against: tuple[str, ...]
    curves: tuple[str, ...]
    processes: int | None
    seed: int
    confidence: float
    method: str
    form: str
    reports: Path | None
    folder: Path | None
    picture: Path | None

    @property
    def writes(self) -> bool:
        """Whether the reports of one simulated survey are to be written."""
        return self.reports is not None or self.folder is not None

    @property
    def misbehaviour(self) -> Misbehaviour:
        """The assumed shares of people who misbehave."""
        return Misbehaviour(self.noncompliance, self.denial, self.careless)


FORBIDDEN: tuple[tuple[Callable[[SimulateRequest], Any], str], ...] = (
    (
        lambda r: r.others and r.curves,
        "--compare and --over do not go together: --compare is for one number of people (--respondents), and --over "
        "for the analysis of a --formula. 'deniable plan --epsilon 1 --share 0.3 --against 0.4' says how many people "
        "show the difference between two cohorts",
    ),
    (
        lambda r: r.others and r.formula is not None,
        "--compare does not go with --formula, which has the effect of cohorts by --effect: "
        '--formula "affair ~ C(cohort)" --effect "C(cohort)[T.web]=0.4", in log odds',
    ),
    (
        lambda r: r.formula is not None and (r.split or r.writes or r.method != DEFAULT_METHOD),
        "--split, --reports, --rows and --method do not go with --formula",
    ),
    (
        lambda r: (
            r.formula is None
            and (r.effects or r.covariates or r.analysis or r.curves or r.against or r.penalty != "auto")
        ),
        "--effect, --covariate, --analysis, --penalty, --against and --over go with --formula",
    ),
    (
        lambda r: r.formula is None and r.processes is not None and r.folder is None,
        "--processes goes with --formula or --rows",
    ),
    (
        lambda r: r.picture is None and any(each is not None for each in (r.width, r.height, r.font_size, r.dpi)),
        "--width and --height and --font-size and --dpi go with --plot",
    ),
)
"""Combinations of options that are refused, each with its sentence; the first one that holds is raised."""


@click.command(
    epilog=example(
        "deniable simulate my-survey.toml --truth affair=0.32 --respondents 1000",
        "deniable simulate my-survey.toml --truth truth.toml --noncompliance 0.05 --careless 0.02",
        "deniable simulate my-survey.toml --truth affair=0.32 --compare affair=0.42",
        "deniable simulate my-survey.toml --truth affair=0.32 --reports reports.csv --repetitions 2",
        "deniable simulate my-survey.toml --truth affair=0.32 --respondents 100000000 --rows reports/ --repetitions 2",
        'deniable simulate my-survey.toml --truth affair=0.32 --formula "affair ~ age" --covariate age=young,old '
        '--effect "age[T.young]=-0.5" --over respondents=500,1000,2000 --over epsilon=1,2 --plot power.svg',
        'deniable simulate my-survey.toml --truth affair=0.32 --formula "affair ~ C(cohort) + religious" '
        '--effect "religious[T.strongly]=-0.8" --against "affair ~ C(cohort)"',
    )
)
@click.argument("file", metavar="SURVEY", type=click.File("rb"))
@click.option(
    "--respondents",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Number of people in each simulated survey.",
)
@click.option(
    "--repetitions", type=click.IntRange(2), default=500, show_default=True, help="Number of simulated surveys."
)
@truths_option(
    *("--truth", "truths"),
    help=(
        'True shares: a TOML file, affair=0.32, religious=0.2,0.3,0.4,0.1 or "town={A=0.5}". By default '
        "all options are equally frequent. With --formula the truth of the outcome is its share among all people; the "
        "intercept follows from it."
    ),
)
@click.option(
    "--noncompliance",
    type=SHARE,
    default=0.0,
    help="Share of people who always report the first option, without randomisation.",
)
@click.option(
    "--denial",
    type=SHARE,
    default=0.0,
    help="Share of people who answer the first option; the device then randomises it.",
)
@click.option(
    "--careless",
    type=SHARE,
    default=0.0,
    help="Share of people whose report is drawn uniformly from all possible reports.",
)
@truths_option(
    *("--compare", "others"),
    help=(
        "True shares in a second cohort, such as affair=0.42. Half of the people are in it, and --truth has the shares "
        "of the other half. Rows for the difference follow; their column Rejected is the power to detect it. For one "
        "number of --respondents, without --formula and --over; 'deniable plan --against' computes how many people "
        "are needed."
    ),
)
@click.option(
    "--split", is_flag=True, help="Also show the errors if every shared epsilon were split among its questions."
)
@click.option(
    "--formula",
    help=(
        'The analysis whose power to compute: "affair ~ age_group + C(cohort)", as for analyze regress. --truth sets '
        "the outcome's share among all people, --effect how groups differ; the table below the power has the share of "
        "each group. The outcome has two options or is a column of numbers; for more options, see --compare."
    ),
)
@click.option(
    "--effect",
    "effects",
    metavar="TERM=NUMBER",
    multiple=True,
    help=(
        'A true coefficient, such as "age_group[T.old]=0.4" or, of a level with spaces, '
        '"C(cohort)[T.first year]=-0.8". May be repeated; terms without --effect are 0.'
    ),
)
@click.option(
    "--covariate",
    "covariates",
    metavar="COLUMN=WHAT",
    multiple=True,
    help=(
        "A column of the formula that is not noisy, and its distribution: age_group=young:0.6,old:0.4 or "
        "age=normal:40:10."
    ),
)
@click.option(
    "--analysis",
    type=click.Choice(list(ANALYSES)),
    help=(
        "The analysis of the formula: by default regress; for a question and one column also crosstab, "
        "or the trend over numbers."
    ),
)
@click.option(
    "--penalty",
    type=click.Choice(list(PENALTIES)),
    default="auto",
    show_default=True,
    help="Whether the regression uses a Cauchy prior, as for 'analyze regress'.",
)
@click.option(
    "--against",
    metavar="FORMULA",
    multiple=True,
    help=(
        "A smaller formula, as for analyze regress: also print the power of the likelihood-ratio test against it, "
        'which tests all terms that it leaves out together. So --formula "affair ~ C(job) + age" '
        '--against "affair ~ age" tests the job as a whole. May be repeated.'
    ),
)
@click.option(
    "--over",
    "curves",
    metavar="WHAT=NUMBERS",
    multiple=True,
    help=(
        "With --formula: repeat its analysis for each of several values, respondents=500,1000,2000 or epsilon=1,2,3, "
        "as a planning curve. With both, one curve for each epsilon."
    ),
)
@click.option(
    "--processes",
    type=click.IntRange(1, 64),
    help="Number of processes: for an analysis, 1 by default; for --rows, one per core by default and at most.",
)
@click.option("--seed", type=click.IntRange(0), default=DEFAULT_SEED, show_default=True, help="Random seed.")
@click.option("--confidence", type=LEVEL, default=0.95, show_default=True, help="Confidence level of the intervals.")
@click.option(
    "--method",
    metavar="NAME",
    type=click.Choice(INTERVAL_METHODS),
    default=DEFAULT_METHOD,
    show_default=True,
    help=f"Method of the intervals: {', '.join(INTERVAL_METHODS)}.",
)
@format_option
@click.option(
    "--reports",
    metavar="FILE",
    type=NEW_FILE,
    help=(
        "Write the reports of one simulated survey as CSV, to try 'deniable analyze' with; for at most "
        "1,000,000 people. Not with --formula: the answers to different questions are independent, and there are no "
        "other columns."
    ),
)
@click.option(
    "--rows",
    "folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help=(
        "Write the reports of one simulated survey of any size to a new folder of Parquet files, "
        "together with the survey, for 'deniable analyze ... --from FOLDER'."
    ),
)
@plot_option("bias and coverage, or with --formula the power")
@with_options(*size_options)
def simulate(**given: Any) -> None:
    """Simulate whole surveys, and report how good the estimates are.

    SURVEY is the author's TOML or the published JSON. Each repetition draws new people from the population,
    randomises their answers by the survey's own mechanisms, and estimates as a collector does. People who do not
    comply report the first option (no tick, the lowest number), whatever the random draw says. People who deny
    answer the first option, which the device then randomises. Careless people report at random. The same seed gives
    the same surveys, so use this only for simulation. For more than 10,000 people only the counts are drawn, from
    the same distribution, so 100,000,000 people take no longer.

    With --formula it computes the power of that analysis. People get covariates, and an outcome that depends on
    them by the given effects, and each sample is analysed as the real data would be. If the likelihood of a
    regression has no maximum, the estimate uses a Cauchy prior, which shrinks effects towards 0. The output says
    for how many samples this happened.
    """
    asked = SimulateRequest(**given)
    # Before the options: an error in the survey comes first.
    survey = read_any_survey(asked.file.read(), folder_of(asked.file))
    refuse(asked, FORBIDDEN)
    if asked.picture is not None:
        check_picture(asked.picture, asked.size)
    if asked.formula is None:
        _simulate_survey(asked, survey)
    else:
        _simulate_analysis(asked, survey, asked.formula)


def _simulate_analysis(asked: SimulateRequest, survey: Survey, formula: str) -> None:
    """Simulate and print the power of the analysis of a formula."""
    effects = _pairs(asked.effects, "--effect", "age_group[T.old]=0.4", partial(_number, flag="--effect"))
    covariates = _pairs(asked.covariates, "--covariate", "age_group=young:0.6,old:0.4", Covariate.parse)
    truth = _shares(asked.truths, "--truth")
    study = Study(survey, formula, effects, covariates, truth, asked.respondents, asked.misbehaviour)
    curves = _curves(asked.curves)
    # All samples before anything is printed; an analysis that refuses every one is an error.
    found = planning_curve(
        study,
        curves,
        asked.repetitions,
        asked.seed,
        analysis=asked.analysis or "regress",
        confidence_level=asked.confidence,
        penalty=PENALTIES[asked.penalty],
        against=asked.against,
        processes=asked.processes or 1,
        progress=_counting(asked.repetitions, math.prod(map(len, curves.values()))),
    )
    rows = [row for each in found for row in each.rows]
    document = {
        "formula": study.formula,
        "coefficients": study.coefficients,
        "implied_shares": [vars(each) for each in study.implied_shares],
        "seed": asked.seed,
        "repetitions": asked.repetitions,
        "failures": [each.failures for each in found],
        "priors": [each.priors for each in found],
        "misbehaviour": vars(study.misbehaviour),
    }
    if asked.against:
        document["against"] = [vars(each) for each in found[0].against]
    _print(asked.form, rows, document, lambda: power_text(found, study, asked.repetitions, asked.seed))
    # On stderr, so that CSV and JSON stay whole.
    for sentence in cautions(found):
        click.echo(sentence, err=True)
    if asked.picture is not None:
        save_picture(asked.picture, lambda: power_chart(rows, asked.size), asked.size)


def _counting(repetitions: int, points: int) -> Callable[[int], None]:
    """A function that says how many samples of all points of a curve are done, for the line at the terminal."""
    count = itertools.count(1)
    return lambda _: done(next(count), points * repetitions)


def _simulate_survey(asked: SimulateRequest, survey: Survey) -> None:
    """Simulate a survey and print how well its estimates do; write its reports where they are wanted."""
    truth = _shares(asked.truths, "--truth")
    people, misbehaviour = asked.respondents, asked.misbehaviour
    others = _shares(asked.others, "--compare") if asked.others else None
    simulation = Simulation(survey, truth, people, misbehaviour, others)
    if asked.reports is not None and people > MOST_IN_CSV:
        raise click.UsageError(f"--reports writes at most {MOST_IN_CSV:,} people, got {people:,}")
    # A folder that cannot be written is an error now, not after the simulation.
    if asked.folder is not None:
        check_folder(asked.folder, "parquet")
    if asked.writes:
        # Before minutes of simulation, whose reports could then not be written.
        simulation.check_links()
    rows = simulation.run(asked.repetitions, asked.seed, EstimateOptions(asked.confidence, asked.method))
    if asked.split:
        if not survey.groups:
            raise click.UsageError("--split needs a survey with groups of questions that share an epsilon")
        # Only the spread of its estimates is used, which depends neither on a level nor on a method.
        other = replace(simulation, survey=split_over_all(survey)).run(asked.repetitions, asked.seed)
        rows = tuple(
            replace(row, empirical_se_if_split=each.empirical_se) for row, each in zip(rows, other, strict=True)
        )
    document = {
        "survey": survey.id,
        "seed": asked.seed,
        "respondents": people,
        "repetitions": asked.repetitions,
        "misbehaviour": vars(simulation.misbehaviour),
    }
    _print(asked.form, rows, document, lambda: simulation_text(rows, simulation, asked.seed))
    if asked.reports is not None:
        # With the same seed again the file holds the first of the simulated surveys.
        generator = generator_of(asked.seed)
        try:
            lines = reports_csv(simulation.draw(generator), generator)
            asked.reports.write_text("".join(lines), "utf-8", newline="")
        except OSError as error:
            raise click.ClickException(f"{asked.reports.name}: cannot be written: {error.strerror}") from None
    if asked.folder is not None:
        write_rows(simulation, asked.folder, asked.seed, asked.processes)
    if asked.picture is not None:
        save_picture(asked.picture, lambda: simulation_chart(rows, asked.size), asked.size)


def _print(form: str, rows: Sequence[SimulationRow], document: dict[str, Any], text: Callable[[], str]) -> None:
    if form == "csv":
        click.echo(rows_csv(rows, SimulationRow), nl=False)
    elif form == "json":
        click.echo(to_json(document | {"figures": records(rows, SimulationRow)}))
    else:
        click.echo(text())


def _shares(given: Sequence[str], flag: str) -> Mapping[str, Any]:
    """True shares by question, from files and from options like QUESTION=SHARES; later ones replace earlier ones."""
    found: dict[str, Any] = {}
    for each in given:
        question, equals, shares = each.partition("=")
        try:
            # Without = it is the name of a file; with a bracket TOML; with a comma a list; else one share.
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
            # A ParameterError is a ValueError too, and its message is better than the one below.
            if isinstance(error, ParameterError):
                raise
            hint = number_hint(shares.strip())
            raise click.BadParameter(f"must be like affair=0.32, got {each!r:.80}{hint}", param_hint=flag) from None
    return found


def _pairs(given: Sequence[str], flag: str, example: str, read: Callable[[str], T]) -> dict[str, T]:
    """The values of options like NAME=VALUE, by name; the form of all is checked before the first is read."""
    found: dict[str, str] = {}
    for each in given:
        # At the last =, because the name of a term may hold one.
        name, equals, value = each.rpartition("=")
        if not equals or not name.strip() or not value.strip():
            raise click.BadParameter(f"must be like {example}, got {each!r:.80}", param_hint=flag)
        if name.strip() in found:
            raise click.BadParameter(f"must name {name.strip()} once", param_hint=flag)
        found[name.strip()] = value.strip()
    return {name: read(value) for name, value in found.items()}


def _number(text: str, flag: str) -> float:
    try:
        return float(text)
    except ValueError:
        hint = number_hint(text)  # 40% and 0,4 are usual slips
        raise click.BadParameter(f"must be a number, got {text!r:.40}{hint}", param_hint=flag) from None


def _curves(given: Sequence[str]) -> dict[str, list[float]]:
    found = {}
    for name, texts in _pairs(given, "--over", "epsilon=1,2,3", str).items():
        if name not in ("respondents", "epsilon"):
            raise click.BadParameter(f"must be over respondents or epsilon, got {name!r:.40}", param_hint="--over")
        # Repeated values are one point of the curve.
        found[name] = list(dict.fromkeys(_number(each, "--over") for each in texts.split(",")))
        if name == "respondents" and not all(each >= 1 and each == int(each) for each in found[name]):
            raise click.BadParameter(
                f"respondents must be integers of at least 1, got {texts!r:.60}", param_hint="--over"
            )
    return found


def _share(text: str, given: str, flag: str) -> float:
    share = float(text)
    # 40 is more often meant as a percentage than as a share, and so the hint takes it for one.
    if not 0 <= share <= 1:
        hint = number_hint(given.partition("=")[2].strip()) or number_hint(f"{text.strip()}%")
        raise click.BadParameter(f"shares must be from 0 to 1, got {given!r:.80}{hint}", param_hint=flag)
    return share

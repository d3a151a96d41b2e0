"""``deniable analyze shares | sensitivity | compare | crosstab | regress | predict``"""

from __future__ import annotations

from typing import Any

import click

from deniable_commands.main import example
from deniable_research.commands.analyze_data import (
    SUSPICION_RULE,
    AnalysisCommand,
    FileReports,
    Output,
    Reports,
    analyse_apart,
    link_hint,
    say_dropped,
    suspected,
    suspicion_options,
)
from deniable_research.commands.analyze_models import predict_, regress_
from deniable_research.files.comparing import compare
from deniable_research.files.crossing import complete_rows, cross
from deniable_research.files.estimating import cautions, estimate_shares
from deniable_research.files.labels import labelled
from deniable_research.files.panels import comparison_panels, crosstab_panels, share_panels
from deniable_research.files.paper import noise_notes
from deniable_research.files.printing import comparison_table, crosstab_table, sensitivity_table, shares_table
from deniable_research.files.sensitivity import SensitivityRow, sensitivity, sensitivity_chart
from deniable_research.output import counted, records
from deniable_research.web import is_url
from deniable_statistics.commands.options import assume_fake_option, interval_options
from deniable_statistics.published.charts import interval_chart
from deniable_statistics.published.columns import COHORT
from deniable_statistics.published.published_rows import EstimateOptions, EstimateRow
from deniable_statistics.robustness.misbehaviour import Misbehaving

DESIGN_FILE = """
\b
A design file has a table for each randomised column:
  weights = "w"                      # optional, as cohort = "wave", strata = "region", cluster = "psu", ...
  [[questions]]
  column = "rrt_q1"
  name = "affair"                    # optional
  design = "forced-response"         # or warner, crosswise, kuk, cheater-detection, two-coin, ...
  truth = "2/3"                      # the parameters of the design
  codes = {no = "2", yes = "1"}      # optional: what stands for each response
  missing = ["", "NA", "9"]          # optional: what stands for a missing response
  anchor = "q2"                      # optional: another question, which has known_share = 0, its known share of yes
"""


class _Analyses(click.Group):
    """The analyses; somebody who gives a link in place of one is told what to do with it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The analysis that is named first."""
        if args and is_url(args[0]):
            raise click.UsageError(f"an analysis comes first, such as shares; DATA {link_hint(args[0])}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Analyses, epilog=DESIGN_FILE)
def analyze() -> None:
    """Analyse a file of randomised reports, from a collector or from elsewhere.

    DATA is a CSV, Parquet, Stata (.dta), SPSS (.sav) or Excel (.xlsx) file; all formats except CSV need the extra
    files. Describe the columns with --survey, --design or --question. If the data do not fit in memory, use --from
    SOURCE instead of DATA, and a database engine counts them.
    """


@analyze.command(
    cls=AnalysisCommand,
    epilog=example(
        "deniable analyze shares reports.csv --survey my-survey.toml",
        "deniable analyze shares reports.csv --survey my-survey.toml --by cohort --format csv",
        "deniable analyze shares qualtrics.csv --survey my-survey.toml --column affair=Q7",
        'deniable analyze shares study.csv --question "rrt_q1: crosswise p=1/6 codes=same:1,different:2"',
        "deniable analyze shares study.csv --design study.toml --weights w --plot shares.svg",
        "deniable analyze shares study.csv --design study.toml --weights w --strata region --cluster psu",
        "deniable analyze shares study.csv --design study.toml --weights w --margins census.csv",
        "deniable analyze shares study.sav --design study.toml --by region --to shares.xlsx",
        "deniable analyze shares reports.csv --survey my-survey.toml --to shares.tex",
        "deniable analyze shares --from exports/ --survey my-survey.toml --by cohort",
        "deniable analyze shares reports.csv --survey my-survey.toml --misbehaving 0.05 --misbehaviour lying",
        "deniable analyze shares reports.csv --survey my-survey.toml --assume-fake 0.02",
    ),
    rules=[SUSPICION_RULE],
)
@click.argument("questions", nargs=-1)
@click.option("--by", metavar="COLUMN", help="Estimate separately for each label of a column, such as cohort.")
@interval_options
@click.option(
    "--joint", "jointly", is_flag=True, help="Correct by the joint likelihood of the question and its anchor."
)
@suspicion_options
@assume_fake_option
def shares(
    reports: Reports,
    output: Output,
    questions: tuple[str, ...],
    by: str | None,
    jointly: bool,
    assume_fake: float | None,
    method: str,
    target: str,
    simultaneous: bool,
    **suspicion: Any,
) -> None:
    """Estimate shares and means.

    Estimates all questions, or those that you name. If the design of a question names an anchor, corrected shares
    are printed too.
    """
    asked = questions or reports.layout.names
    # Without an anchor there is no second likelihood, and the option would silently do nothing.
    if jointly and not any(arm.anchor for name in asked for arm in reports.layout.arms(name)):
        raise click.UsageError("--joint goes with a question that has an anchor")
    suspects = suspected(**suspicion)
    wanted = EstimateOptions(output.confidence_level, method, target, simultaneous, suspects, assume_fake)
    rows, doubts, dropped, table = analyse_apart(
        reports, asked, lambda table, names: estimate_shares(table, names, by=by, wanted=wanted, jointly=jointly), by
    )
    if by is not None and not isinstance(reports, FileReports):  # an engine counts question after question
        cohorts = [label for label, _ in table.cohorts(by)]
        rows.sort(key=lambda row: cohorts.index(row.cohort))
    # Rows under a sampling design have more columns, and so a type of their own.
    row_type = type(rows[0]) if rows else EstimateRow
    document = {"rows": table.people, "dropped": dropped, "estimates": records(rows, row_type)}
    if suspects is not None:
        document |= {"misbehaviour": list(suspects.kinds), "among": suspects.among}
    # Functions, because a table takes time to write and a chart to draw, and one of them may not be wanted.
    column = by or ""
    output.show(
        rows,
        row_type,
        document,
        doubts,
        lambda labels, size: interval_chart(share_panels(labelled(rows, labels)), size=size),
        lambda labels: shares_table(labelled(rows, labels), suspects, labels.get(column, COHORT.heading)),
        noise_notes(reports.layout, asked),
    )


@analyze.command(
    "sensitivity",
    cls=AnalysisCommand,
    epilog=example(
        "deniable analyze sensitivity reports.csv affair --survey my-survey.toml --plot sensitivity.svg",
        "deniable analyze sensitivity study.csv --design study.toml --misbehaving 0.5 --misbehaviour careless",
    ),
    rules=[SUSPICION_RULE],
)
@click.argument("questions", nargs=-1)
@click.option(
    "--steps",
    type=click.IntRange(1, 100),
    default=10,
    show_default=True,
    help="Number of steps from nobody to the maximum.",
)
@suspicion_options
def sensitivity_(reports: Reports, output: Output, questions: tuple[str, ...], steps: int, **suspicion: Any) -> None:
    """Show how results depend on people who do not follow the design.

    Bounds and robust intervals if at most a certain share of people misbehave, from none to --misbehaving (by
    default 0.2). For kinds of people whose reports are known (careless, noncompliance, denial), also the estimate
    corrected for exactly that share.
    """
    # Arms one by one: misbehaviour has bounds for a design, not for all arms of a question together.
    asked = questions or tuple(question.name for question in reports.layout.questions)
    supposed = suspected(**suspicion) or Misbehaving(0.2)
    wanted = EstimateOptions(confidence_level=output.confidence_level)
    rows, doubts, dropped, table = analyse_apart(
        reports, asked, lambda table, names: sensitivity(table, names, suspected=supposed, steps=steps, wanted=wanted)
    )
    document = {
        "rows": table.people,
        "dropped": dropped,
        "misbehaviour": list(supposed.kinds),
        "among": supposed.among,
        "sensitivity": records(rows, SensitivityRow),
    }
    output.show(
        rows,
        SensitivityRow,
        document,
        doubts,
        lambda labels, size: sensitivity_chart(labelled(rows, labels), size),
        lambda labels: sensitivity_table(labelled(rows, labels), supposed),
        noise_notes(reports.layout, asked),
    )


@analyze.command(
    "compare",
    cls=AnalysisCommand,
    epilog=example(
        "deniable analyze compare reports.csv affair --survey my-survey.toml --by cohort",
        "deniable analyze compare waves.csv affair --design study.toml --by year --trend",
    ),
)
@click.argument("question")
@click.option(
    "--by", metavar="COLUMN", help="The column of the cohorts; by default the one of the survey or the design file."
)
@click.option("--trend", "line", is_flag=True, help="Test for a trend over the cohorts, such as waves.")
@click.option("--option", "options", metavar="OPTION", multiple=True, help="Compare only this option.")
def compare_(
    reports: Reports, output: Output, question: str, by: str | None, line: bool, options: tuple[str, ...]
) -> None:
    """Compare a question between cohorts.

    Differences and ratios of two cohorts; a test that several cohorts are equal, and all pairwise differences; or a
    trend. For a question that was asked by several designs: whether their results agree.
    """
    # By default the arms of a question that has some: no cohorts of all arms together are compared.
    if by is None:
        by = reports.layout.arm_column(question) if reports.layout.has(question) else None
    by = by or reports.layout.cohort
    if by is None:
        raise click.UsageError("--by must name the column of cohorts")
    ((_, table),) = reports.apart([question], by)
    dropped = say_dropped(table, [question])
    rows = compare(table, question, by, line=line, options=options, confidence_level=output.confidence_level)
    # Cautions are about each arm already, so that the column of arms would only repeat them.
    doubts = cautions(table, [question], None if by == table.layout.arm_column(question) else by)
    document = {"rows": table.people, "dropped": dropped, "comparisons": records(rows, type(rows[0]))}
    output.show(
        rows,
        type(rows[0]),
        document,
        doubts,
        lambda labels, size: interval_chart(comparison_panels(labelled(rows, labels)), size=size),
        lambda labels: comparison_table(labelled(rows, labels)),
        noise_notes(reports.layout, [question]),
    )


@analyze.command(
    cls=AnalysisCommand,
    epilog=example(
        "deniable analyze crosstab reports.csv affair religious --survey my-survey.toml",
        "deniable analyze crosstab reports.csv affair religious --survey my-survey.toml --given religious",
        "deniable analyze crosstab study.csv affair income --design study.toml",
    ),
)
@click.argument("first")
@click.argument("second")
@click.argument("third", required=False)
@click.option("--given", metavar="COLUMN", help="Conditional shares, given each answer to this column.")
@click.option("--permutations", type=click.IntRange(1), help="Test independence by this number of random permutations.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Random seed for the permutations.")
def crosstab(
    reports: Reports,
    output: Output,
    first: str,
    second: str,
    third: str | None,
    given: str | None,
    permutations: int | None,
    seed: int,
) -> None:
    """Cross-tabulate two or three columns.

    Joint shares of the true answers, a test of independence, and the correlation if both columns are numeric. At
    least one column must be a randomised question, or one box of it such as "drugs[cocaine]"; the others may be
    plain columns.
    """
    names = [name for name in (first, second, third) if name is not None]
    table = reports.together(names)
    level = output.confidence_level
    rows = cross(table, names, given=given, permutations=permutations or 0, seed=seed, confidence_level=level)
    left_out = table.people - table.count(complete_rows(table, names))
    # To stderr, where CSV and JSON stay whole.
    if left_out:
        click.echo(
            f"{counted(left_out, 'row')} of {table.people} with nothing in one of the columns left out", err=True
        )
    asked = [name for name in names if table.layout.has(name)]
    doubts = cautions(table, asked)
    document = {"rows": table.people, "dropped": left_out, "crosstab": records(rows, type(rows[0]))}
    output.show(
        rows,
        type(rows[0]),
        document,
        doubts,
        lambda labels, size: interval_chart(crosstab_panels(labelled(rows, labels)), size=size),
        lambda labels: crosstab_table(labelled(rows, labels)),
        noise_notes(reports.layout, asked),
    )


analyze.add_command(regress_)
analyze.add_command(predict_)

"""``deniable codebook``"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click

from deniable.errors import ParameterError
from deniable_commands.main import example
from deniable_research.codebook import Codebook, to_ddi, to_markdown
from deniable_research.commands.options import FILE, NEW_FILE
from deniable_research.files import Table, read_layout
from deniable_research.web import is_url
from deniable_statistics.archive.regression_script import REGRESSION, regression_script
from deniable_statistics.authoring.authoring import read_any_survey
from deniable_statistics.data.whole import replace_file


class _SurveyPath(click.Path):
    """The path of an existing file; an error says where the file of a link is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, if it is no link."""
        if is_url(value):
            self.fail(
                "must be a file, got a link; the survey's file is survey.json in the archive below its results, and "
                "/api/v1/surveys/SURVEY-ID at its collector",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


@click.command(
    epilog=example(
        "deniable codebook my-survey.toml",
        "deniable codebook my-survey.toml --to codebook.xml",
        "deniable codebook my-survey.toml --to codebook.md --scripts",
        "deniable codebook study.toml --data study.sav --to codebook.md",
    )
)
@click.argument("file", type=_SurveyPath(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--to",
    metavar="FILE",
    type=NEW_FILE,
    help="Write the codebook to a file: .md for Markdown, .xml for DDI-Codebook 2.5.",
)
@click.option(
    "--data",
    metavar="FILE",
    type=FILE,
    help="With a design file: the data file that it describes, to include its labels and its other columns.",
)
@click.option(
    "--scripts",
    is_flag=True,
    help=f"Also write {REGRESSION}, which fits regressions in R to the reports of a survey and reads this codebook.",
)
def codebook(file: Path, to: Path | None, data: Path | None, scripts: bool) -> None:
    """Describe each column of a file of reports.

    FILE is a survey (TOML or published JSON) or a design file. The codebook lists questions, options, codes,
    missing values, and the mechanism with its exact probabilities and epsilon. Without --to it is printed as
    Markdown.

    With --scripts, regression.R is written beside the codebook. In R, source("regression.R") and
    noisy_regression(cheated ~ cohort, "reports.csv", "codebook.md") need no package and no Python.
    """
    # The suffix decides the format, so a wrong one is refused before the file is read.
    if to is not None and to.suffix.lower() not in (".md", ".xml"):
        raise ParameterError(f"file: must end in .md or .xml, got {to.name!r:.80}")
    if scripts and (to is None or to.suffix.lower() != ".md"):
        raise click.UsageError("--scripts goes with --to and a file .md, which the script reads")
    content = file.read_bytes()
    if scripts and _is_design_file(content):
        # A design file may have weights, strata and designs that the script does not know.
        raise click.UsageError("--scripts goes with a survey; for a design file there is 'deniable analyze regress'")
    found = _read(content, file, data)
    if to is None:
        click.echo(to_markdown(found), nl=False)
        return
    written = {to: to_ddi(found) if to.suffix.lower() == ".xml" else to_markdown(found).encode()}
    if scripts:
        written[to.with_name(REGRESSION)] = regression_script()
    for path, text in written.items():
        replace_file(path, functools.partial(Path.write_bytes, data=text))
        click.echo(path)


def _read(content: bytes, file: Path, data: Path | None) -> Codebook:
    """The codebook of a survey or of a design file, by which of the two the content is."""
    if _is_design_file(content):
        layout = read_layout(content)
        columns = None if data is None else Table.read(data, layout).columns
        return Codebook.of_layout(layout, file.stem, columns)
    if data is not None:
        raise click.UsageError("--data goes with a design file; a survey says it all")
    return Codebook.of_survey(read_any_survey(content, file.parent))


def _is_design_file(content: bytes) -> bool:
    # Both are TOML with questions; a survey's have mechanisms, which its author never calls a design.
    import tomllib

    try:
        written = tomllib.loads(content.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return False
    questions = written.get("questions")
    return isinstance(questions, list) and any(isinstance(each, dict) and "design" in each for each in questions)

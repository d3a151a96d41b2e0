"""``deniable analyze regress | predict``"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from deniable.commands.main import example
from deniable_research.commands.analyze_data import (
    DataCommand,
    Reports,
    data_options,
    draw,
    print_result,
    result_options,
    say_asked,
)
from deniable_research.files.panels import prediction_panels, term_panels
from deniable_research.files.paper import PAPERS, SHOWN, noise_notes, paper_table, save_paper
from deniable_research.files.printing import goodness_text, models_text, prediction_text, regression_text
from deniable_research.files.regressing import MODELS, PENALTIES, questions_in, regress
from deniable_research.files.shares import cautions
from deniable_research.output import records

_penalty_option = click.option("--penalty", type=click.Choice(list(PENALTIES)), default="auto", show_default=True)


@click.command(
    "regress",
    cls=DataCommand,
    epilog=example(
        'deniable analyze regress reports.csv "affair ~ religious + C(cohort)" --survey my-survey.toml',
        'deniable analyze regress export.csv "affair ~ age + C(region)" --survey my-survey.toml --column affair=q7',
        'deniable analyze regress study.csv "income ~ age + affair" --design study.toml',
        'deniable analyze regress study.csv "affair ~ age + drugs" --against "affair ~ age" --design study.toml --fit',
        'deniable analyze regress study.csv "affair ~ age" --design study.toml --odds-ratios --to table.docx',
    ),
)
@functools.partial(data_options, papers=True)
@click.argument("formula")
@click.option(
    "--se",
    "kind",
    type=click.Choice(["observed", "expected", "opg", "sandwich"]),
    help="Standard errors; by default observed, with weights or a sampling design the sandwich.",
)
@click.option(
    "--interval", "how", type=click.Choice(["profile", "wald"]), help="By default profile with observed errors."
)
@_penalty_option
@click.option("--model", type=click.Choice(MODELS), help="By default linear for numbers, otherwise logistic.")
@click.option(
    "--likelihood", is_flag=True, help="Linear: maximum likelihood of a normal outcome, not corrected least squares."
)
@click.option(
    "--against",
    "others",
    metavar="FORMULA",
    multiple=True,
    help="Another model of the same rows, of variables of the first: likelihood ratio, AIC and BIC.",
)
@click.option("--fit", "with_fit", is_flag=True, help="Whether the model fits: Pearson and deviance statistics.")
@click.option("--all-terms", is_flag=True, help="Print how often truths of predictors are as well.")
@click.option("--odds-ratios", is_flag=True, help="Print and draw odds ratios; CSV and JSON keep coefficients.")
@click.option(
    "--below",
    type=click.Choice(SHOWN),
    default=SHOWN[0],
    show_default=True,
    help=f"Below coefficients of a table for a paper, --to {', '.join(PAPERS)}.",
)
@click.option("--stars", is_flag=True, help="Stars in a table for a paper.")
@result_options
def regress_(
    reports: Reports,
    formula: str,
    kind: str | None,
    how: str | None,
    penalty: str,
    model: str | None,
    likelihood: bool,
    others: tuple[str, ...],
    with_fit: bool,
    all_terms: bool,
    odds_ratios: bool,
    below: str,
    stars: bool,
    form: str,
    confidence_level: float,
    picture: Path | None,
    to: Path | None,
) -> None:
    """Regress on covariates, or on answers.

    FORMULA is like "affair ~ age + religious + C(region)". Randomised questions may stand on both sides. A number on
    the left gives a linear model; a randomised question, or labels, a logistic one, multinomial if there are more than
    two options.
    """
    from deniable_research.files.models import FittedModel, ModelRow, ModelTermRow, against, compare_models, term_rows
    from deniable_research.regression import Fit, GoodnessOfFit, TidyRow, goodness_of_fit

    is_paper = to is not None and to.suffix.lower() in PAPERS
    says_below = click.get_current_context().get_parameter_source("below") is ParameterSource.COMMANDLINE
    if (stars or says_below) and not is_paper:
        raise click.UsageError(f"--stars and --below go with a table for a paper, --to {', '.join(PAPERS)}")
    table = reports.of_formula(formula)
    fit = regress(table, formula, model=model, likelihood=likelihood, penalty=PENALTIES[penalty])
    if isinstance(fit, Fit):
        whole = fit.glance()
        glance = records([whole], type(whole))[0]
    elif kind or how:
        raise click.UsageError("--se and --interval do not go with corrected least squares; add --likelihood")
    elif with_fit:
        raise click.UsageError("--fit goes with a logistic or multinomial model")
    else:
        glance = {"n": fit.n, "sigma": fit.sigma}
    found = [FittedModel.of(formula, fit, confidence_level, kind, how)]
    if others:
        beside = against(fit, others, PENALTIES[penalty])
        found += [found[0].beside(text, other, confidence_level) for text, other in zip(others, beside, strict=True)]
    if odds_ratios:
        _ = [each.odds_ratios for each in found]  # says what is wrong before anything is printed
    comparison = compare_models(found) if others else []
    goodness = [goodness_of_fit(each.fit) for each in found if isinstance(each.fit, Fit)] if with_fit else []
    document: dict[str, Any] = {
        "formula": formula,
        "rows": table.people,
        "dropped": fit.n_dropped,
        "interval": found[0].interval,
        "conf_level": confidence_level,
        "glance": glance,
        "terms": records(found[0].rows, TidyRow),
    }
    if fit.sample.domain is not None:
        document["df"] = fit.df
    if others:
        document["models"] = [
            {**row, "terms": records(each.rows, TidyRow)}
            for row, each in zip(records(comparison, ModelRow), found, strict=True)
        ]
    if goodness:
        document["fit"] = records(goodness, GoodnessOfFit)
    questions = questions_in(table, formula)
    say_asked(table, questions)
    doubts = [*dict.fromkeys(each.fit.message for each in found if each.fit.message), *cautions(table, questions)]

    def text() -> str:
        parts = []
        for place, each in enumerate(found):
            title = f"{each.formula}\n\n" if others else ""
            lines = regression_text(each, confidence_level, all_terms=all_terms, odds_ratios=odds_ratios)
            parts.append(title + lines + (f"\n{goodness_text(goodness[place])}" if goodness else ""))
        return "\n\n".join([*parts, *([models_text(comparison)] if comparison else [])])

    paper = None
    if to is not None and is_paper:
        paper = paper_table(
            found,
            [*noise_notes(table, questions), *cautions(table, questions)],
            below=below,
            stars=stars,
            odds_ratios=odds_ratios,
            confidence_level=confidence_level,
        )
        save_paper(paper, to)
    rows: Sequence[Any] = term_rows(found) if others else found[0].rows
    row_type = ModelTermRow if others else TidyRow
    print_result(form, rows, row_type, text, document, doubts, None if paper else to)
    draw(picture, lambda: term_panels(found, odds_ratios))


@click.command(
    "predict",
    cls=DataCommand,
    epilog=example(
        'deniable analyze predict study.csv "affair ~ age + C(region)" --design study.toml',
        'deniable analyze predict study.csv "affair ~ age + drugs" --design study.toml --at "age=30,drugs=yes"',
        'deniable analyze predict study.csv "affair ~ age + C(region)" --design study.toml --effects',
        'deniable analyze predict reports.csv "affair ~ C(cohort)" --survey my-survey.toml --contrast cohort',
    ),
)
@data_options
@click.argument("formula")
@click.option(
    "--at",
    metavar="SETTING",
    multiple=True,
    help='What everybody is set to, such as "age=30,region=west"; again for more.',
)
@click.option("--effects", is_flag=True, help="Average marginal effects of all variables instead of shares.")
@click.option("--contrast", metavar="VARIABLE", help="Differences between all pairs of its values instead of shares.")
@_penalty_option
@click.option(
    "--model",
    type=click.Choice(["logistic"]),
    help="Treat a numeric outcome such as 0/1 as categories; not needed for questions and labels.",
)
@result_options
def predict_(
    reports: Reports,
    formula: str,
    at: tuple[str, ...],
    effects: bool,
    contrast: str | None,
    penalty: str,
    model: str | None,
    form: str,
    confidence_level: float,
    picture: Path | None,
    to: Path | None,
) -> None:
    """Say in shares what a regression says in coefficients.

    FORMULA is that of "analyze regress", with a randomised question or labels on the left. Shares of the truth are
    averaged over the people of the file, as they are or with what --at sets; randomised predictors are set to truths.
    """
    from deniable_research.files.predicting import PredictionRow, predict, read_setting

    if effects and contrast is not None:
        raise click.UsageError("--effects and --contrast do not go together")
    settings = [read_setting(each) for each in at]
    table = reports.of_formula(formula)
    fit = regress(table, formula, model=model, penalty=PENALTIES[penalty])
    rows = predict(fit, at=settings, effects=effects, contrast=contrast, confidence_level=confidence_level)
    questions = questions_in(table, formula)
    say_asked(table, questions)
    doubts = [*filter(None, [fit.message]), *cautions(table, questions)]
    document = {
        "formula": formula,
        "rows": table.people,
        "dropped": fit.n_dropped,
        "predictions": records(rows, PredictionRow),
    }
    print_result(form, rows, PredictionRow, lambda: prediction_text(rows), document, doubts, to)
    draw(picture, lambda: prediction_panels(rows))

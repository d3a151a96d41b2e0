"""``deniable analyze regress | predict``"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from deniable_commands.main import example
from deniable_commands.rules import at_most_one
from deniable_research.commands.analyze_data import AnalysisCommand, Output, Reports, is_to_paper, say_asked
from deniable_research.files.estimating import cautions
from deniable_research.files.labels import labelled
from deniable_research.files.model_specification import questions_in
from deniable_research.files.model_tables import (
    FittedModel,
    ModelRow,
    ModelTermRow,
    against,
    compare_models,
    term_rows,
)
from deniable_research.files.panels import prediction_panels, term_panels
from deniable_research.files.paper import MOST_DECIMALS, SHOWN, noise_notes, paper_table
from deniable_research.files.paper_table import PAPERS
from deniable_research.files.predicting import PredictionRow, predict, read_setting
from deniable_research.files.printing import goodness_text, models_text, prediction_table, regression_text
from deniable_research.files.regressing import MODELS, PENALTIES, regress
from deniable_research.output import records
from deniable_research.regression import Fit, GoodnessOfFit, MomentFit, TidyRow, goodness_of_fit
from deniable_statistics.published.charts import interval_chart


def _only_for_papers(given: frozenset[str]) -> str | None:
    if given.isdisjoint({"--stars", "--below", "--decimals"}) or is_to_paper():
        return None
    return f"--stars, --below and --decimals go with a table for a paper, --to {', '.join(PAPERS)}"


def _intervals_below_odds_ratios(given: frozenset[str]) -> str | None:
    below = click.get_current_context().params["below"]
    if {"--below", "--odds-ratios"} <= given and below == SHOWN[0]:
        return "--below errors does not go with --odds-ratios, which have intervals and no standard errors"
    return None


_penalty_option = click.option(
    "--penalty",
    type=click.Choice(list(PENALTIES)),
    default="auto",
    show_default=True,
    help="Whether to use a Cauchy prior, which pulls effects towards 0: always, never, or (auto) only if the "
    "likelihood has no maximum.",
)


@click.command(
    "regress",
    cls=AnalysisCommand,
    rules=[_only_for_papers, _intervals_below_odds_ratios],
    epilog=example(
        'deniable analyze regress reports.csv "affair ~ religious + C(cohort)" --survey my-survey.toml',
        'deniable analyze regress export.csv "affair ~ age + C(region)" --survey my-survey.toml --column affair=q7',
        'deniable analyze regress study.csv "income ~ age + affair" --design study.toml',
        'deniable analyze regress study.csv "affair ~ age + drugs" --against "affair ~ age" --design study.toml --fit',
        'deniable analyze regress study.csv "affair ~ age" --design study.toml --odds-ratios --to table.docx',
        'deniable analyze regress study.csv "affair ~ age" --design study.toml --label affair=Infidelity --to t.tex',
    ),
)
@click.argument("formula")
@click.option(
    "--se",
    "kind",
    type=click.Choice(["observed", "expected", "opg", "sandwich"]),
    help="Method of the standard errors. By default observed; with weights or a sampling design, sandwich.",
)
@click.option(
    "--interval",
    "how",
    type=click.Choice(["profile", "wald"]),
    help="Method of the intervals. By default profile if the standard errors are observed, otherwise wald. "
    "With profile, z and p are those of the likelihood ratio; with wald, of estimate / standard error.",
)
@_penalty_option
@click.option(
    "--model", type=click.Choice(MODELS), help="The kind of model: by default linear for numbers, otherwise logistic."
)
@click.option(
    "--likelihood",
    is_flag=True,
    help=(
        "For linear models: maximum likelihood with a normally distributed outcome, instead of corrected least squares."
    ),
)
@click.option(
    "--against",
    "others",
    metavar="FORMULA",
    multiple=True,
    help="A nested model of the same rows to compare with: likelihood ratio, AIC and BIC.",
)
@click.option("--fit", "with_fit", is_flag=True, help="Test the goodness of fit: Pearson and deviance statistics.")
@click.option(
    "--all-terms", is_flag=True, help="Also print the terms that model the distribution of the true predictors."
)
@click.option("--odds-ratios", is_flag=True, help="Print and draw odds ratios. CSV and JSON keep coefficients.")
@click.option(
    "--below",
    type=click.Choice(SHOWN),
    help=f"What to print below each coefficient in a table for a paper (--to {', '.join(PAPERS)}): standard errors, "
    "intervals or p-values. By default errors; below odds ratios, which have no standard errors, intervals.",
)
@click.option(
    "--decimals",
    type=click.IntRange(0, MOST_DECIMALS),
    help="Decimals of coefficients, errors and intervals in a table for a paper. By default two significant digits of "
    "each standard error.",
)
@click.option("--stars", is_flag=True, help="Mark significance with stars in a table for a paper.")
def regress_(
    reports: Reports,
    output: Output,
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
    below: str | None,
    decimals: int | None,
    stars: bool,
) -> None:
    """Fit a regression on covariates or on other answers.

    FORMULA is like "affair ~ age + religious + C(region)". Randomised questions may be on both sides. A numeric
    outcome gives a linear model; a randomised question or labels give a logistic model, which is multinomial if
    there are more than two options.
    """
    table = reports.of_formula(formula)
    fit = regress(table, formula, model=model, likelihood=likelihood, penalty=PENALTIES[penalty])
    if not isinstance(fit, Fit) and (kind or how):
        raise click.UsageError("--se and --interval do not go with corrected least squares; add --likelihood")
    if not isinstance(fit, Fit) and with_fit:
        raise click.UsageError("--fit goes with a logistic or multinomial model")
    level = output.confidence_level
    models = [FittedModel.of(formula, fit, level, kind, how)]
    beside = against(fit, others, PENALTIES[penalty]) if others else []
    models += [models[0].beside(text, other, level) for text, other in zip(others, beside, strict=True)]
    if odds_ratios:
        _ = [each.odds_ratios for each in models]  # raises its error before anything is printed
    found = _Models.of(models, level, with_fit)
    questions = questions_in(table, formula)
    say_asked(table, questions)
    warned = cautions(table, questions)
    # Models of the same rows often have the same message, such as that of a prior; each is said once.
    doubts = [*dict.fromkeys(each.fit.message for each in models if each.fit.message), *warned]
    below = below or (SHOWN[1] if odds_ratios else SHOWN[0])
    style: dict[str, Any] = {"below": below, "decimals": decimals, "stars": stars, "odds_ratios": odds_ratios}
    # With several models every row names its model.
    rows: Sequence[Any] = term_rows(models) if others else models[0].rows
    output.show(
        rows,
        ModelTermRow if others else TidyRow,
        found.document(table.people),
        doubts,
        lambda labels, size: interval_chart(term_panels(models, odds_ratios, labels), size=size),
        lambda labels: paper_table(models, confidence_level=level, labels=labels, **style),
        noise_notes(table.layout, questions),
        text=lambda: found.text(all_terms=all_terms, odds_ratios=odds_ratios),
    )


@dataclass(frozen=True)
class _Models:
    """A model, and the models that it is compared with.

    Attributes
    ----------
    models : list of FittedModel
    level : float
        Confidence level of the intervals.
    comparison, goodness : list of rows
        Rows of all models compared with the first one, and tests of goodness of fit; empty unless they were asked for.
    """

    models: list[FittedModel]
    level: float
    comparison: list[Any]
    goodness: list[GoodnessOfFit]

    @classmethod
    def of(cls, models: list[FittedModel], level: float, with_fit: bool) -> _Models:
        """The models with their comparison, and with tests of goodness of fit if these are wanted."""
        comparison = compare_models(models) if len(models) > 1 else []
        fits = [each.fit for each in models if with_fit and isinstance(each.fit, Fit)]
        return cls(models, level, comparison, list(map(goodness_of_fit, fits)))

    def text(self, *, all_terms: bool, odds_ratios: bool) -> str:
        """The tables of all models, then the table that compares them."""
        parts = []
        for place, each in enumerate(self.models):
            title = f"{each.formula}\n\n" if self.comparison else ""
            fits = f"\n{goodness_text(self.goodness[place])}" if self.goodness else ""
            table = regression_text(each, self.level, all_terms=all_terms, odds_ratios=odds_ratios)
            parts.append(title + table + fits)
        return "\n\n".join([*parts, *([models_text(self.comparison)] if self.comparison else [])])

    def document(self, people: int) -> dict[str, Any]:
        """The JSON of the first model, with the other models below a key of their own."""
        first = self.models[0]
        document: dict[str, Any] = {
            "formula": first.formula,
            "rows": people,
            "dropped": first.fit.n_dropped,
            "interval": first.interval,
            "conf_level": self.level,
            "glance": _glance(first.fit),
            "terms": records(first.rows, TidyRow),
        }
        # Without a sampling design there are infinitely many degrees of freedom, for which JSON has no number.
        if first.fit.sample.is_drawn:
            document["df"] = first.fit.df
        if self.comparison:
            document["models"] = [
                {**row, "terms": records(each.rows, TidyRow)}
                for row, each in zip(records(self.comparison, ModelRow), self.models, strict=True)
            ]
        if self.goodness:
            document["fit"] = records(self.goodness, GoodnessOfFit)
        return document


def _glance(fit: Fit | MomentFit) -> dict[str, Any]:
    """The figures of a whole fit; corrected least squares have no likelihood, and so fewer of them."""
    if not isinstance(fit, Fit):
        return {"n": fit.n, "sigma": fit.sigma}
    whole = fit.glance()
    return records([whole], type(whole))[0]


@click.command(
    "predict",
    cls=AnalysisCommand,
    rules=[at_most_one("--effects", "--contrast", sentence="--effects and --contrast do not go together")],
    epilog=example(
        'deniable analyze predict study.csv "affair ~ age + C(region)" --design study.toml',
        'deniable analyze predict study.csv "affair ~ age + drugs" --design study.toml --at "age=30,drugs=yes"',
        'deniable analyze predict study.csv "affair ~ age + C(region)" --design study.toml --effects',
        'deniable analyze predict reports.csv "affair ~ C(cohort)" --survey my-survey.toml --contrast cohort',
    ),
)
@click.argument("formula")
@click.option(
    "--at",
    metavar="SETTING",
    multiple=True,
    help='A value that everybody is set to, such as "age=30,region=west". May be repeated.',
)
@click.option("--effects", is_flag=True, help="Average marginal effects of all variables, instead of shares.")
@click.option(
    "--contrast",
    metavar="VARIABLE",
    help="Differences between all pairs of values of this variable, instead of shares.",
)
@_penalty_option
@click.option(
    "--model",
    type=click.Choice(["logistic"]),
    help="Treat a numeric outcome such as 0/1 as categories. Not needed for questions and labels.",
)
def predict_(
    reports: Reports,
    output: Output,
    formula: str,
    at: tuple[str, ...],
    effects: bool,
    contrast: str | None,
    penalty: str,
    model: str | None,
) -> None:
    """Express a regression in shares instead of coefficients.

    FORMULA is as in "analyze regress", with a randomised question or labels on the left. The shares of the true
    answers are averaged over the people in the file, either as they are or with the values that --at sets.
    Randomised predictors are set to true answers.
    """
    # Before reports are read, since a mistyped setting would otherwise cost the whole fit.
    settings = [read_setting(each) for each in at]
    table = reports.of_formula(formula)
    fit = regress(table, formula, model=model, penalty=PENALTIES[penalty])
    rows = predict(fit, at=settings, effects=effects, contrast=contrast, confidence_level=output.confidence_level)
    questions = questions_in(table, formula)
    say_asked(table, questions)
    doubts = [*filter(None, [fit.message]), *cautions(table, questions)]
    document = {
        "formula": formula,
        "rows": table.people,
        "dropped": fit.n_dropped,
        "predictions": records(rows, PredictionRow),
    }
    output.show(
        rows,
        PredictionRow,
        document,
        doubts,
        lambda labels, size: interval_chart(prediction_panels(labelled(rows, labels)), size=size),
        lambda labels: prediction_table(labelled(rows, labels)),
        noise_notes(table.layout, questions),
    )

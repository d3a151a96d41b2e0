"""A view of one question as a page shows it: sentences, figure, table, warnings, notes and recipe, in one language."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from deniable import EstimateRow, Question, Survey
from deniable_server.results.crossed_view import SHOWN, channels, shown_rows, sizes
from deniable_server.results.drawing import (
    Labels,
    axis_of_row,
    can_draw,
    digits_by_statistic,
    panels_of,
    spoken_row,
)
from deniable_server.results.headlines import (
    LEAST_LEVEL,
    Headline,
    certain_differences,
    headlines,
)
from deniable_server.results.plain_method import DIFFERENCES, weak_rules
from deniable_server.results.stated_methods import stated_methods
from deniable_server.results.to_print import PrintedFinding, differences_to_print, findings_of
from deniable_server.results.view_tables import Column, ViewTable, columns_of, crossed_rows, recipe_rows
from deniable_server.results.written import Words, counted, level_text, localized
from deniable_statistics.estimates.estimate import DEFAULT_METHOD
from deniable_statistics.estimates.fakes import fake_margins
from deniable_statistics.views.crossed import pairs_compared
from deniable_statistics.views.crossed_recipe import crossed_scripts
from deniable_statistics.views.figures import Caption, figure, has_multiples, multiples
from deniable_statistics.views.recipe import ingredients, scripts
from deniable_statistics.views.view_row import ViewOptions, ViewRow

MOST_OPTIONS = 20
"""Largest number of rows of a question that an overview draws; its own page has all of them."""

LEAST_DIFFERENCE = 1e-9
"""Numbers of pages that differ by less are the same: they have a few decimals, and floating point has its error."""


@dataclass(frozen=True)
class Section:
    """A view of one question.

    Attributes
    ----------
    question : Question
    text : str
        The question in the reader's language.
    title : str
        The question, or both where two are crossed.
    sentences : list of str
    findings : list of PrintedFinding
        What somebody may print.
    figure : Markup or None
        SVG.
    columns : list of Column
        Those of the table.
    rows : Markup
        The rows of the table.
    flags : list of (str, str)
        Rows whose data contradict the design, and what is wrong.
    notes : list of str
    methods : list of str
        Sentences on the methods of its numbers and of what it says in words, with their confidence levels.
    is_single : bool
        Whether it shows one difference of groups alone, whose interval holds nothing together with others.
    recipe : Markup
        The numbers behind each share as rows of a table; empty where a tally alone does not tell them.
    is_binomial : bool
        Whether one count tells the first share.
    scripts : tuple of two str
        Of Python and of R; empty where there are none.
    weak : list of str
        The rules by which rows are called too weak.
    n : int
        Number of replies to both of two crossed questions.
    crossed : Markup
        The counts behind the shares of two crossed questions as rows of a table; empty where there are none.
    channels : list of (str, list of (str, str, str))
        Of two crossed questions their texts, and the probabilities of their answers.
    """

    question: Question
    text: str
    title: str
    sentences: list[str]
    findings: list[PrintedFinding]
    figure: Markup | None
    columns: list[Column]
    rows: Markup
    flags: list[tuple[str, str]]
    notes: list[str]
    methods: list[str]
    is_single: bool
    recipe: Markup
    is_binomial: bool
    scripts: tuple[str, str]
    weak: list[str]
    n: int
    crossed: Markup
    channels: list[tuple[str, list[tuple[str, str, str]]]]


def section(
    survey: Survey,
    question: Question,
    rows: Sequence[ViewRow],
    options: ViewOptions,
    labels: Labels,
    url: str | None,
    estimates: Sequence[EstimateRow] = (),
    draws: bool = True,
    in_order: Sequence[ViewRow] | None = None,
) -> Section:
    """A view of a question.

    Parameters
    ----------
    survey, question
    rows : sequence of ViewRow
    options : ViewOptions
        What the view shows.
    labels : Labels
    url : str or None
        Address of the noisy rows, for scripts; None where there is none that makes these numbers.
    estimates : sequence of EstimateRow
        The estimates behind a view of shares, from which sentences and warnings are made.
    draws : bool
        Whether a figure is shown.
    in_order : sequence of ViewRow, optional
        The same rows as figure and table show them. The recipe keeps the order of the survey, in which reports number
        the answers.
    """
    given = None if options.crossed_with is None else survey.question(options.crossed_with)
    text = labels.text(question.text)
    found = found_in(question, options, labels, estimates)
    said = sentences(question, rows, options, labels, estimates, given, found)
    in_order = rows if in_order is None else in_order
    shown = shown_rows(in_order)
    drawn = draws and can_draw(rows) and any(row.estimate is not None for row in rows)
    title = text if given is None else title_of(question, given, labels)
    caption = Caption(title, language=labels.words["lang"], direction=labels.words["dir"], description=" ".join(said))
    columns = columns_of(question, shown, options, labels, given)
    groups = {} if given is None else sizes(rows, given, labels.words)
    table = ViewTable(question, labels, columns, given, groups)
    # Recipes and scripts recompute shares of one survey; differences of cohorts take more than a tally.
    is_of_this_survey = options.is_of_shares and not options.over_time
    recipe = ingredients(question, rows) if is_of_this_survey else []
    source = url if survey.retention == "reports" else None
    level = level_text(options.confidence_level, labels.words)
    return Section(
        question=question,
        text=text,
        title=title,
        sentences=said,
        findings=findings(question, rows, options, labels, given, found),
        figure=_drawn(question, in_order, labels, given, caption) if drawn else None,
        columns=columns,
        rows=table.html(shown),
        flags=_flags(question, estimates, labels),
        notes=notes(survey, question, labels, options),
        methods=stated_methods(question, rows, options, labels.words, given, found),
        is_single=bool(options.compare) and len(rows) == 1,
        recipe=recipe_rows(question, recipe, options, labels),
        is_binomial=bool(recipe and recipe[0].a),
        scripts=_scripts(question, given, rows, source, is_of_this_survey),
        weak=list(weak_rules(question, shown, level, labels.words)),
        n=0 if given is None else shown[0].n or 0,
        crossed=Markup() if given is None else crossed_rows(question, given, rows, labels),
        channels=[] if given is None else [(labels.text(each.text), channels(each)) for each in (question, given)],
    )


def _scripts(
    question: Question, given: Question | None, rows: Sequence[ViewRow], url: str | None, is_of_this_survey: bool
) -> tuple[str, str]:
    """Python and R that recompute a view from the rows at an address; empty where these do not make its numbers."""
    if url is None:
        return "", ""
    if given is not None:
        return crossed_scripts(question, given, url)
    return scripts(question, rows, url) if is_of_this_survey else ("", "")


def title_of(question: Question, given: Question, labels: Labels) -> str:
    """The title of two crossed questions: one by the other."""
    return labels.words["rBy"].format(question=labels.text(question.text), other=labels.text(given.text))


def _drawn(
    question: Question, rows: Sequence[ViewRow], labels: Labels, given: Question | None, caption: Caption
) -> Markup:
    panels = panels_of(question, rows, labels, given)
    if len(panels) == 1 and has_multiples(panels[0]):
        return Markup(multiples(panels[0], caption, question.id))  # noqa: S704  # escaped there
    return Markup(figure(panels, caption, alone=False, name=question.id))  # noqa: S704  # escaped there


def sentences(
    question: Question,
    rows: Sequence[ViewRow],
    options: ViewOptions,
    labels: Labels,
    estimates: Sequence[EstimateRow] = (),
    given: Question | None = None,
    found: Sequence[Headline] | None = None,
) -> list[str]:
    """What a view says in words: only what a simultaneous comparison holds, at a level of 95 % or more.

    ``found`` is what `found_in` returns, where it is known already.
    """
    words = labels.words
    if not may_say(options) or options.over_time:
        return []
    level = level_text(options.confidence_level, words)
    if given is not None:
        none = words["rNoneAmong"].replace("{other}", labels.text(given.text))
        certain = _differences(question, rows, labels, given)
        hold = words["rDifferenceHolds" if len(certain) == 1 else "rDifferencesHold"].format(level=level)
        return [*([*certain, hold] if certain else [none]), *cautions(question, given, rows, labels)]
    if options.compare:
        if not rows:
            return [words["rOneGroup"]]
        certain = _differences(question, rows, labels)
        together = [words["rHoldTogether"].format(level=level)] if len(rows) > 1 else []
        return [*(certain or [words["rNoDifference"]]), *together]
    found = found_in(question, options, labels, estimates) if found is None else found
    return [sentence(question, each, options.by_cohort, labels) for each in found] or nobody_yet(estimates, words)


def cautions(question: Question, given: Question, rows: Sequence[ViewRow], labels: Labels) -> list[str]:
    """What a reader has to know of the differences that are named of two crossed questions, and of all others."""
    words, said = labels.words, []
    weak = {(row.option, row.given_option) for row in rows if row.statistic == SHOWN and row.weak}
    named = [row for row in rows if row.statistic == "row difference"]
    if any((row.option, group) in weak for row in named for group in (row.given_option, row.minus)):
        said.append(words["rQuoteDifference"].format(weak=words["rWeak"]))
    if _differs_from_shares(rows):
        said.append(words["rDifferenceOfShares"])
    pairs = pairs_compared(question, given)
    # One pair has one bar beside another, and is named or not.
    if pairs > 1 and any(row.value is not None for row in rows):
        said.append(words["rPairsCompared" if named else "rPairsAlike"].format(n=counted(pairs, words)))
    return said


def _differs_from_shares(rows: Sequence[ViewRow]) -> bool:
    """Whether a difference that is named is, as it is rounded, not that of the two shares which the page shows."""
    digits = digits_by_statistic(rows)

    def read(row: ViewRow) -> float:
        said = spoken_row(row, digits[row.statistic])
        return math.nan if said is None else float(said.value.replace("\u2212", "-"))

    shown = {(row.option, row.given_option): read(row) for row in rows if row.statistic == SHOWN and not row.weak}
    return any(
        # Of a share that is not shown nobody takes a difference, and none of NaN is above anything.
        abs(
            shown.get((row.option, row.given_option), math.nan)
            - shown.get((row.option, row.minus), math.nan)
            - read(row)
        )
        > LEAST_DIFFERENCE
        for row in rows
        if row.statistic == "row difference"
    )


def found_in(
    question: Question, options: ViewOptions, labels: Labels, estimates: Sequence[EstimateRow]
) -> list[Headline]:
    """The headlines of a view of shares; none where it is of something else, or its intervals make no sentences."""
    if not may_say(options) or options.over_time or not options.is_of_shares:
        return []
    return headlines(question, estimates, labels.words)


def nobody_yet(estimates: Sequence[EstimateRow], words: Words) -> list[str]:
    """The sentence on a question that devices drew for nobody; without it a heading would stand alone."""
    return [words["rNobodyYet"]] if estimates and not any(row.n for row in estimates) else []


def _differences(
    question: Question, rows: Sequence[ViewRow], labels: Labels, given: Question | None = None
) -> list[str]:
    """The certain differences of cohorts, or of people with different answers to another question, in words."""
    named = [row for row in rows if row.statistic in DIFFERENCES]
    groups = {} if given is None else {each: labels.option(given, each) for each in given.options}
    options = {each: labels.option(question, each) for each in question.options}
    return certain_differences(named, labels.words, options, groups)


def findings(
    question: Question,
    rows: Sequence[ViewRow],
    options: ViewOptions,
    labels: Labels,
    given: Question | None,
    found: Sequence[Headline],
) -> list[PrintedFinding]:
    """What somebody may print of a view: its sentences as prose, each with the numbers behind it."""
    if not may_say(options) or options.over_time:
        return []
    level = level_text(options.confidence_level, labels.words)
    if given is not None or options.compare:
        return differences_to_print(question, rows, given, level, labels)
    return findings_of(question, found, options.by_cohort, level, labels)


def may_say(options: ViewOptions) -> bool:
    """Whether the intervals of a view are such as sentences are made from."""
    return options.confidence_level >= LEAST_LEVEL and options.wanted.method == DEFAULT_METHOD


def sentence(question: Question, headline: Headline, by_cohort: bool, labels: Labels) -> str:
    """A headline as one sentence."""
    chosen = headline.option or headline.largest
    unit = labels.text(question.unit) if question.unit and not chosen else ""
    if headline.sentence:
        # Not by `format`, and one of the two alone: a label of the author may hold braces.
        name, label = "{unit}", f" {unit}" if unit else ""
        if chosen:
            name, label = "{option}", labels.option(question, chosen)
        said = headline.sentence.replace(name, label)
        return f"{labels.cohort(headline.cohort)}: {said}" if by_cohort else said
    what = f"{headline.what} ({unit})" if unit else headline.what
    if by_cohort:
        what = labels.words["rInGroup"].format(what=what, group=labels.cohort(headline.cohort))
    return f"{what}: {headline.said}."


def _flags(question: Question, estimates: Sequence[EstimateRow], labels: Labels) -> list[tuple[str, str]]:
    return [
        (labels.row(question, row) + (f" ({labels.cohort(row.cohort)})" if row.cohort else ""), row.flag)
        for row in estimates
        if row.flag
    ]


def notes(survey: Survey, question: Question, labels: Labels, options: ViewOptions) -> list[str]:
    """The notes below a question: its mechanism, what devices draw, and what fake reports can do."""
    words, group = labels.words, question.group
    said = [
        words["rMechanism"].format(name=question.mechanism.name, strength=localized(f"{question.epsilon:.4g}", words))
    ]
    if question.mechanism.reports.is_drawn:
        said.append(words["rDrawnBoxes"])
    if group is not None and group.is_drawn:
        said.append(words["rDrawnQuestions"].format(draw=group.draw, size=group.size))
    if group is not None and group.joint:
        said.append(words["rOneChance"].format(size=group.size))
    if question.ask_if:
        said.append(words["rFiltered"])
    if question.has_shares:
        # A margin is that of one report in a hundred that answer the question; of a drawn one only a part do.
        points = 100 * max(fake_margins(question.mechanism)) / question.share_asked
        said.append(
            words["rFakesOpen" if survey.access == "open" else "rFakesOnce"].format(
                points=localized(f"{points:.1f}", words)
            )
        )
        if options.by_cohort or options.compare:
            said.append(words["rFakesGroups"])
        # Divided by the share of these people, which is no number of replies, so no one figure bounds it.
        if options.crossed_with or question.ask_if:
            said.append(words["rFakesAmong"])
    return said


def shown_row(question: Question, rows: Sequence[ViewRow], option: str | None) -> ViewRow | None:
    """The row that stands for a question in an overview: yes, the mean, or the option that a sentence names.

    Of a question with a filter it is that of the people to whom it applies.
    """
    fixed = question.kind.headline
    if fixed is not None:
        option = question.options[fixed]
    whose = "among" if fixed is not None and question.ask_if else "share"
    for row in rows:
        if row.statistic == "mean" or (option is not None and (row.statistic, row.option) == (whose, option)):
            return row
    return None


def small_figure(
    question: Question,
    rows: Sequence[ViewRow],
    leading: ViewRow | None,
    labels: Labels,
    said: Sequence[str],
    digits: int | None = None,
) -> Markup | None:
    """All options of a question as a figure for an overview; of very many the one that stands for it, if any does.

    ``digits`` are those of the sentence beside one that stands alone.
    """
    if 0 < len(rows) <= MOST_OPTIONS:
        words = labels.words
        caption = Caption(labels.text(question.text), language=words["lang"], description=" ".join(said))
        return _drawn(question, rows, labels, None, caption) if any(row.value is not None for row in rows) else None
    return None if leading is None or leading.value is None else dot(question, leading, labels, digits)


def dot(question: Question, row: ViewRow, labels: Labels, digits: int | None = None) -> Markup:
    """One row as a small figure, for an overview."""
    description = labels.value(row, digits)
    caption = Caption(labels.text(question.text), language=labels.words["lang"], description=description)
    panels = panels_of(question, [row], labels, digits=digits)
    assert axis_of_row(question, row) == panels[0].fixed
    return Markup(figure(panels, caption, alone=False, name=f"dot-{question.id}"))  # noqa: S704  # escaped there

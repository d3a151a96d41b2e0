"""A view of one question as a page shows it: sentences, figure, table, warnings, notes and recipe, in one language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from deniable import EstimateRow, Question, Survey
from deniable_server.results.crossed_view import (
    CrossedIngredients,
    channels,
    crossed_ingredients,
    shown_rows,
    sizes,
)
from deniable_server.results.drawing import Labels, axis_of_row, can_draw, panels_of
from deniable_server.results.headlines import (
    LEAST_LEVEL,
    Headline,
    certain_differences,
    headlines,
)
from deniable_server.results.plain_method import DIFFERENCES, weak_rules
from deniable_server.results.to_print import PrintedFinding, differences_to_print, findings_of
from deniable_server.results.written import Words, counted, localized
from deniable_statistics.estimates.estimate import DEFAULT_METHOD
from deniable_statistics.estimates.fakes import fake_margins
from deniable_statistics.published.printed_numbers import number, percent
from deniable_statistics.views.crossed_recipe import crossed_scripts
from deniable_statistics.views.figures import Caption, figure
from deniable_statistics.views.recipe import Ingredients, ingredients, scripts
from deniable_statistics.views.view_row import ViewOptions, ViewRow

METHOD_NAMES = {
    "feldman-cousins": "Feldman-Cousins",
    "likelihood-ratio": "likelihood ratio",
    "wilson": "Wilson",
    "clopper-pearson": "Clopper-Pearson",
    "agresti-coull": "Agresti-Coull",
    "jeffreys": "Jeffreys",
    "midp": "mid-P",
    "blaker": "Blaker",
    "wald": "Wald",
}
"""What papers call the methods of intervals that have a name in them."""


MOST_OPTIONS = 20
"""Largest number of rows of a question that an overview draws; its own page has all of them."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, its column, and whether it is a number."""

    text: str
    column: str
    is_number: bool = False


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
    columns : list of (str, bool)
        Headings of the table, and whether a column is of numbers.
    rows : list of (bool, list of Cell)
        Whether the row is too weak to be quoted, and its cells.
    flags : list of (str, str)
        Rows whose data contradict the design, and what is wrong.
    notes : list of str
    methods : str
        Names of the methods of its intervals.
    recipe : list of Ingredients
    scripts : tuple of two str
        Of Python and of R; empty where there are none.
    weak : list of str
        The rules by which rows are called too weak.
    n : int
        Number of replies to both of two crossed questions.
    crossed : list of CrossedIngredients
        The counts behind the rows of two crossed questions.
    channels : list of (str, list of (str, str, str))
        Of two crossed questions their texts, and the probabilities of their answers.
    """

    question: Question
    text: str
    title: str
    sentences: list[str]
    findings: list[PrintedFinding]
    figure: Markup | None
    columns: list[tuple[str, bool]]
    rows: list[tuple[bool, list[Cell]]]
    flags: list[tuple[str, str]]
    notes: list[str]
    methods: str
    recipe: list[Ingredients]
    scripts: tuple[str, str]
    weak: list[str]
    n: int
    crossed: list[CrossedIngredients]
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
    """
    given = None if options.crossed_with is None else survey.question(options.crossed_with)
    text = labels.text(question.text)
    said = sentences(question, rows, options, labels, estimates, given)
    shown = shown_rows(rows)
    drawn = draws and can_draw(rows) and any(row.estimate is not None for row in rows)
    title = text if given is None else title_of(question, given, labels)
    caption = Caption(title, language=labels.words["lang"], direction=labels.words["dir"], description=" ".join(said))
    columns = _columns(question, shown, options, labels, given)
    cells = _Cells(question, labels, columns, given, {} if given is None else sizes(rows, given, labels.words))
    # Recipes and scripts recompute shares of one survey; differences of cohorts take more than a tally.
    is_of_this_survey = options.is_of_shares and not options.over_time
    written = ("", "")
    if url is not None and survey.retention == "reports":
        if given is not None:
            written = crossed_scripts(question, given, url)
        elif is_of_this_survey:
            written = scripts(question, rows, url)
    level = level_text(options.confidence_level, labels.words)
    return Section(
        question=question,
        text=text,
        title=title,
        sentences=said,
        findings=findings(question, rows, options, labels, estimates, given),
        figure=_drawn(question, rows, labels, given, caption) if drawn else None,
        columns=columns,
        rows=[(row.weak, cells.of(row)) for row in shown],
        flags=_flags(question, estimates, labels),
        notes=notes(survey, question, labels),
        methods=", ".join(dict.fromkeys(method_name(row.method) for row in shown)),
        recipe=ingredients(question, rows) if is_of_this_survey else [],
        scripts=written,
        weak=list(weak_rules(question, shown, level, labels.words)),
        n=0 if given is None else shown[0].n or 0,
        crossed=[] if given is None else crossed_ingredients(question, given, rows),
        channels=[] if given is None else [(labels.text(each.text), channels(each)) for each in (question, given)],
    )


def title_of(question: Question, given: Question, labels: Labels) -> str:
    """The title of two crossed questions: one by the other."""
    return labels.words["rBy"].format(question=labels.text(question.text), other=labels.text(given.text))


def _drawn(
    question: Question, rows: Sequence[ViewRow], labels: Labels, given: Question | None, caption: Caption
) -> Markup:
    panels = panels_of(question, rows, labels, given)
    return Markup(figure(panels, caption, alone=False, name=question.id))  # noqa: S704  # escaped there


def sentences(
    question: Question,
    rows: Sequence[ViewRow],
    options: ViewOptions,
    labels: Labels,
    estimates: Sequence[EstimateRow] = (),
    given: Question | None = None,
) -> list[str]:
    """What a view says in words: only what a simultaneous comparison holds, at a level of 95 % or more."""
    words = labels.words
    if not may_say(options) or options.over_time:
        return []
    level = level_text(options.confidence_level, words)
    if given is not None:
        none = words["rNoneAmong"].replace("{other}", labels.text(given.text))
        certain = _differences(question, rows, labels, given)
        return [*certain, words["rDifferencesHold"].format(level=level)] if certain else [none]
    if options.compare:
        if not rows:
            return [words["rOneGroup"]]
        certain = _differences(question, rows, labels)
        return [*(certain or [words["rNoDifference"]]), words["rHoldTogether"].format(level=level)]
    said = [sentence(question, each, options.by_cohort, labels) for each in headlines(question, estimates, words)]
    return said or nobody_yet(estimates, words)


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
    estimates: Sequence[EstimateRow] = (),
    given: Question | None = None,
) -> list[PrintedFinding]:
    """What somebody may print of a view: its sentences as prose, each with the numbers behind it."""
    if not may_say(options) or options.over_time:
        return []
    level = level_text(options.confidence_level, labels.words)
    if given is not None or options.compare:
        return differences_to_print(question, rows, given, level, labels)
    said = headlines(question, estimates, labels.words)
    return findings_of(question, said, options.by_cohort, level, labels)


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


def level_text(level: float, words: Words) -> str:
    """A confidence level, such as *95 %*."""
    return localized(f"{100 * level:g} %", words)


def _columns(
    question: Question, rows: Sequence[ViewRow], options: ViewOptions, labels: Labels, given: Question | None
) -> list[tuple[str, bool]]:
    words = labels.words
    columns = [(words["rOption"], False)]
    if given is not None:
        columns = [(_name_of(given, labels), False), (words["rSize"], False), *columns]
    if options.compare:
        columns += [(words["rGroup"], False), (words["rMinus"], False)]
    elif options.by_cohort:
        columns.append((words["rGroup"], False))
    elif options.over_time:
        columns.append((labels.wave, False))
    # Where devices draw what they ask, each row is of other people.
    if options.is_of_shares and (
        options.by_cohort or options.over_time or len({row.n for row in rows}) > 1 or _is_drawn(question)
    ):
        columns.append((words["rReplies"], True))
    interval = words["rInterval"].format(level=level_text(options.confidence_level, words))
    return [*columns, (words["rDifference"] if options.compare else words["rEstimate"], True), (interval, True)]


def method_name(method: str) -> str:
    """A method of intervals as papers call it.

    >>> method_name("simultaneous feldman-cousins"), method_name("likelihood-ratio"), method_name("mover")
    ('simultaneous Feldman-Cousins', 'likelihood ratio', 'mover')
    """
    kind, _, name = method.rpartition(" ")
    return f"{kind} {METHOD_NAMES.get(name, name)}".strip()


def _is_drawn(question: Question) -> bool:
    return question.mechanism.reports.is_drawn or (question.group is not None and question.group.is_drawn)


def _name_of(given: Question, labels: Labels) -> str:
    """The heading of the column with the answers that make groups; a question may be called as another column is."""
    text = labels.text(given.text)
    return f"{text} ({given.id})" if text in labels.words.values() else text


@dataclass(frozen=True)
class _Cells:
    """What makes the cells of a view's rows.

    Attributes
    ----------
    question : Question
    labels : Labels
    columns : sequence of (str, bool)
    given : Question or None
        The question with which it is crossed.
    groups : mapping of str to str
        How many people are in the groups that this one makes.
    """

    question: Question
    labels: Labels
    columns: Sequence[tuple[str, bool]]
    given: Question | None
    groups: Mapping[str, str]

    def of(self, row: ViewRow) -> list[Cell]:
        """The cells of a row, in the order of the columns."""
        texts = {**self._whose(row), **self._number(row)}
        return [Cell(texts[name], name, is_number) for name, is_number in self.columns]

    def _whose(self, row: ViewRow) -> Mapping[str, str]:
        labels, words = self.labels, self.labels.words
        texts = {
            words["rOption"]: labels.row(self.question, row),
            words["rGroup"]: labels.cohort(row.cohort),
            words["rMinus"]: "" if row.minus is None else labels.cohort(row.minus),
            words["rReplies"]: "" if row.n is None else counted(row.n, words),
        }
        if row.wave is not None:
            texts[labels.wave] = labels.waves[row.wave]
        if self.given is not None and row.given_option is not None:
            texts[words["rSize"]] = self.groups[row.given_option]
            texts[_name_of(self.given, labels)] = labels.option(self.given, row.given_option)
        return texts

    def _number(self, row: ViewRow) -> Mapping[str, str]:
        words = self.labels.words
        show = number if row.statistic.startswith("mean") else points if row.statistic == "difference" else percent
        unit = words["rPoints"] if row.statistic == "difference" else ""
        value, interval = self.columns[-2][0], self.columns[-1][0]
        if row.value is None:
            return {value: "\u2013", interval: "\u2013"}
        span = words["rTo"].format(low=show(row.low), high=show(row.high))
        return {value: localized(show(row.value) + unit, words), interval: localized(span, words)}


def points(difference: float | None) -> str:
    """A difference of shares in percentage points, without a unit.

    >>> points(-0.2068)
    '\u221220.7'
    """
    return percent(difference).removesuffix(" %")


def _flags(question: Question, estimates: Sequence[EstimateRow], labels: Labels) -> list[tuple[str, str]]:
    return [
        (labels.row(question, row) + (f" ({labels.cohort(row.cohort)})" if row.cohort else ""), row.flag)
        for row in estimates
        if row.flag
    ]


def notes(survey: Survey, question: Question, labels: Labels) -> list[str]:
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

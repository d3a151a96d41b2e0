"""What is said of a survey before it is published, line by line: by ``deniable survey check`` and by the bench."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from deniable import Question, Survey, odds_sentences, weak_protection, whole_odds_sentences
from deniable.access.hosts import is_loopback
from deniable.errors import BudgetError, SurveyError
from deniable.mechanisms.longitudinal import waves_of
from deniable.privacy.ceiling import WARN_QUESTION, Ceiling
from deniable.survey.arrangement import Block, name_of
from deniable.survey.group import Group
from deniable.survey.order import RandomOrder
from deniable.survey.texts import EVERY_OTHER, Text, publish_text
from deniable.survey.unit import Unit
from deniable_statistics.authoring.analyses import alternatives_for, analyses_of
from deniable_statistics.authoring.authoring import DOES_NOT_APPLY
from deniable_statistics.authoring.cautions import release_note, release_warning, unlinkable_warning
from deniable_statistics.authoring.look_alikes import by_language, loose_skeleton, nearly_alike
from deniable_statistics.authoring.respondents import at_single_shares, comparison, group_sentences
from deniable_statistics.published.license import LICENSES, License

LONG_LINE = 60
"""Number of characters from which on a line of a text probably ends where an editor ends lines."""

ENDS_OF_SENTENCES = frozenset('.!?:;,)"\u201d\u201c\u00bb\u2019\u2026\u061f\u06d4\u3002')
"""Characters after which a line may well end; a comma too, as in a list."""

OUR_WORDS = [publish_text(DOES_NOT_APPLY)]
"""Options as published whose translations we provide, so that authors need none."""


def question_lines(question: Question, survey: Survey) -> Iterator[str]:
    """The noise of a question, what it was compared with, what it does in words, and what can be analysed.

    Of a question with a filter also who is asked, and what that costs.
    """
    mechanism = question.mechanism
    waves = f" of all waves, {kept.wave_epsilon:.4f} of one" if (kept := waves_of(mechanism)) else ""
    yield f"{mechanism.name}, epsilon {question.epsilon:.4f}{waves}{_asked_in(question)}"
    yield from comparison(question)
    if single := at_single_shares(question):
        yield single
    yield from odds_sentences(question)
    yield from _options_lines(question)
    possible = analyses_of(question)
    yield f"Can be analysed: {'; '.join(name for name, is_possible in possible.items() if is_possible)}"
    if 0 < mechanism.reports.share_of_pairs < 1:
        one_in = f"{1 / mechanism.reports.share_of_pairs:,.0f}"
        yield f"A crosstab of two boxes comes from the reports that drew both: one in {one_in}"
    if impossible := missing_analyses(question, possible):
        yield f"Cannot be analysed: {'; '.join(impossible)}"
    for alternative in alternatives_for(question):
        yield f"Instead: {alternative}"
    if question.ask_if:
        from deniable_statistics.authoring.filter_cost import filter_sentences  # which takes numpy

        yield from filter_sentences(question, survey)


def _options_lines(question: Question) -> Iterator[str]:
    if question.apart:
        names = ", ".join(repr(str(each)) for each in question.apart)
        yield f"{names}: through the same noise as the other options; shares are of everybody, these people included"
    if question.order:
        yield "Options are shown in a random order, which each device draws before anybody answers and never sends"


def _asked_in(question: Question) -> str:
    """The group of a question, as the end of a sentence; empty for none."""
    group = question.group
    return f", {group}, asked of {group.draw} in {group.size}" if group else ""


def group_lines(unit: Unit, group: Group) -> list[str]:
    """Lines about a group: its questions, the mechanisms that were compared, and the analyses that it excludes."""
    ids = ", ".join(each.id for each in unit.questions)
    how = "in one response" if group.joint else "each with a mechanism of its own"
    lines = [f"{str(group).capitalize()} ({ids}): each device asks {group.draw} of {group.size}, {how}"]
    lines += group_sentences(unit)
    if group.draw == 1:
        lines.append(f"Two of them cannot be cross-tabulated, because nobody is asked both.{_to_cross(unit)}")
    elif group.is_drawn:
        # s of k questions are drawn without replacement: two given ones together with s (s - 1) / (k (k - 1)).
        one_in = group.size * (group.size - 1) / (group.draw * (group.draw - 1))
        lines.append(f"A crosstab of two of them comes from the people who are asked both: one in {one_in:,.3g}")
    if group.joint:
        lines.append(
            "Two of them cannot be in the same regression, and three of them cannot be cross-tabulated, because one "
            "random draw goes into all answers of a person."
        )
    return lines


def _to_cross(unit: Unit) -> str:
    """The way out where each device asks one question of a group; empty if fewer than two have shares to cross."""
    if sum(each.has_shares for each in unit.questions) < 2:
        return ""
    return ' To cross two questions, write want = ["shares", "crosstabs"]: then each device asks at least two.'


def whole_lines(checked: Survey) -> Iterator[str]:
    """What a person loses by the whole survey, and what the whole reply tells."""
    yield f"Whole survey: epsilon {checked.epsilon:.4f}, {_asks(checked)}"
    yield from whole_odds_sentences(checked)


def _asks(checked: Survey) -> str:
    """The number of questions that one person is asked, in words."""
    asked = len(checked.questions)
    share = f"{checked.asks} of {asked}" if checked.is_drawn else str(asked)
    return f"{share} question{'' if asked == 1 else 's'} a person"


def presentation(checked: Survey) -> Iterator[str]:
    """A line on each of contact, licence, layout, completion and look that the survey sets."""
    if checked.contact is not None:
        yield f"Contact: {_on_one_line(checked.contact)}"
    if stated := License.of(checked):
        yield f"Licence of the results: {stated.cited}"
    if checked.layout == "page":
        yield "Layout page: all questions are on one page"
    if checked.arrangement:
        yield from _arrangement_lines(checked.arrangement)
    if completion := checked.completion:
        parts = [
            completion.link and f"link {completion.link}",
            completion.code and f"code {completion.code} for everybody",
            completion.code_length and f"each device draws a code of {completion.code_length} letters and digits",
        ]
        yield f"Completion: {'; '.join(part for part in parts if part)}"
    if look := checked.look:
        accent = f"accent {look.accent}, {look.accent_dark} in dark mode"
        logo = look.logo and (
            f"logo {look.logo.type} of {' x '.join(map(str, look.logo.size))} pixels, {len(look.logo.data):,} bytes, "
            f"read out as {_on_one_line(look.logo.text)!r}"
        )
        yield f"Look: {'; '.join(part for part in (look.accent and accent, logo) if part)}"


def _arrangement_lines(root: Block) -> Iterator[str]:
    """A line on each part of an arrangement: its questions, and whether they are shown in a random order."""
    for each in (root, *root.blocks):
        if each is not root or each.order:
            name = "survey" if each is root else name_of(each)
            n = len(each.ids)
            yield f"{name[0].upper()}{name[1:]}: {n} question{'' if n == 1 else 's'}{_order_in_words(each.order)}"


def _order_in_words(order: RandomOrder | None) -> str:
    if order is None:
        return ""
    fixed = [f"the {place} {n}" for n, place in ((order.fixed_first, "first"), (order.fixed_last, "last")) if n]
    return f", in a random order{f', in which {joined} stay in place' if (joined := ' and '.join(fixed)) else ''}"


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def missing_analyses(question: Question, possible: Mapping[str, bool]) -> list[str]:
    """The analyses that a question does not allow, without the mean of a question whose options are no numbers."""
    return [
        name
        for name, is_possible in possible.items()
        if not is_possible and (name != "mean" or question.kind.has_numbers)
    ]


def refusals(checked: Survey) -> list[str]:
    """Reasons why nobody can answer a survey, or get on from it: publishing refuses these."""
    found = []
    try:
        Ceiling().check(checked)
    except BudgetError as error:
        found.append(f"{error}: devices refuse this survey unless their owners raise the ceiling")
    return [*found, *_dead_ends(checked)]


def check_answerable(checked: Survey, force: str) -> None:
    """Raise a SurveyError, with the way out, for a survey of a past day, or one that leads to nowhere.

    Parameters
    ----------
    checked : Survey
    force : str
        What its author has to do to publish it in spite of this, for the message.
    """
    for reason in _dead_ends(checked):
        raise SurveyError(f"{reason}, so it was not published; mend it, or {force}")


def _dead_ends(checked: Survey) -> Iterator[str]:
    today = datetime.datetime.now(datetime.UTC).date()
    if checked.closes and checked.closes < today:
        yield f"closes: {checked.closes} is past; no report will be taken"
    links = {
        "completion.link": checked.completion and checked.completion.link,
        "issuer.url": checked.issuer and checked.issuer.url,
    }
    for name, link in links.items():
        if link and is_loopback(host_of(link)):
            yield f"{name}: {link} leads every respondent to a page of their own computer"


def host_of(link: str) -> str:
    """The host of a link, an IPv6 address in brackets."""
    host = urlsplit(link).hostname or ""
    return f"[{host}]" if ":" in host else host


def warnings_about(checked: Survey, respondents: int | None = None) -> list[str]:
    """Warnings before publishing: little noise, missing translations, small cohorts.

    Cohorts are small or not only with a planned number of respondents.
    """
    warnings = _weak(checked)
    warnings += [
        f"question {question.id!r}: fresh = {checked.fresh!r} draws its permanent value anew, at its whole epsilon; "
        "without fresh, each survey is a wave of its own"
        for question in checked.questions
        if checked.fresh and waves_of(question.mechanism)
    ]
    of_cohorts = [
        _of_a_template(checked),
        _named_people(checked),
        unlinkable_warning(checked, respondents),
        release_warning(checked, respondents) if respondents is not None else None,
    ]
    return [*warnings, *filter(None, of_cohorts), *_easily_confused(checked), *missing_translations(checked)]


def _easily_confused(checked: Survey) -> Iterator[str]:
    """A warning of each two names that are different and hardly look so: options, cohorts and questions."""
    named = [("cohorts", checked.cohorts)]
    for question in checked.questions:
        where = f"question {question.id!r}: options"
        named += [(where, question.choices)]
        named += [(f"{where} in {language}", spoken) for language, spoken in by_language(question.choices)]
    for where, names in named:
        for first, second in nearly_alike(names):
            yield f"{where}: {first!r} and {second!r} differ so little that people may take one for the other"
    blocks = checked.arrangement.blocks if checked.arrangement else ()
    asked: dict[object, str] = {}
    for question in checked.questions:
        # Another section, filter or text before it makes another question of the same words.
        around = [block.ids for block in blocks if question.id in block.ids], question.ask_if, question.before
        other = asked.setdefault(repr((loose_skeleton(question.text), around)), question.id)
        if other != question.id:
            yield f"questions {other!r} and {question.id!r} ask the same in the same words"


def _of_a_template(checked: Survey) -> str | None:
    """A warning that respondents would read a template's institution in the place of the author's; None otherwise."""
    named = {"organiser": checked.organiser, "contact": checked.contact}
    left = [key for key, value in named.items() if value and any(map(_is_placeholder, _versions(value)))]
    if not left:
        return None
    return (
        f"{' and '.join(left)}: {'is' if len(left) == 1 else 'are'} still the template's; respondents read "
        f"{'it' if len(left) == 1 else 'them'} on the first screen"
    )


def _versions(text: str) -> Collection[str]:
    return text.translations.values() if isinstance(text, Text) else (text,)


def _is_placeholder(text: str) -> bool:
    return "your-institution" in text.lower().replace(" ", "-")


def _named_people(checked: Survey) -> str | None:
    """A warning of cohorts that look like the address of one person; None without any."""
    people = [repr(str(each)) for each in checked.cohorts if "@" in each]
    if not people:
        return None
    return (
        f"cohorts: {', '.join(people[:3])} {'looks' if len(people) == 1 else 'look'} like one person's address; a "
        "cohort stands in clear in each reply, so it must be one of many people"
    )


def _weak(checked: Survey) -> list[str]:
    """Warnings of little protection: a sentence for all questions of the same epsilon, and one for the whole survey."""
    sentences = weak_protection(checked)
    weak = [each for each in checked.questions if each.epsilon > WARN_QUESTION]
    alike: dict[str, list[str]] = {}
    for each in weak:
        alike.setdefault(f"{each.epsilon:.3g}", []).append(repr(each.id))
    if len(alike) == len(weak):
        return sentences
    together = [
        f"question{'' if len(ids) == 1 else 's'} {', '.join(ids)}: epsilon {epsilon} protects little "
        f"(above {WARN_QUESTION:g})"
        for epsilon, ids in alike.items()
    ]
    return [*together, *sentences[len(weak) :]]


def notes_about(checked: Survey, respondents: int | None = None) -> Iterator[str]:
    """What an author may want to know and need not change."""
    if note := release_note(checked):
        yield note + ("" if respondents else ". 'survey check FILE --respondents 20' shows how many of 20 would wait")
    if checked.revises:
        yield (
            f"revises: survey {checked.revises}; what stays the same, "
            f"'deniable survey revise {checked.revises} FILE --dry-run' says"
        )
    yield from _broken_sentences(checked)
    if checked.contact is None:
        yield 'contact says whom respondents can ask, such as contact = "ethics@uni.example"; it is not set'
    if (stated := License.of(checked)) and stated.address is None:
        yield f"license: is shown as you wrote it; programs read an address, or one of {', '.join(LICENSES)}"
    if checked.cohorts and not checked.cohort_required:
        yield "a link without a cohort can be answered too; cohort_required = true refuses it as incomplete"


def missing_translations(checked: Survey) -> list[str]:
    """A sentence for each language that some texts have and others lack."""
    texts = list(texts_of(checked))
    several = [text for _, text in texts if isinstance(text, Text)]
    spoken = {language for text in several for language in text.translations}
    # Of a language whose texts are the defaults, texts in one language are too.
    languages = sorted(spoken - {EVERY_OTHER} - set(_of_defaults(several)))
    sentences = []
    for language in languages:
        without = [name for name, text in texts if not isinstance(text, Text) or language not in text.translations]
        if without:
            shown = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
            sentences.append(f"{language}: is missing in {shown}; people who read it see the default there")
    return sentences


def _broken_sentences(checked: Survey) -> Iterator[str]:
    """A sentence for each text with a long line that ends within a sentence, where an editor ended it for its width."""
    for name, text in texts_of(checked):
        lines = str(text).splitlines()
        for number, (line, following) in enumerate(itertools.pairwise(lines), start=1):
            if len(line) >= LONG_LINE and following.strip() and line.rstrip()[-1:] not in ENDS_OF_SENTENCES:
                yield (
                    f"{name}: line {number} ends within a sentence, and people see the break; a backslash at its end "
                    "joins it with the next line"
                )
                break


def _name_of_option(question: Question, option: str) -> str:
    """The name by which an author finds an option, or the label of a level, which reports hold without it."""
    if question.kind.has_numbers:
        return f"the label of level {option} of {question.id}"
    return f"the option {str(option)!r} of {question.id}"


def _of_defaults(texts: Sequence[Text]) -> Iterator[str]:
    """The language in which the default texts are, where a survey's file says it."""
    # A text with one translation that is equal to its default is a name that stays the same.
    if any(len(each.translations) == 1 for each in texts):
        return
    for language in texts[0].translations if texts else ():
        if all(each.translations.get(language) == each.in_language(EVERY_OTHER) for each in texts):
            yield language


def texts_of(checked: Survey) -> Iterator[tuple[str, str]]:
    """Pairs of a name, by which the author finds a text, and the text, for all texts that need a translation."""
    yield "title", checked.title
    if checked.about is not None:
        yield "about", checked.about
    if checked.sample is not None:
        yield "sample", checked.sample
    if checked.thanks is not None:
        yield "thanks", checked.thanks
    if checked.completion and checked.completion.text is not None:
        yield "completion.text", checked.completion.text
    if checked.look and checked.look.logo:
        yield "look.logo_text", checked.look.logo.text
    for block in checked.arrangement.blocks if checked.arrangement else ():
        for name, text in (("heading", block.heading), ("text", block.text)):
            if text is not None:
                yield f"the {name} of {name_of(block)}", text
    # Organiser and contact may be the same in every language.
    for question in checked.questions:
        yield f"the text of {question.id}", question.text
        for name, text in (("text before", question.before), ("help", question.help), ("unit", question.unit)):
            if text is not None:
                yield f"the {name} of {question.id}", text
        # So may options that are numbers, unless they have labels. Yes and No are ours, also beside a third option.
        for option in question.options[len(question.kind.options) :]:
            if publish_text(option) not in OUR_WORDS and (any(map(str.isalpha, option)) or isinstance(option, Text)):
                yield _name_of_option(question, option), option

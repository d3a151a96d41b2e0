"""The screens of ``deniable answer``: functions that return paragraphs and keep nothing."""

from __future__ import annotations

import datetime
import math
import os
import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from deniable import Question, Report, Survey, odds_sentences, whole_odds_sentences
from deniable.privacy.ceiling import Ceiling, weakness
from deniable.privacy.odds import plainest
from deniable.survey.question_types import AnswerKind
from deniable.survey.texts import EVERY_OTHER, Text
from deniable.wire.space import ReportValue
from deniable_client.answer import messages as m
from deniable_client.answer.simulator import split
from deniable_client.audit.answers import extreme_answers
from deniable_client.client import CLIENT, tells_use
from deniable_client.collector_connection import Hindrance
from deniable_client.completion import PersonalCompletion
from deniable_client.device import Given, range_of
from deniable_client.memory import Disclosure, KeptReport

WIDTH = 80
MARGIN = "    "
"""Prefix of every line that a survey's author or a collector wrote, so that none can pass for one of ours."""

# Control characters drive terminals, and these marks reorder what stands beside them.
_UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

PACE = 4
"""Questions that people answer in a minute, for the time that a survey takes."""

Paragraphs = list[str]


def show(paragraphs: Iterable[str], *, err: bool = False) -> None:
    """Print paragraphs, an empty line after each, no wider than the terminal."""
    width = min(WIDTH, shutil.get_terminal_size().columns)
    for paragraph in paragraphs:
        for line in paragraph.split("\n"):
            # Lines of others keep their margin when they wrap, so that none can pass for ours.
            margin = MARGIN if line.startswith(MARGIN) else ""
            click.echo(textwrap.fill(line, width, subsequent_indent=margin, break_on_hyphens=False), err=err)
        click.echo(err=err)


@contextmanager
def aside() -> Iterator[None]:
    """The terminal's alternate screen, which leaves no text behind, for answers that the person asked to read."""
    has_one = os.environ.get("TERM", "dumb") != "dumb"
    # The alternate screen of xterm: what is shown there is in no scrollback.
    click.echo("\x1b[?1049h\x1b[H" if has_one else "", nl=False)
    try:
        yield
    finally:
        click.echo("\x1b[?1049l" if has_one else "", nl=False)


def own(text: str) -> str:
    """A text of a survey or a collector, indented and without control characters."""
    return "\n".join(MARGIN + _UNSAFE.sub("\ufffd", line) for line in text.split("\n"))


def inline(text: str) -> str:
    """A text of a survey within a line of ours, on one line and without control characters."""
    return " ".join(_UNSAFE.sub("\ufffd", text).split())


def label_of(question: Question, option: str) -> str:
    """An option as people read it."""
    # Yes and No are the program's own words, in every survey.
    return {"yes": m.YES, "no": m.NO}[option] if option in question.kind.options else inline(option)


def consent(survey: Survey, cohort: str | None, *, is_kiosk: bool, told: Disclosure | None = None) -> Paragraphs:
    """The screen of consent: who asks, what is sent, who can learn how much, and what the device sent before."""
    told = told or Disclosure()
    most = Ceiling()
    weak = weakness(survey, told.collector)
    process = m.said(weak, process=m.PROCESS, processWeak=m.PROCESS_WEAK)
    no_admission = m.said(weak, noAdmission=m.NO_ADMISSION) if _has_yes(survey) else ""
    return [
        own(survey.title),
        *([f"{m.ASKED_BY}\n{own(survey.organiser)}"] if survey.organiser else []),
        *([own(survey.about)] if survey.about else []),
        *([f"{m.CONTACT.format(contact=inline(survey.contact))} {m.CONTACT_SHOWS}"] if survey.contact else []),
        m.said(weak, unsure=m.UNSURE, hint=m.HINT, weak=m.WEAK),
        process if cohort is None else f"{process} {m.COHORT.format(cohort=inline(cohort))}",
        f"{m.said(weak, why=m.WHY, whyWeak=m.WHY_WEAK)} {no_admission}".rstrip(),
        *([m.LIVE] if survey.results == "live" else []),
        *([] if is_kiosk and survey.access == "open" else [_access(survey)]),
        drawn(survey, is_kiosk=is_kiosk) if survey.is_drawn else _time(survey, m.QUESTIONS_HERE),
        *([m.KIOSK] if is_kiosk else []),
        *([m.SAME] if told.is_same else []),
        *(
            [m.TOLD.format(own=_percent(told.collector, most.survey), all=_percent(told.device, most.device))]
            if told.has_told
            else []
        ),
        # What Start really sends differs: an invitation to be signed for, the hash of one, or nothing.
        m.START_SENDS if survey.issuer else m.HASH_SENT if tells_use(survey) else m.NOTHING_YET,
    ]


def _access(survey: Survey) -> str:
    return {"open": m.OPEN, "invited": m.INVITED, "unlinkable": m.UNLINKABLE}[survey.access]


def _has_yes(survey: Survey) -> bool:
    return any(asked.kind.is_yes_no for asked in survey.questions)


def _time(survey: Survey, text: str) -> str:
    minutes = m.numbered(m.MINUTES, math.ceil(survey.asks / PACE))
    return m.numbered(text, survey.asks, all=len(survey.questions), minutes=minutes)


def drawn(survey: Survey, *, is_kiosk: bool) -> str:
    """Sentences that this device asks only some of the questions, how long they take, and that it remembers which."""
    sentence = _time(survey, m.DRAWN)
    needed = f" {m.NEEDED}" if survey.asks_more else ""
    return f"{sentence}{needed}" if is_kiosk else f"{sentence}{needed} {m.DRAWN_KEPT}"


def onlookers(survey: Survey, told: Disclosure) -> Paragraphs:
    """Paragraphs on who could learn an answer, as strong as the consent."""
    weak = weakness(survey, told.collector)
    return [f"{m.said(weak, cannot=m.CANNOT, guess=m.GUESS)}: {m.CANNOT_TEXT}", f"{m.CAN}: {m.CAN_TEXT}"]


def invitation(survey: Survey) -> Paragraphs:
    """A paragraph on the use of an invitation, and on who can see it."""
    text = {"invited": m.INVITED_TEXT, "unlinkable": m.UNLINKABLE_TEXT}.get(survey.access)
    return [f"{m.INVITATION}: {text}"] if text else []


def odds(survey: Survey, told: Disclosure | None = None) -> Paragraphs:
    """A paragraph on the noise of the question that it protects least, and of the whole survey."""
    least = odds_sentences(plainest(survey.questions))
    shown = [m.ODDS_LEAST, least[0]] if len(survey.questions) > 1 else least
    title = odds_title(weakness(survey, (told or Disclosure()).collector))
    return ["\n".join([f"{title}:", *shown, *whole_odds_sentences(survey)])]


def odds_title(weak: int) -> str:
    """What stands above figures of chance: it protects people only where the survey's noise is strong enough."""
    return m.ODDS_WEAK if weak > 1 else m.ODDS


def _percent(part: float, most: float) -> int:
    # Rounded up: a share of a ceiling must not look smaller than it is.
    return math.ceil(100 * part / most)


def place(questions: Sequence[Question], number: int) -> str:
    """Where a question stands among those that there may be; how many there are would tell who is asked."""
    text = m.PLACE_MOST if any(each.ask_if for each in questions) else m.PLACE
    return text.format(n=number, all=len(questions)) if len(questions) > 1 else ""


def question(asked: Question, place: str, choices: Sequence[str] | None = None) -> Paragraphs:
    """The screen of one question: its place, its text and its options, perhaps in an order of this device."""
    options = [f"{n}  {label_of(asked, option)}" for n, option in enumerate(choices or asked.choices, start=1)]
    if asked.kind.answers is AnswerKind.LEVELS:
        options = [inline(each.in_language(EVERY_OTHER)) for each in asked.choices if isinstance(each, Text)]
    listed = own("\n".join(options)) if not asked.noise_kind.options and options else ""
    before, helped = (own(text) if text else "" for text in (asked.before, asked.help))
    return [each for each in (before, place, own(asked.text), helped, hint(asked), listed) if each]


def hint(asked: Question) -> str:
    """A hint at the form of the answer, where the question alone does not show it."""
    if asked.kind.has_numbers:
        lo, hi = range_of(asked)
        return " ".join([m.RANGE.format(lo=lo, hi=hi), *([f"({inline(asked.unit)})"] if asked.unit else [])])
    alone = [m.EXCLUSIVE.format(option=inline(asked.options[each])) for each in sorted(asked.exclusive)]
    return " ".join([m.TICKS_OR_NONE if alone else m.TICKS, *alone]) if asked.kind.takes_several else ""


def review(questions: Sequence[Question], answers: Mapping[str, Given] | None = None) -> Paragraphs:
    """The list of answered questions; with the answers only if the person asked to see them."""
    lines = []
    for number, asked in enumerate(questions, start=1):
        lines += [f"{number}  {m.ANSWERED if answers is None else spoken(asked, answers[asked.id])}", own(asked.text)]
    return [m.REVIEW if answers is None else m.YOURS, "\n".join(lines)]


def spoken(asked: Question, given: Given) -> str:
    """An answer as people read it."""
    if isinstance(given, (str, int)):
        label = label_of(asked, str(given))
        return f"{label} {inline(asked.unit)}" if asked.unit else label
    return ", ".join(map(inline, given)) or m.NONE


def receipt(
    survey: Survey,
    collector: str,
    *,
    is_old: bool,
    is_mine: bool = True,
    is_kiosk: bool = False,
    told: Disclosure | None = None,
    report: bytes | None = None,
    completion: PersonalCompletion | None = None,
) -> Paragraphs:
    """The receipt, with the same words on protection as the consent.

    The report itself is shown only to people who asked for it, because people read a No as a denial. ``is_mine`` is
    False if the link bears the invitation of another person who uses this device, who has sent nothing and so gets no
    thanks and no way back. ``is_kiosk`` says that this device keeps nothing.
    """
    weak = weakness(survey, (told or Disclosure()).collector)
    # Questions with equal noise have equal sentences, which are shown once.
    each = list(dict.fromkeys(sentence for asked in survey.questions for sentence in odds_sentences(asked)))
    # Nobody is sent to a page that is for holders of a token alone.
    results = [f"{m.RESULTS}: {collector}/s/{survey.id}/results"] if survey.readers == "public" else []
    return [
        m.SENT_BEFORE if is_old else f"{m.DONE} {m.SENT}",
        f"{m.KIOSK_CLEARED if is_kiosk else m.SENT_KEPT} {m.MIXED_IN}",
        *({"invited": [m.INVITED_USED] * is_mine, "unlinkable": [m.UNLINKABLE_USED]}.get(survey.access, [])),
        m.said(weak, weakSent=m.WEAK_SENT, chance=m.CHANCE if _has_yes(survey) else m.CHANCE_OTHER),
        "\n".join(whole_odds_sentences(survey)),
        "\n".join([f"{m.ODDS_EACH}:", *each] if len(survey.questions) > 1 else each),
        when_results_change(survey, weak),
        "\n".join([f"{m.SURVEY}: {survey.id}", f"{m.CLIENT}: {CLIENT}", *results]),
        *([f"{m.JSON}:\n{own(report.decode('ascii'))}"] if report else []),
        *([own(survey.thanks)] if survey.thanks and is_mine else []),
        *(way_back(completion, survey) if completion and is_mine else []),
    ]


def when_results_change(survey: Survey, weak: int) -> str:
    """What the page of results shows, to whom, and when it changes, at a degree of weakness of the protection."""
    listed = m.said(weak, resultsList=m.RESULTS_LIST, resultsListWeak=m.RESULTS_LIST_WEAK)
    shows = m.RESULTS_TOTALS if survey.retention == "tallies" else listed
    to_whom = m.RESULTS_TOKEN if survey.readers == "token" else m.RESULTS_PUBLIC
    batches = m.RESULTS_BATCHES.format(n=survey.release, group=m.OF_GROUP if survey.cohorts else "")
    when = {"live": m.RESULTS_LIVE, "closed": m.RESULTS_CLOSED}.get(survey.results, batches)
    return f"{shows} {to_whom} {when}"


def way_back(completion: PersonalCompletion, survey: Survey) -> Paragraphs:
    """Paragraphs on the way back to a panel, the link on a line of its own."""
    is_same = survey.completion is not None and survey.completion.code is not None
    code = [m.CODE_IS.format(code=completion.code), m.CODE_SAME if is_same else m.CODE_DRAWN]
    return [
        *([own(completion.text)] if completion.text else []),
        *(code if completion.code else []),
        *([own(completion.link)] if completion.link else []),
    ]


def in_words(asked: Question, value: ReportValue | None) -> Paragraphs:
    """A noisy value in words, a line for each thing that it says; None where the question was not drawn."""
    if value is None:
        return [m.NOT_DRAWN]
    labels = [label_of(asked, option) for option in asked.options]
    if isinstance(value, str):
        # A mark for each option, or two for each box that may be drawn: 01 for a tick, 10 for none, 00 if not drawn.
        marks = len(value) // len(labels)
        said = [(what, int(value[marks * n : marks * (n + 1)], 2)) for n, what in enumerate(labels)]
        if not asked.kind.takes_several:
            return [m.SENT_SET.format(what=" · ".join(what for what, mark in said if mark))]
        sentences = {1: m.SENT_BOX, 0: m.SENT_NO_BOX, 2: m.SENT_NO_BOX}
        return [sentences[mark].format(what=what) for what, mark in said if marks < 2 or mark]
    if not asked.mechanism.has_shares:
        # The last report of a question with a filter is no number.
        steps = asked.mechanism.reports.size - (asked.ask_if is not None)
        if value == steps:
            return [m.SENT_OTHERS]
        return [m.SENT_STEP.format(n=value + 1, all=steps) if steps > 2 else m.SENT_HIGH if value else m.SENT_LOW]
    return [labels[value] if labels else str(value)]


def told(survey: Survey, report: Report, has_arrived: bool) -> Paragraphs:
    """What a report told its survey, or will tell it, in words."""
    each = ["\n".join([own(asked.text), *in_words(asked, report.values[asked.id])]) for asked in survey.questions]
    return [own(survey.title), *([m.IN_WORDS_TEXT] if has_arrived else []), *each]


def history(replies: Iterable[KeptReport], used: Mapping[str, float], all_used: float, path: Path) -> Paragraphs:
    """What a device has told, by collector, and how to forget it: ``used`` is epsilon within 90 days, in nats."""
    paragraphs = [m.DEVICE_TITLE]
    for collector, epsilon in used.items():
        sentences = {"sent": m.DEVICE_EACH, "waiting": m.DEVICE_WAITS, "refused": m.DEVICE_REFUSED}
        lines = [
            sentences[reply.state].format(survey=f"{collector}/s/{reply.survey}")
            for reply in replies
            if reply.collector == collector
        ]
        left = m.DEVICE_LEFT.format(n=max(0, 100 - _percent(epsilon, Ceiling().survey)))
        paragraphs += ["\n".join(lines), f"{m.DEVICE_LIMIT} {left}"]
    if not used:
        return [*paragraphs, m.DEVICE_NONE]
    total = m.DEVICE_ALL.format(n=_percent(all_used, Ceiling().device))
    return [*paragraphs, total, m.HISTORY_WORDS, f"{m.FORGET_TEXT} {m.FORGET_FILE.format(path=path)}"]


def notice(title: str, *sentences: str, detail: str = "") -> Paragraphs:
    """A notice that ends or interrupts the survey: a heading, sentences, and the message of a program."""
    return [f"{title.rstrip('.')}.", *sentences, *([f"{m.DETAILS}:\n{own(detail)}"] if detail else [])]


def not_open(
    survey: Survey, today: datetime.date, cohort: str | None, invitation: str | None = None
) -> Paragraphs | None:
    """A notice that the survey takes no answers on that day (UTC) or through that link; None if it does."""
    # Checked here first: a collector need not be asked about days that the survey itself states.
    if survey.opens and today < survey.opens:
        return notice(m.EARLY, m.EARLY_TEXT.format(day=_spelt(survey.opens)))
    if survey.closes and today > survey.closes:
        return notice(m.CLOSED, m.CLOSED_TEXT.format(day=_spelt(survey.closes)))
    is_invited = survey.access == "open" or invitation is not None
    if not is_invited or not survey.takes_cohort(cohort):
        return notice(m.CUT, m.INCOMPLETE)
    return None


def hindered(survey: Survey, hindrance: Hindrance) -> Paragraphs:
    """A notice that the collector would take no report, as it said before the first question."""
    if hindrance == "early" and survey.opens:
        return notice(m.EARLY, m.EARLY_TEXT.format(day=_spelt(survey.opens)))
    if hindrance in ("used", "unknown"):
        return notice(m.USED_BEFORE if hindrance == "used" else m.UNKNOWN, m.NOT_ASKED)
    why = m.CLOSED_FULL.format(n=survey.closes_at) if survey.closes_at else m.CLOSED_NOW
    return notice(m.CLOSED, why, m.NOTHING_ASKED)


def trial(survey: Survey) -> Paragraphs:
    """The reports of typing send 100 times, for the two most different answers to each question."""
    paragraphs = [own(survey.title), m.TRY_TITLE]
    for asked in survey.questions:
        lines = [own(asked.text), *odds_sentences(asked)]
        # The two extremes differ most in what they send; every other answer lies between.
        for answer, name in zip(extreme_answers(asked), (m.TRY_NOTHING, m.TRY_EVERYTHING), strict=True):
            shown = name if asked.kind.takes_several else spoken(asked, answer)
            lines.append(m.TRY_IF.format(answer=shown))
            lines.append(own("\n".join(f"{n:>3}  {label_of(asked, what)}" for what, n in split(asked, answer).items())))
        paragraphs.append("\n".join(lines))
    return paragraphs


def _spelt(day: datetime.date) -> str:
    return f"{day.day} {day:%B %Y}"

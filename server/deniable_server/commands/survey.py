"""``deniable survey check | publish | list | close``"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
from click.core import ParameterSource

from deniable import Question, Survey, odds_sentences, read_survey, weak_protection, whole_odds_sentences
from deniable.access.words import ONE_REPORT, ONE_REPORT_HEADING, enforced
from deniable.commands.files import folder_of
from deniable.commands.main import example
from deniable.errors import BudgetError
from deniable.mechanisms.longitudinal import waves_of
from deniable.privacy.ceiling import Ceiling, check_askable
from deniable.survey.cohorts import release_note, release_warning, unlinkable_warning
from deniable.survey.group import Group
from deniable.survey.texts import EVERY_OTHER, Text, publish_text
from deniable.survey.unit import Unit
from deniable.table import format_table
from deniable_server.access import remote
from deniable_server.commands import options
from deniable_server.commands.trail import operation
from deniable_server.location import Location
from deniable_server.people.links import id_at, people_link
from deniable_statistics.authoring.analyses import alternatives_for, analyses_of
from deniable_statistics.authoring.authoring import SPOKEN_NO_YES
from deniable_statistics.authoring.respondents import comparison, group_sentences

if TYPE_CHECKING:
    # Where it is used it is imported: it takes a second, and `survey check` works where no collector is installed.
    from deniable_server.store import Store

FILE = click.argument("file", type=click.File("rb"))

OUR_WORDS = [publish_text(each) for each in SPOKEN_NO_YES]
"""The options yes and no as published, whose translations we provide, so that authors need none."""

_STANDING = {"open": "open", "early": "not open yet", "closed": "closed"}
"""The words for each `Standing` in the list of surveys."""


@click.group()
def survey() -> None:
    """Check, publish, list and close surveys."""


def _asked_in(question: Question) -> str:
    """The group of a question, as the end of a sentence; empty for none."""
    group = question.group
    return f", {group}, asked of {group.draw} in {group.size}" if group else ""


def _group_lines(unit: Unit, group: Group) -> str:
    """Lines about a group: its questions, the mechanisms that were compared, and the analyses that it excludes."""
    ids = ", ".join(each.id for each in unit.questions)
    how = "in one response" if group.joint else "each with a mechanism of its own"
    lines = [f"{str(group).capitalize()} ({ids}): each device asks {group.draw} of {group.size}, {how}"]
    lines += group_sentences(unit)
    if group.draw == 1:
        lines.append("Cannot: two of them together, because nobody is asked both")
    elif group.is_drawn:
        # s of k questions are drawn without replacement: two given ones together with s (s - 1) / (k (k - 1)).
        one_in = group.size * (group.size - 1) / (group.draw * (group.draw - 1))
        lines.append(f"Two of them are crossed by the reports that hold both, one in {one_in:,.3g}")
    if group.joint:
        lines.append("Cannot: two of them in one regression, or three crossed, because one chance goes into all")
    return "\n  ".join(lines)


def _asks(checked: Survey) -> str:
    """The number of questions that one person is asked, in words."""
    asked = len(checked.questions)
    share = f"{checked.asks} of {asked}" if checked.is_drawn else str(asked)
    return f"{share} question{'' if asked == 1 else 's'} a person"


@survey.command(epilog=example("deniable survey check my-survey.toml"))
@FILE
@click.option(
    "--respondents",
    type=click.IntRange(2),
    metavar="N",
    help="How many people you plan for: warns where cohorts are small.",
)
def check(file: BinaryIO, respondents: int | None) -> None:
    """Read a survey and say what its noise does, without publishing it."""
    checked = read_survey(file.read(), folder=folder_of(file))
    click.echo(f"{checked.title}\nsurvey {checked.id}, {len(checked.document)} bytes when published\n")
    for question in checked.questions:
        click.echo(f"{question.id} ({question.type}): {question.text}")
        mechanism = question.mechanism
        waves = f" of all waves, {kept.wave_epsilon:.4f} of one" if (kept := waves_of(mechanism)) else ""
        click.echo(f"  {mechanism.name}, epsilon {question.epsilon:.4f}{waves}{_asked_in(question)}")
        for sentence in (*comparison(question), *odds_sentences(question)):
            click.echo(f"  {sentence}")
        possible = analyses_of(question)
        click.echo(f"  Can be analysed: {'; '.join(name for name, is_possible in possible.items() if is_possible)}")
        if 0 < mechanism.reports.share_of_pairs < 1:
            one_in = f"{1 / mechanism.reports.share_of_pairs:,.0f}"
            click.echo(f"  Two boxes are crossed by the reports that drew both, one in {one_in}")
        if impossible := missing_analyses(question, possible):
            click.echo(f"  Cannot: {'; '.join(impossible)}")
        for alternative in alternatives_for(question):
            click.echo(f"  Instead: {alternative}")
    for unit in checked.units:
        if unit.group:
            click.echo(f"\n{_group_lines(unit, unit.group)}")
    click.echo(f"\nAccess {checked.access}: {ONE_REPORT[checked.access]}")
    if checked.sealed:
        where = f"; answered at {', '.join(checked.places)} alone" if checked.places else ""
        click.echo(
            f"Sealed to {len(checked.sealed.keys)} keys, one a week from {checked.sealed.first} to "
            f"{checked.sealed.last}{where}"
        )
    for line in presentation(checked):
        click.echo(line)
    click.echo(f"\nWhole survey: epsilon {checked.epsilon:.4f}, {_asks(checked)}")
    for sentence in whole_odds_sentences(checked):
        click.echo(f"  {sentence}")
    for warning in warnings_about(checked, respondents):
        click.secho(f"Warning: {warning}", fg="yellow")
    if note := release_note(checked):
        click.echo(f"Note: {note}" + ("" if respondents else "; --respondents N says whether that is much"))
    if checked.contact is None:
        click.echo('Note: contact says whom respondents can ask, such as contact = "ethics@uni.example"; it is not set')
    if checked.cohorts and not checked.cohort_required:
        click.echo("Note: a link without a cohort can be answered too; cohort_required = true refuses it as incomplete")


@survey.command(
    epilog=example(
        "deniable survey publish my-survey.toml --db deniable.db",
        "deniable survey publish my-survey.toml --url https://collector.example --token dn_...",
    )
)
@FILE
@options.database
@options.url
@options.token
@options.public_url
@click.option(
    "--force", is_flag=True, help="Publish a survey that devices refuse unless their owners raise the ceiling."
)
def publish(
    file: BinaryIO, database: Location, url: str | None, token: str | None, public_url: str, force: bool
) -> None:
    """Publish a survey; prints its id and the links for respondents.

    A survey that asks for more than every device allows (epsilon 4 for a question, 8 for all) is refused.
    """
    published = read_survey(file.read(), folder=folder_of(file))
    # Devices refuse it as well, so its author would wait for reports that never come.
    if not force:
        check_askable(published, "publish it all the same with --force")
    for warning in warnings_about(published):
        click.secho(f"Warning: {warning}", fg="yellow", err=True)
    if url:
        is_new = remote.publish(url, token, published, force)
    else:
        with operation("publish_survey", database, survey=published.id):
            is_new = open_store(database).publish(published)
    if not is_new:
        click.echo("This very survey was published before; it is the same address.", err=True)
    if not url and click.get_current_context().get_parameter_source("public_url") is ParameterSource.DEFAULT:
        click.echo(
            f"Links start with {public_url}, the default place of 'deniable serve'; where people reach the collector "
            "elsewhere, say so with --public-url or DENIABLE_PUBLIC_URL.",
            err=True,
        )
    base = f"{(url or public_url).rstrip('/')}/s/{published.id}"
    click.echo(f"id       {published.id}")
    links = [] if published.cohort_required or published.access != "open" else [base]
    links += [f"{base}#{cohort_fragment(cohort)}" for cohort in published.cohorts if published.access == "open"]
    for number, link in enumerate(links):
        click.echo(f"{'' if number else 'answer':<9}{people_link(link, published.places)}")
    if published.access != "open":
        elsewhere = published.issuer and published.issuer.url
        where = " --hashes hashes.txt --to links.csv" if elsewhere else "" if url else f" --db {database}"
        click.echo(f"invite   deniable invite {base} -n 100{where}")
    click.echo(f"results  {base}/results")


@survey.command("list", epilog=example("deniable survey list --db deniable.db"))
@options.database
@options.url
@options.token
def list_(database: Location, url: str | None, token: str | None) -> None:
    """List surveys with their number of reports: those that results show, and those that wait for a release."""
    if url:
        rows: Iterable[tuple[str, ...]] = [
            (
                each["id"],
                str(each["reports"]),
                str(sum(waits["n"] for waits in each["waiting"])),
                _STANDING[each["state"]],
                each["title"],
                enforced(each["access"]),
            )
            for each in remote.surveys(url, token)
        ]
    else:
        store = open_store(existing(database))
        rows = [
            (
                state.survey.id,
                str(state.reports),
                str(sum(store.waiting(state.survey).values())),
                _STANDING[state.standing(store.today())],
                state.survey.title,
                enforced(state.survey.access),
            )
            for state in store.states()
        ]
    header = ("id", "reports", "waiting", "state", "title", ONE_REPORT_HEADING)
    click.echo(format_table(header, rows, right={"reports", "waiting"}))


@survey.command(epilog=example("deniable survey close abcdefghijklmnopqrstuvwxyz --db deniable.db"))
@click.argument("survey_id", metavar="ID|LINK")
@options.database
@options.url
@options.token
def close(survey_id: str, database: Location, url: str | None, token: str | None) -> None:
    """Take no more reports for a survey, from now on and for good."""
    survey_id = id_at(survey_id, url)
    if url:
        remote.close(url, token, survey_id)
    else:
        with operation("close_survey", database, survey=survey_id):
            open_store(existing(database)).close_survey(survey_id)
    click.echo(f"Survey {survey_id} is closed.")


def open_store(database: Location) -> Store:
    """The store of a database."""
    from deniable_server.store import open_store as open_it

    return open_it(database)


def existing(database: Location) -> Location:
    """The database, or an error where only a typing mistake would make a new one."""
    if isinstance(database, Path) and not database.exists():
        raise click.ClickException(f"database {database}: does not exist; name it with --db, or publish a survey first")
    return database


def cohort_fragment(cohort: str) -> str:
    """The fragment of a link that puts its visitors into a cohort; browsers do not send fragments to servers."""
    from urllib.parse import quote

    return f"cohort={quote(cohort, safe='')}"


def presentation(checked: Survey) -> Iterator[str]:
    """A line on each of contact, layout, completion and look that the survey sets."""
    if checked.contact is not None:
        yield f"Contact: {_on_one_line(checked.contact)}"
    if checked.layout == "page":
        yield "Layout page: all questions are on one page"
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


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def missing_analyses(question: Question, possible: Mapping[str, bool]) -> list[str]:
    """The analyses that a question does not allow, without the mean of a question whose options are no numbers."""
    return [
        name
        for name, is_possible in possible.items()
        if not is_possible and (name != "mean" or question.kind.has_numbers)
    ]


def warnings_about(checked: Survey, respondents: int | None = None) -> list[str]:
    """Warnings before publishing: little noise, a survey that nobody can answer, missing translations, small cohorts.

    Cohorts are small or not only with a planned number of respondents.
    """
    warnings = weak_protection(checked)
    try:
        Ceiling().check(checked)
    except BudgetError as error:
        warnings.append(f"{error}: devices refuse this survey unless their owners raise the ceiling")
    today = datetime.datetime.now(datetime.UTC).date()
    if checked.closes and checked.closes < today:
        warnings.append(f"closes: {checked.closes} is past; no report will be taken")
    warnings += [
        f"question {question.id!r}: fresh = {checked.fresh!r} draws its permanent value anew, at its whole epsilon; "
        "without fresh, each survey is a wave of its own"
        for question in checked.questions
        if checked.fresh and waves_of(question.mechanism)
    ]
    of_cohorts = [
        unlinkable_warning(checked, respondents),
        release_warning(checked, respondents) if respondents is not None else None,
    ]
    return [*warnings, *filter(None, of_cohorts), *missing_translations(checked)]


def missing_translations(checked: Survey) -> list[str]:
    """A sentence for each language that some texts have and others lack."""
    texts = list(_texts_of(checked))
    spoken = {language for _, text in texts if isinstance(text, Text) for language in text.translations}
    languages = sorted(spoken - {EVERY_OTHER})
    sentences = []
    for language in languages:
        without = [name for name, text in texts if not isinstance(text, Text) or language not in text.translations]
        if without:
            shown = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
            sentences.append(f"{language}: is missing in {shown}; people who read it see the default there")
    return sentences


def _texts_of(checked: Survey) -> Iterator[tuple[str, str]]:
    """Pairs of a name, by which the author finds a text, and the text, for all texts that need a translation."""
    yield "title", checked.title
    if checked.about is not None:
        yield "about", checked.about
    if checked.thanks is not None:
        yield "thanks", checked.thanks
    if checked.completion and checked.completion.text is not None:
        yield "completion.text", checked.completion.text
    if checked.look and checked.look.logo:
        yield "look.logo_text", checked.look.logo.text
    # Organiser and contact may be the same in every language.
    for question in checked.questions:
        yield f"the text of {question.id}", question.text
        # So may options that are numbers, unless they have labels. Yes and No are ours, also beside a third option.
        for option in question.options if not question.kind.options else ():
            if publish_text(option) not in OUR_WORDS and (any(map(str.isalpha, option)) or isinstance(option, Text)):
                yield f"the option {str(option)!r} of {question.id}", option

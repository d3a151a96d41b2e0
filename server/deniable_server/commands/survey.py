"""``deniable survey check | publish | revise | list | close``"""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, BinaryIO

import click

from deniable import Survey, read_survey
from deniable.access.hosts import is_loopback
from deniable.access.words import ONE_REPORT
from deniable.errors import SurveyError
from deniable.table import format_table, printable
from deniable_commands.browser import open_page
from deniable_commands.files import folder_of
from deniable_commands.main import example
from deniable_server.access import remote
from deniable_server.access.publishing import check_askable
from deniable_server.authors.checking import (
    check_answerable,
    group_lines,
    host_of,
    notes_about,
    presentation,
    question_lines,
    refusals,
    warnings_about,
    whole_lines,
)
from deniable_server.authors.revising import revision_lines
from deniable_server.authors.templates import ASKED, TEMPLATES, template, text_of
from deniable_server.commands import options
from deniable_server.commands.trail import operation
from deniable_server.location import Location
from deniable_server.people.links import cautions_about_start, people_link
from deniable_statistics.authoring.outlook import RESPONDENTS, outlook
from deniable_statistics.published.access_columns import ONE_REPORT_HEADING, enforced
from deniable_statistics.published.revision import Revision

if TYPE_CHECKING:
    # Where it is used it is imported: it takes a second, and `survey check` works where no collector is installed.
    from deniable_server.store import Store

FILE = click.argument("file", type=click.File("rb"))

OF_CLIENT = "deniable.survey"
"""The entry points of the client's commands."""

_STANDING = {"open": "open", "early": "not open yet", "closed": "closed"}
"""The words for each `Standing` in the list of surveys."""


class SurveyCommands(click.Group):
    """The commands below, and those that have answers: the client brings them, as entry points of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *entry_points(group=OF_CLIENT).names})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for found in entry_points(group=OF_CLIENT, name=cmd_name):
            command: click.Command = found.load()
            return command
        return super().get_command(ctx, cmd_name)


@click.group(cls=SurveyCommands)
def survey() -> None:
    """Start, preview, rehearse, check, publish, revise, list and close surveys.

    new, check and import need no extra, and neither do publish, revise, list and close with --url. With --db these
    four need the extra server, as preview and try always do. To import an XLSForm you need the extra files.
    """


@survey.command(epilog=example("deniable survey new", "deniable survey new study.toml --template harassment"))
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default="my-survey.toml")
@click.option(
    "--template",
    "name",
    type=click.Choice(list(TEMPLATES)),
    help="The template to start from; without it, the command asks.",
)
@click.option("--title", help="The title; with --template, the template's title by default.")
@click.option("--organiser", help="The organisation that asks.")
@click.option("--contact", help="A contact for respondents: an email address or a link.")
def new(file: Path, name: str | None, **given: str | None) -> None:
    """Start a survey from a complete template that you can change.

    Without --template the command asks what the survey is about and what its first screen should say. It never
    overwrites a file.
    """
    texts = {key: value for key, value in given.items() if value is not None}
    if name is None:
        click.echo("\n".join(f"  {each:<12}{about}" for each, about in TEMPLATES.items()))
        name = click.prompt("Template", type=click.Choice(list(TEMPLATES)), show_choices=False)
        for key in ASKED:
            texts.setdefault(key, click.prompt(key.capitalize(), default=text_of(name, key)))
    content = template(name, **texts)
    begun = read_survey(content)  # a text that surveys cannot have is refused before there is a file
    write_new(file, content)
    click.echo(
        f"{file} is written. {outlook(begun)}\n\nNow look at it:\n\n"
        f"  deniable survey preview {file}    as people will see it, while you change it\n"
        f"  deniable survey try {file}        with made-up replies, to the results\n"
        f"  deniable survey publish {file}    when it is done"
    )


@survey.command(
    "import",
    epilog=example("deniable survey import form.xlsx", "deniable survey import survey.json --to my-survey.toml"),
)
@click.argument("form", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--to",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    default="my-survey.toml",
    show_default=True,
    help="The survey file to write. An existing file is never overwritten.",
)
def import_(form: Path, file: Path) -> None:
    """Start a survey from an existing form: an XLSForm of ODK or KoBo (.xlsx), or a SurveyJS survey (.json).

    Writes everything that a survey file can contain, and lists what it cannot, with the reason. For example, noise
    cannot be added to free text, which has no list of answers. Conditions become ask_if if they compare earlier
    answers. The command fails if no question could be imported.

    For an XLSForm you need the extra files.
    """
    from deniable_server.authors.importing import import_form

    found = import_form(form)
    for each in found.left_out:
        click.echo(f"Left out: {printable(each.name)}: {printable(each.why)}")
    if not found.taken:
        raise click.ClickException(f"{form.name}: holds no question that a survey could ask")
    write_new(file, found.toml)
    click.echo(
        f"{file} is written with {len(found.taken)} question{'s' if len(found.taken) > 1 else ''}: "
        f"{', '.join(found.taken)}. Keep those that need protection, and look at it:\n\n"
        f"  deniable survey check {file}\n  deniable survey preview {file}"
    )


@survey.command(epilog=example("deniable survey check my-survey.toml"))
@FILE
@click.option(
    "--respondents",
    type=click.IntRange(2),
    metavar="N",
    help="Number of people you plan for; warns if cohorts are small.",
)
def check(file: BinaryIO, respondents: int | None) -> None:
    """Check a survey file and explain what its noise does, without publishing it."""
    checked = read_survey(file.read(), folder=folder_of(file))
    click.echo(f"{outlook(checked, respondents or RESPONDENTS)}\n")
    click.echo(f"{checked.title}\nsurvey {checked.id}, {len(checked.document)} bytes when published\n")
    for question in checked.questions:
        click.echo(f"{question.id} ({question.type}): {question.label}")
        for line in question_lines(question, checked):
            click.echo(f"  {line}")
    for unit in checked.units:
        if unit.group:
            heading, *lines = group_lines(unit, unit.group)
            click.echo("\n  ".join((f"\n{heading}", *lines)))
    click.echo(f"\nAccess {checked.access}: {ONE_REPORT[checked.access]}")
    if checked.sealed:
        where = f"; answered at {', '.join(checked.places)} alone" if checked.places else ""
        click.echo(
            f"Sealed to {len(checked.sealed.keys)} keys, one a week from {checked.sealed.first} to "
            f"{checked.sealed.last}{where}"
        )
    for line in presentation(checked):
        click.echo(line)
    heading, *lines = whole_lines(checked)
    click.echo("\n  ".join((f"\n{heading}", *lines)))
    for warning in (*refusals(checked), *warnings_about(checked, respondents)):
        click.secho(f"Warning: {warning}", fg="yellow")
    for note in notes_about(checked, respondents):
        click.echo(f"Note: {note}")


@survey.command(
    epilog=example("deniable survey preview my-survey.toml", "deniable survey preview my-survey.toml --port 8200")
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--port", type=click.IntRange(1, 65535), help="The port of the preview; by default 8100, or a free one.")
@click.option(
    "--open/--no-open", "opens", default=True, help="Open the preview in a browser on this computer. Default: yes."
)
def preview(file: Path, port: int | None, opens: bool) -> None:
    """Preview a survey as respondents will see it, while you write it.

    A local web page shows exactly what respondents will see, in every language and state, on a phone and on a
    desktop. Next to it, you see what 'survey check' says, line by line, and what more or less protection would
    cost. Both update when you save the file. Nothing is published, stored or sent to anybody.

    Needs the extra server.
    """
    # Before numpy is loaded: on small problems several threads of its solver wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from deniable_server.authors.preview import serve_preview

    def ready(address: str) -> None:
        click.echo(f"Preview of {file.name}: {address}\nSave the file and the page follows. Ctrl-C stops it.")
        if opens:
            open_page(address)

    with contextlib.suppress(KeyboardInterrupt):
        serve_preview(file, port, ready)


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
    "--force", is_flag=True, help="Publish even a survey that nobody can answer, such as one whose last day is over."
)
def publish(
    file: BinaryIO, database: Location, url: str | None, token: str | None, public_url: str, force: bool
) -> None:
    """Publish a survey, and print its id and the links for respondents.

    A survey that nobody could answer is refused: one that exceeds the limits of every device (epsilon 4 for a
    question, 8 for all), one whose last day is over, or one that sends people to a page on their own computer.

    With --db it needs the extra server.
    """
    _publish(read_survey(file.read(), folder=folder_of(file)), database, url, token, public_url, force)


def _publish(
    published: Survey, database: Location, url: str | None, token: str | None, public_url: str, force: bool
) -> None:
    """Publish a survey that somebody can answer, and print its links."""
    # A survey that nobody can answer: its author would wait for reports that never come.
    if not force:
        check_askable(published, "publish it all the same with --force")
        check_answerable(published, "publish it all the same with --force")
    for warning in (*refusals(published), *warnings_about(published)):
        click.secho(f"Warning: {warning}", fg="yellow", err=True)
    is_named = bool(url) or options.is_given("public_url")
    before = None
    if url:
        is_new = remote.publish(url, token, published, force)
        people_at = options.people_at(url, public_url)
    else:
        with operation("publish_survey", database, survey=published.id):
            store = open_or_make(database)
            is_new = store.publish(published)
            before = store.public_url(published.id)
            people_at = (None if is_named else before) or public_url
            # Invitations are made later, and their links have to start like these.
            store.remember_public_url(published.id, people_at)
    if not is_new:
        has_moved = before and before.rstrip("/") != people_at.rstrip("/")
        moved = f", and its links now start with {people_at}, no longer with {before}" if has_moved else ""
        click.echo(f"This very survey was published before; its id is the same{moved}.", err=True)
    if not is_named and people_at == public_url:
        click.echo(
            f"Links start with {people_at}, the default address of 'deniable serve'. If people reach the collector at "
            "another address, set it with --public-url or DENIABLE_PUBLIC_URL.",
            err=True,
        )
    elif is_loopback(host_of(people_at)):
        click.echo(f"Links start with {people_at}, which can be opened on this computer only.", err=True)
    elif url and people_at.rstrip("/") != url.rstrip("/"):
        click.echo(f"Links start with {people_at}, at which people reach this collector.", err=True)
    for warning in cautions_about_start(people_at):
        click.secho(f"Warning: {warning}", fg="yellow", err=True)
    _show_links(published, f"{people_at.rstrip('/')}/s/{published.id}", url, database)


@survey.command(
    epilog=example(
        "deniable survey revise ID my-survey.toml --dry-run --db deniable.db",
        "deniable survey revise ID my-survey.toml --close --db deniable.db",
        "deniable survey revise https://collector.example/s/ID my-survey.toml --keep-open --token dn_...",
    )
)
@click.argument("survey_id", metavar="ID|LINK")
@FILE
@click.option(
    "--close/--keep-open",
    "closes",
    default=None,
    help="Whether to close the earlier survey or keep it open for reports. You have to choose one.",
)
@click.option("--dry-run", is_flag=True, help="Only compare the two surveys; publish and close nothing.")
@options.database
@options.url
@options.token
@options.public_url
@click.option("--force", is_flag=True, help="As for 'survey publish'.")
def revise(
    survey_id: str,
    file: BinaryIO,
    closes: bool | None,
    dry_run: bool,
    database: Location,
    url: str | None,
    token: str | None,
    public_url: str,
    force: bool,
) -> None:
    """Publish a revised version of a survey. The published survey itself does not change.

    The new survey names its predecessor by the hash of its published document. For each question the command says
    whether devices that answered the predecessor send the same noisy value again, and whether the results of both
    surveys can be pooled, as 'deniable estimate --pooled' and 'deniable analyze shares --pool' do.

    With --db it needs the extra server.
    """
    if closes is None and not dry_run:
        raise click.UsageError("say what becomes of the predecessor: --close or --keep-open; or only look: --dry-run")
    survey_id, url = options.survey_at(survey_id, url)
    old = remote.survey(url, survey_id) if url else open_store(database).survey(survey_id)
    written = read_survey(file.read(), folder=folder_of(file))
    if written.revises not in (None, old.id):
        raise SurveyError(f"{file.name}: revises must be {old.id} or left out, got {written.revises}")
    new = replace(written, revises=old.id)
    for line in revision_lines(Revision(old, new)):
        click.echo(line)
    if written.revises is None:
        click.echo(f'So that the file is what is published, add to it: revises = "{old.id}"')
    click.echo()
    if dry_run:
        return
    _publish(new, database, url, token, public_url, force)
    if closes:
        _close(old.id, database, url, token)


def _show_links(published: Survey, base: str, url: str | None, database: Location) -> None:
    """Print the id of a survey, and where people answer it, invite to it and read its results."""
    click.echo(f"id       {published.id}")
    links = [] if published.cohort_required or published.access != "open" else [base]
    links += [f"{base}#{cohort_fragment(cohort)}" for cohort in published.cohorts if published.access == "open"]
    for number, link in enumerate(links):
        click.echo(f"{'' if number else 'answer':<9}{people_link(link, published.places)}")
    if published.access != "open":
        elsewhere = published.issuer and published.issuer.url
        where = " --hashes hashes.txt --to links.csv" if elsewhere else "" if url else f" --db {database}"
        cohorts = (
            [f" --cohort {shlex.quote(each)}" for each in published.cohorts] if published.cohort_required else [""]
        )
        for number, cohort in enumerate(cohorts):
            click.echo(f"{'' if number else 'invite':<9}deniable invite {base} -n 100{cohort}{where}")
    click.echo(
        f"results  {base}/results{'' if published.readers == 'public' else ' (only with a token that reads them)'}"
    )


@survey.command("list", epilog=example("deniable survey list --db deniable.db"))
@options.database
@options.url
@options.token
def list_(database: Location, url: str | None, token: str | None) -> None:
    """List surveys with the number of released reports and of those that wait for a release.

    With --db it needs the extra server.
    """
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
        store = open_store(database)
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
    """Close a survey for good: it accepts no more reports.

    With --db it needs the extra server.
    """
    survey_id, url = options.survey_at(survey_id, url)
    _close(survey_id, database, url, token)


def _close(survey_id: str, database: Location, url: str | None, token: str | None) -> None:
    if url:
        remote.close(url, token, survey_id)
    else:
        with operation("close_survey", database, survey=survey_id):
            open_store(database).close_survey(survey_id)
    click.echo(f"Survey {survey_id} is closed.")
    _say_if_few(survey_id, database, url, token)


def _say_if_few(survey_id: str, database: Location, url: str | None, token: str | None) -> None:
    """Say which questions have too few replies to say anything, now that all are counted."""
    # Only here: it loads numpy, and `survey check` works where no collector is installed.
    from deniable_server.results.service import EVERYBODY, estimates_document
    from deniable_statistics.views.few_reports import axes_in, says_nothing

    if url:
        closed, found = remote.survey(url, survey_id), remote.estimates(url, token, survey_id, {})
    else:
        store = open_store(database)
        closed, found = store.survey(survey_id), estimates_document(store, survey_id, EVERYBODY)
    axis, rows = axes_in(closed), [SimpleNamespace(**row) for row in found["estimates"]]
    weak = dict.fromkeys(row.question for row in rows if not row.n or says_nothing(row, axis))
    replies = f"{found['n']:,} repl{'y is' if found['n'] == 1 else 'ies are'} counted"
    if len(weak) == len(closed.questions):
        click.echo(f"{replies}: too few to say anything about any question. A closed survey takes no more replies.")
    elif weak:
        click.echo(f"{replies}: too few to say anything about {', '.join(weak)}.")
    else:
        click.echo(f"{replies}.")


def write_new(file: Path, content: str) -> None:
    """Write a survey file; none is replaced."""
    try:
        with file.open("x", encoding="utf-8") as made:
            made.write(content)
    except FileExistsError:
        raise click.ClickException(f"{file}: exists already, and is not replaced; name another file") from None
    except OSError as error:
        raise click.ClickException(f"{file}: cannot be written: {error.strerror}") from None


def open_store(database: Location) -> Store:
    """The store of a database, which must be there: a command that makes another one would change nothing."""
    from deniable_server.store import open_store as open_it

    return open_it(existing(database), may_make=False)


def open_or_make(database: Location) -> Store:
    """The store of a database, which is made where there is none; a line on stderr says so."""
    from deniable_server.store import open_store as open_it

    store = open_it(database)
    if store.is_new:
        but = (
            ""
            if options.is_given("database")
            else " If a collector uses another one, name it with --db or DENIABLE_DB."
        )
        click.secho(f"Created a new database: {database}.{but}", fg="yellow", err=True)
    return store


def existing(database: Location) -> Location:
    """The database, or an error if it is a file that does not exist."""
    from deniable_server.store.errors import no_database

    if isinstance(database, Path) and not database.exists():
        # Commands that ask a collector as well take the link of its survey, or --url beside an id.
        context = click.get_current_context(silent=True)
        asks = context is not None and any(each.name == "url" for each in context.command.params)
        raise no_database(database, "; or ask a collector: give its link, or --url" if asks else "")
    return database


def cohort_fragment(cohort: str) -> str:
    """The fragment of a link that puts its visitors into a cohort; browsers do not send fragments to servers."""
    from urllib.parse import quote

    return f"cohort={quote(cohort, safe='')}"

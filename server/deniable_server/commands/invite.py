"""``deniable invite [people] | mail | add``"""

from __future__ import annotations

import datetime
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

import click

from deniable import Survey
from deniable.access.invitation import hash_of, new_invitation
from deniable.access.words import ONE_REPORT
from deniable.errors import ParameterError, SurveyError
from deniable_commands.files import FILE, NEW_FILE
from deniable_commands.main import example
from deniable_commands.rules import RuledCommand, all_or_none, exactly_one, goes_with
from deniable_server.access import remote
from deniable_server.access.inviting import InvitationStore, add_invitations, inviting, unused_invitations
from deniable_server.commands import options
from deniable_server.commands.survey import open_store
from deniable_server.commands.trail import operation
from deniable_server.people.letter import Letter
from deniable_server.people.links import (
    is_page,
    is_start,
    page_link,
    people_link,
    personal_link,
    read_place,
    survey_link,
)
from deniable_server.people.roster import LINK, MOST_PEOPLE, Roster, read_roster
from deniable_server.people.sheet import OPEN_SENTENCE, SENTENCE, sheet_page
from deniable_server.store import InvitationCounts
from deniable_statistics.authoring.cautions import few_invited
from deniable_statistics.authoring.outlook import hopeless
from deniable_statistics.published.csv_cells import csv_lines

_HASH = re.compile(r"[0-9a-f]{64}")

_IN_THE_WAY = "exists, and may hold links that nobody else has"
"""The reason why no file is overwritten, in two messages."""

Command = Callable[..., None]


class _Group(click.Group):
    """A group whose first command need not be named: ``deniable invite ID -n 500``."""

    first = "people"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # What is no command is an ID or a link: the first argument of `people`.
        if args and args[0] not in {*self.commands, *self.get_help_option_names(ctx)}:
            args = [self.first, *args]
        return super().parse_args(ctx, args)


@dataclass(frozen=True)
class _Target:
    """A survey, the address at which people answer it, and the place of its invitations.

    Attributes
    ----------
    survey : Survey
    people_at : str
        Start of the links.
    database : Path
        The database of the invitations, unless there is a `url`.
    url : str or None
        Address of the collector that holds the invitations.
    token : str or None
        API token for the collector.
    page : str or None
        The page that embeds the survey, if links lead there.
    is_guess : bool
        Whether nobody named the start of the links, so that it is only the default.
    """

    survey: Survey
    people_at: str
    database: Path
    url: str | None
    token: str | None
    page: str | None = None
    is_guess: bool = False

    def place(self) -> InvitationStore:
        """The store of the invitations.

        Raises
        ------
        SurveyError
            If an issuer elsewhere keeps them, so that this collector must not.
        """
        issuer = self.survey.issuer and self.survey.issuer.url
        if self.url and issuer:
            raise SurveyError(
                f"survey {self.survey.id}: its tokens are signed at {issuer}, so its invitations belong there; "
                "use --db with the issuer's file, or --hashes to write what its operator adds"
            )
        return inviting(self.database, self.url, self.token)

    def add(self, hashes: Sequence[str], place: InvitationStore | None = None) -> InvitationCounts:
        """Add the invitations with these hashes, and log the call; over HTTP the collector logs it itself."""
        inviting_at = place or self.place()
        about: dict[str, str | int] = {"survey": self.survey.id, "invitations": len(hashes)}
        with nullcontext() if self.url else operation("add_invitations", self.database, **about):
            return add_invitations(inviting_at, self.survey.id, hashes)

    def links(self, number: int, cohort: str | None) -> tuple[list[str], list[str]]:
        """Fresh personal links, and the hashes of their invitations."""
        made = [new_invitation() for _ in range(number)]
        links = [self._link(personal_link(self.people_at, self.survey.id, each, cohort)) for each in made]
        # Sorted, because the order of the author's list would tell a collector which hash is whose.
        return links, sorted(map(hash_of, made))

    def _link(self, link: str) -> str:
        """The link that somebody follows who has this one of the survey."""
        if self.page:
            return page_link(link, self.page, self.survey.id)
        return people_link(link, self.survey.places)


def _place_options(command: Command) -> Command:
    # Help lists options in the order of decorators, whose last one is applied first.
    for option in (options.public_url, options.token, options.url, options.database):
        command = option(command)
    return click.argument("survey", metavar="ID|LINK")(command)


_cohort = click.option("--cohort", help="The cohort of the survey to which these people belong.")
_page = click.option("--page", metavar="URL", help="Your own page that embeds the survey; the links lead there.")
_roster = click.option(
    "--roster",
    type=FILE,
    help=(
        "Your list of people, as CSV with a header. Each row gets a personal link. Nothing from the list "
        "is sent anywhere."
    ),
)
_column = click.option(
    "--column", metavar="NAME", help="The column of the roster that identifies people, such as email."
)


def _new_file(suffix: str) -> Callable[[click.Context, click.Parameter, Path | None], Path | None]:
    """A callback that refuses a file that cannot be written, or exists, before anybody is invited."""

    def check(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
        if path is None:
            return None
        if path.suffix.lower() != suffix:
            raise click.BadParameter(f"must end in {suffix}, got {path.name!r:.80}")
        # Its links may be the only copy, so no file is overwritten.
        if path.exists():
            raise click.BadParameter(f"{path.name!r:.80} {_IN_THE_WAY}")
        # Once people are invited, links that cannot be written are lost.
        if not path.parent.is_dir():
            raise click.BadParameter(f"there is no folder {path.parent.name!r:.80}")
        return path

    return check


def _file(name: str, suffix: str, about: str, required: bool = False) -> Callable[[Command], Command]:
    """An option for a new file with this suffix."""
    return click.option(
        name, metavar=f"FILE{suffix}", type=NEW_FILE, callback=_new_file(suffix), required=required, help=about
    )


@click.group(cls=_Group)
def invite() -> None:
    """Invite people to a survey.

    Links and codes are generated on this computer; a collector or an issuer receives only their hashes. `deniable
    invite ID` is short for `deniable invite people ID`, whose options, such as -n, --cohort and --db, are listed by
    `deniable invite people --help`.
    """


@invite.command(
    cls=RuledCommand,
    rules=[
        exactly_one("-n", "--roster", sentence="say how many people with -n, or who with --roster"),
        all_or_none("--roster", "--column"),
        goes_with("--sheet", "--sentence"),
    ],
    epilog=example(
        "deniable invite people ID -n 500 --db deniable.db --public-url https://collector.example > links.csv",
        "deniable invite https://collector.example/s/ID -n 500 --token dn_... --to links.csv --sheet cards.html",
        "deniable invite ID --roster people.csv --column email --to links.csv",
    ),
)
@_place_options
@click.option("-n", "number", type=click.IntRange(1, MOST_PEOPLE), help="Number of people to invite.")
@_cohort
@_page
@_roster
@_column
@_file("--to", ".csv", "The file to write the links to, instead of printing them; only you can read it.")
@_file("--sheet", ".html", "A page to print on A4 and cut into cards, each with a QR code and a link.")
@click.option("--sentence", metavar="TEXT", help="The sentence next to each code, instead of the default one.")
@_file(
    "--hashes", ".txt", ("Write the hashes to a file instead of sending them, for 'deniable invite add' at an issuer.")
)
def people(
    survey: str,
    number: int | None,
    cohort: str | None,
    page: str | None,
    roster: Path | None,
    column: str | None,
    to: Path | None,
    sheet: Path | None,
    sentence: str | None,
    hashes: Path | None,
    **where: Any,
) -> None:
    """Make personal links.

    The links are printed as CSV. Anybody who has a link can answer once, so protect the links like passwords.
    """
    named = None if roster is None or column is None else _new_people(roster, column)
    target = _inviting_to(survey, cohort, page, **where)
    links, sent = target.links(len(named.rows) if named else number or 0, cohort)
    table = _links_table(named, links, cohort)
    files = {to: table} if to else {}
    if sheet:
        files[sheet] = sheet_page(str(target.survey.title), links, sentence or SENTENCE)
    _invite(target, sent, files, hashes, table, cohort)


def _new_people(path: Path, column: str) -> Roster:
    """A list of people without links. A list with links is refused: they would get a second invitation each."""
    named = _people(path, column)
    if LINK in named.columns:
        raise ParameterError(
            f"{named.name}: has a column {LINK} already; for a reminder with the same links see 'deniable invite mail'"
        )
    return named


def _links_table(named: Roster | None, links: Sequence[str], cohort: str | None) -> str:
    """The links as CSV: each in the row of its person in the list, or numbered without a list."""
    if named:
        rows: list[Sequence[Any]] = [[*row, link] for row, link in zip(named.rows, links, strict=True)]
        header = [*named.columns, LINK]
    else:
        rows = [[place, cohort, link] for place, link in enumerate(links, start=1)]
        header = ["number", "cohort", LINK]
    return "".join(csv_lines([header, *rows]))


@invite.command(
    cls=RuledCommand,
    rules=[goes_with("--list", "--to", because=", whose rows are written")],
    epilog=example("deniable invite unused ID", "deniable invite unused ID --list links.csv --to reminders.csv"),
)
@_place_options
@click.option(
    "--list",
    "kept",
    metavar="FILE.csv",
    type=FILE,
    help="Your file of links: write the rows of it whose links are unused.",
)
@_file("--to", ".csv", "The file to write these rows to, instead of printing them; only you can read it.")
def unused(survey: str, kept: Path | None, to: Path | None, **where: Any) -> None:
    """Show how many invitations are unused and, given your file of links, which ones."""
    target = _find(survey, **where)
    found = target.survey
    if kept is None:
        invited, waiting, _ = unused_invitations(target.place(), found.id)
        click.echo(f"{invited:,} invited, {waiting:,} unused")
        return
    named = read_roster(kept)
    asked = [hash_of(each) for each in named.invitations(found.id)]
    # Sorted: the order of the list is nothing that the collector needs to know.
    invited, waiting, hashes = unused_invitations(target.place(), found.id, sorted(asked))
    if hashes is None:
        raise SurveyError(
            f"survey {found.id}: {invited:,} invited, {waiting:,} unused; not told who, because its results are live: "
            "beside them it would say whose noisy report came when"
        )
    left = {*hashes}
    rows: Iterable[Sequence[str]] = [row for row, each in zip(named.rows, asked, strict=True) if each in left]
    table = "".join(csv_lines([named.columns, *rows]))
    if to:
        _write({to: table})
    else:
        _print(table, "the list is incomplete")
    click.echo(f"{invited:,} invited, {waiting:,} unused", err=True)


@invite.command(epilog=example("deniable invite again ID links.csv"))
@_place_options
@click.argument("file", type=FILE)
def again(survey: str, file: Path, **where: Any) -> None:
    """Invite the rest of your file of links, after inviting was interrupted.

    Use this command if another person runs the issuer. Adding the same file again changes nothing.
    """
    target = _inviting_to(survey, None, is_author=False, **where)
    named = read_roster(file)
    added = target.add(sorted(map(hash_of, named.invitations(target.survey.id))))
    click.echo(f"{added.added:,} invited, {added.known:,} known before; {ONE_REPORT[target.survey.access]}", err=True)


@invite.command(epilog=example("deniable invite sheet OPEN_ID -n 30 --to handout.html"))
@_place_options
@click.option("-n", "number", type=click.IntRange(1, MOST_PEOPLE), required=True, help="Number of cards.")
@_cohort
@_file("--to", ".html", "The page to write, for printing on A4 and cutting into cards.", required=True)
@click.option("--sentence", metavar="TEXT", help="The sentence next to each code, instead of the default one.")
def sheet(survey: str, number: int, cohort: str | None, to: Path, sentence: str | None, **where: Any) -> None:
    """Print the link of an open survey on cards, one for each person.

    For a survey with invitations, where each person has their own link, see `deniable invite people --sheet`.
    """
    target = _inviting_to(survey, cohort, may_be_open=True, **where)
    if target.survey.access != "open":
        raise SurveyError(
            f"survey {target.survey.id}: has a link for each person; see 'deniable invite people --sheet'"
        )
    link = people_link(survey_link(target.people_at, target.survey.id, cohort), target.survey.places)
    _write({to: sheet_page(str(target.survey.title), [link] * number, sentence or OPEN_SENTENCE)})
    click.echo(f"{ONE_REPORT['open']}\n{to}", err=True)


@invite.command(
    epilog=example(
        "deniable invite mail ID --roster people.csv --column email --letter letter.txt --to mail.csv",
        "deniable invite mail ID --roster reminders.csv --column email --letter reminder.txt --to mail.csv",
    )
)
@_place_options
@_cohort
@_page
@click.option(
    "--roster",
    type=FILE,
    required=True,
    help=(
        "Your list of people, as CSV with a header. If it already has a column link, these links are "
        "used and nobody new is invited."
    ),
)
@click.option("--column", metavar="NAME", required=True, help="The column that identifies people, such as email.")
@click.option(
    "--letter",
    type=FILE,
    help="A text whose first line is 'Subject: ...', with the placeholders {link} and {COLUMN}.",
)
@_file(
    "--to",
    ".csv",
    "The file to write, with link, subject and body for each person; only you can read it.",
    required=True,
)
def mail(
    survey: str,
    cohort: str | None,
    page: str | None,
    roster: Path,
    column: str,
    letter: Path | None,
    to: Path,
    **where: Any,
) -> None:
    """Write a file for a mail merge. The command sends no mail.

    Your mail program can then send a letter for each row. Nothing from the roster is sent to the collector.
    """
    named = _people(roster, column)
    target: _Target | None = None
    has_links = LINK in named.columns
    taken = {"subject", "body"} & {*named.columns}
    if letter and taken:
        raise ParameterError(f"{named.name}: must have no column {sorted(taken)[0]!r}, which the letter fills")
    written = Letter.read(_text(letter), named.columns) if letter else None
    if has_links:
        if given := next((name for name, each in (("--cohort", cohort), ("--page", page)) if each is not None), None):
            raise click.UsageError(f"{given} goes with new links; {named.name} has links already")
        named.invitations(read_place(survey).survey)
        links, sent = list(named.column(LINK)), list[str]()
    else:
        target = _inviting_to(survey, cohort, page, **where)
        links, sent = target.links(len(named.rows), cohort)
    header = [*named.columns, *([] if has_links else [LINK]), *(("subject", "body") if written else ())]
    rows = []
    for row, link in zip(named.rows, links, strict=True):
        cells = dict(zip(named.columns, row, strict=True)) | {LINK: link}
        rows.append([*cells.values(), *(written.fill(cells) if written else ())])
    table = "".join(csv_lines([header, *rows]))
    if target:
        _invite(target, sent, {to: table}, None, table, cohort)
    else:
        _write({to: table})
    click.echo(f"{to}: {len(rows):,} rows")


@invite.command(epilog=example("deniable invite add ID hashes.txt --db issuer.db"))
@_place_options
@click.argument("file", type=FILE)
def add(survey: str, file: Path, **where: Any) -> None:
    """Add invitations from a file of hashes, which an author wrote with --hashes.

    Use this command if another person runs the issuer. Adding the same file again changes nothing.
    """
    hashes = _text(file).split()
    wrong = next((place for place, each in enumerate(hashes, start=1) if not _HASH.fullmatch(each)), None)
    if wrong or not hashes:
        what = f"number {wrong} is not one" if wrong else "it holds none"
        raise ParameterError(f"{file.name}: must be hashes of 64 hexadecimal digits, a line each; {what}")
    target = _inviting_to(survey, None, is_author=False, **where)
    added = target.add(hashes)
    click.echo(f"{added.added:,} invited, {added.known:,} known before")


def _find(
    survey: str, database: Path, url: str | None, token: str | None, public_url: str, may_be_open: bool = False
) -> _Target:
    """The survey that an id or a link names, which must have invitations unless it `may_be_open`."""
    collector, survey_id = read_place(survey)
    url = options.asked_at(collector, url)
    remembered = None
    if url:
        found = remote.survey(url, survey_id)
    else:
        store = open_store(database)
        found, remembered = store.survey(survey_id), store.public_url(survey_id)
    if found.access == "open" and not may_be_open:
        raise SurveyError(
            f"survey {survey_id}: is open to everybody who has its link, so it has no invitations; "
            "'deniable invite sheet' prints that link on cards; "
            'with access = "invited" or "unlinkable" in its file it would be another survey'
        )
    reached = collector or url
    if reached:
        named: str | None = options.people_at(reached, public_url)
    else:
        named = public_url if options.is_given("public_url") else remembered
    return _Target(found, named or public_url, database, url, token, is_guess=not named)


def _inviting_to(
    survey: str, cohort: str | None, page: str | None = None, is_author: bool = True, **where: Any
) -> _Target:
    """The survey, if people can be invited to it; a warning about links that nobody can reach goes to stderr."""
    target = replace(_find(survey, **where), page=page)
    found = target.survey
    if found.closes and found.closes < datetime.datetime.now(datetime.UTC).date():
        raise SurveyError(f"survey {found.id}: {found.not_open_because(datetime.date.max)}; nobody could answer")
    if is_author:
        _check_links(target, cohort)
    return target


def _check_links(target: _Target, cohort: str | None) -> None:
    """Refuse links that nobody could follow, or whose reports no collector takes."""
    if not target.survey.takes_cohort(cohort):
        known = ", ".join(target.survey.cohorts)[:200] or "none"
        what = "be one of the survey's" if cohort is not None else "be given, because every report must carry one"
        raise ParameterError(f"--cohort: must {what}: {known}")
    if target.is_guess and target.page is None:
        raise ParameterError(
            f"survey {target.survey.id}: its links have no address to start with, and nobody was invited; name it with "
            "--public-url https://collector.example, or give the survey's link in place of its id"
        )
    start = target.people_at if target.page is None else target.page
    if not (is_start(start) if target.page is None else is_page(start)):
        like = "--public-url: must be like https://collector.example"
        if target.page is not None:
            like = "--page: must be like https://your-site.example/study.html, without a #"
        raise ParameterError(f"{like}, got {start.rpartition('@')[2]!r:.80}")
    if remote.is_this_machine(urlsplit(start).hostname or ""):
        other = "" if target.page else "; see --public-url"
        click.secho(f"Warning: links start with {start}, which only this machine reaches{other}", fg="yellow", err=True)


def _people(path: Path, column: str) -> Roster:
    """A list of people whom a column tells apart, without repetitions."""
    found = read_roster(path)
    found.check_people(column)
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(f"{path.name}: must be text in UTF-8") from None
    except OSError as error:
        raise ParameterError(f"{path.name}: cannot be read: {error.strerror or error}") from None


def _warn_of_few(survey: Survey, now: int, before: int, cohort: str | None) -> None:
    """Say before anybody is invited that so few people get no results, or none that say anything."""
    in_cohort = now if cohort is not None else now + before
    for said in (few_invited(survey, in_cohort, cohort), hopeless(survey, now + before)):
        if said:
            click.secho(f"Warning: {said}.", fg="yellow", err=True)


def _invite(
    target: _Target,
    sent: Sequence[str],
    files: Mapping[Path, str],
    hashes: Path | None,
    table: str,
    cohort: str | None,
) -> None:
    """Write or print the links, and then add the invitations, so that nobody is invited whose link is lost.

    If adding fails, the links stay, so that ``deniable invite again`` can go on with them. Links on a sheet alone,
    which no command can read again, are removed.
    """
    if hashes:
        _warn_of_few(target.survey, len(sent), 0, cohort)
        if not files:
            _print(table, "nobody is invited")
        _write({**files, hashes: "".join(f"{each}\n" for each in sent)})
        click.echo(f"{hashes}: {len(sent):,} hashes; links work once 'deniable invite add' has sent them", err=True)
        return
    place = target.place()
    before = unused_invitations(place, target.survey.id).invited  # fails for a wrong token before there are links
    _warn_of_few(target.survey, len(sent), before, cohort)
    _write(files)
    if not files:
        _print(table, "nobody is invited")
    can_go_on = table in {*files.values()} or not files
    try:
        target.add(sent, place)
    except BaseException:
        if can_go_on:
            click.echo(
                "Not everybody is invited yet: keep the links, and give them to 'deniable invite again'.", err=True
            )
        else:
            for path in files:
                path.unlink(missing_ok=True)
        raise
    click.echo(f"{len(sent):,} invited; {ONE_REPORT[target.survey.access]}", err=True)
    for path in files:
        click.echo(path, err=True)


def _write(files: Mapping[Path, str]) -> None:
    """Write new files that only the author may read: all of them or none; existing files are never replaced."""
    written: list[Path] = []
    try:
        for path, text in files.items():
            with _opened(path) as file:
                written.append(path)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        for each in written:
            each.unlink(missing_ok=True)
        why = _IN_THE_WAY if isinstance(error, FileExistsError) else f"cannot be written: {error.strerror or error}"
        raise ParameterError(f"{path.name}: {why}") from None


def _opened(path: Path) -> TextIO:
    # O_EXCL: two commands at a time must not write to the same file. 0o600 from the start: links are secrets.
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="")


def _print(table: str, consequence: str) -> None:
    """Print the whole table, or raise: a call to an unbuffered stream may write a part of it without an error."""
    if sys.stdout is None:  # closed before the command started
        raise ParameterError(f"links: cannot be printed: standard output is closed; {consequence}")
    buffered, left = sys.stdout.buffer, memoryview(table.encode())
    # A buffer would keep what could not be written, and fail again when Python ends, with status 120.
    out = getattr(buffered, "raw", buffered)
    try:
        sys.stdout.flush()
        while left:
            left = left[out.write(left) or 0 :]
    except OSError as error:
        raise ParameterError(f"links: cannot be printed: {error.strerror or error}; {consequence}") from None

"""``deniable embed``"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from urllib.parse import parse_qsl

import click
import urllib3

from deniable import Question, Survey
from deniable.access.hosts import is_loopback
from deniable.errors import DeniableError, ParameterError
from deniable.report.field import field_values
from deniable.table import printable
from deniable_commands.main import example
from deniable_commands.rules import RuledCommand, excludes
from deniable_server.access import remote
from deniable_server.authors.checking import host_of
from deniable_server.authors.page_check import Inquiry, findings, lines_of
from deniable_server.authors.page_visit import SECOND_SCRIPT, visit
from deniable_server.authors.snippets import HOSTS, PLUGINS, Embedding
from deniable_server.people.links import SurveyReference, read_place

ISOLATED = ("plain", "react", "vue")
"""The hosts whose snippets have the tag of the survey, and not a plugin or script in its place."""


@click.command(
    epilog=example(
        "deniable embed https://collector.example/s/ID --host plain",
        "deniable embed 'https://collector.example/s/ID#cohort=web' --host jspsych",
        "deniable embed https://collector.example/s/ID --host surveyjs --question affair",
        "deniable embed https://collector.example/s/ID --host react --own-folder /deniable",
        "deniable embed --check https://uni.example/study.html",
    ),
    cls=RuledCommand,
    rules=[
        *(excludes("--check", each) for each in ("--host", "--question", "--own-folder", "--isolated")),
        excludes("--question", "--isolated"),
    ],
)
@click.argument("link", metavar="SURVEY", required=False)
@click.option(
    "--host",
    type=click.Choice(list(HOSTS)),
    default="plain",
    show_default=True,
    help="The tool into which you embed it.",
)
@click.option(
    "--question", help="Embed a single question, whose noisy value the host stores; by default the whole survey."
)
@click.option(
    "--own-folder",
    metavar="URL",
    help=(
        "The address on your own site from which you serve the script, so that no upgrade of the collector "
        "breaks the page."
    ),
)
@click.option(
    "--isolated",
    is_flag=True,
    help="Embed the survey in a frame that the page cannot look into (plain, react and vue).",
)
@click.option(
    "--check",
    "page",
    metavar="URL",
    help="Instead of printing anything, check this page in a browser. Needs the extra audit.",
)
def embed(
    link: str | None, host: str, question: str | None, own_folder: str | None, isolated: bool, page: str | None
) -> None:
    """Print the code that puts a published survey into a page, with hashes and instructions.

    SURVEY is the link of the survey, followed by #cohort= if the page is for one cohort. By default the whole
    survey is embedded, and its reports go to the collector. With --question only one question is embedded: the host
    stores the noisy value, and nothing goes to the collector.

    With --check the command opens your page in a headless browser. It reports whether the element runs, what is
    missing in the page's Content-Security-Policy, who could observe people, and whether a reply would arrive. It
    presses and sends nothing. It fails if people could not answer, or if the page asks another survey than SURVEY.
    """
    if page is not None:
        _check(page, None if link is None else read_place(link))
        return
    if link is None:
        raise click.UsageError("say which survey: SURVEY is its link; or look at a page with --check")
    if isolated and host not in ISOLATED:
        raise click.UsageError(f"--isolated goes with --host {', '.join(ISOLATED)} alone, got {host}")
    place = read_place(link)
    if place.collector is None:
        raise ParameterError(
            f"survey: must be its link, such as https://collector.example/s/{place.survey}, got its id"
        )
    collector = place.collector
    survey = remote.survey(collector, place.survey)
    asked = _question(survey, question) if question else None
    fragment = "" if asked else _fragment(survey, link.partition("#")[2])
    of = Embedding(
        collector,
        survey.id,
        None if asked is None else asked.id,
        _hashes(collector),
        own_folder and own_folder.rstrip("/"),
        values="" if asked is None else field_values(asked),
        is_text=asked is not None and not asked.mechanism.reports.supports_one,
        fragment=fragment,
        cohorts=() if "cohort=" in fragment else survey.cohorts,
        is_invited=survey.access != "open",
        is_isolated=isolated,
        # An element shows such surveys in a frame by itself.
        framed=None if asked else survey.places[0] if survey.places else collector if survey.sealed else None,
    )
    printed = "\n".join(f"{n}. {where}:\n\n{code}\n" for n, (where, code) in enumerate(HOSTS[host](of), start=1))
    click.echo(printed)
    click.echo(f"If the page has a content security policy, it needs: {'; '.join(of.policy(printed))}")
    if "<iframe" in printed:
        click.echo(f"With the frame in place of the script, it needs instead: frame-src {of.collector}")
    if own_folder:
        plugin = f", {collector}/client/{PLUGINS[host]} (in a folder hosts)" if host in PLUGINS else ""
        second = f", {collector}/client/{SECOND_SCRIPT}" if of.question is None else ""
        click.echo(
            f"Put {collector}/client/{of.file}{second}{plugin} into {of.own_folder}, and the files of "
            f"{collector}/client/catalogues/ (ar, de, en, es, fr, each .json) into {of.own_folder}/catalogues."
        )
    else:
        click.echo(
            "A collector that is upgraded serves another script, and the page then shows the text inside the tag."
        )
    if "</deniable-" in printed and _translated(survey):
        click.echo(
            "Write the text inside the tag in the language of your page: people read it if the script does not run."
        )
    if is_loopback(host_of(collector)):
        click.echo(f"Warning: {collector} can be reached from this computer alone.", err=True)


def _check(page: str, wanted: SurveyReference | None) -> None:
    """Say what is to be said of a page with an element in it; fail if people cannot answer there."""
    found = list(findings(visit(page), wanted, Inquiry(remote.takes_reports, _brings, _languages, _refuses)))
    for line in lines_of(found):
        click.echo(printable(line))
    if any(each.is_problem for each in found):
        raise PageProblem("page: people cannot answer there yet; each PROBLEM says why")


def _brings(collector: str, survey_id: str) -> str | None:
    """What people must bring to a survey in their links; None for nothing, or if its collector does not say."""
    survey = _published(collector, survey_id)
    if survey is None:
        return None
    if survey.access != "open":
        return "an invitation"
    return "a cohort" if survey.cohort_required else None


def _languages(collector: str, survey_id: str) -> Sequence[str]:
    """The languages into which a survey is translated; none if its collector does not say."""
    survey = _published(collector, survey_id)
    return _translated(survey) if survey else ()


def _translated(survey: Survey) -> Sequence[str]:
    """The languages into which a survey is translated."""
    from deniable_server.authors.bench import languages_of  # which takes numpy

    return languages_of(survey)


@cache
def _fetched(collector: str, survey_id: str) -> Survey | str:
    """The survey, whose address is the hash of its bytes, or why its collector does not give it; fetched once."""
    try:
        return remote.survey(collector, survey_id)
    except DeniableError as error:
        return str(error)


def _published(collector: str, survey_id: str) -> Survey | None:
    found = _fetched(collector, survey_id)
    return None if isinstance(found, str) else found


def _refuses(collector: str, survey_id: str) -> str | None:
    """Why a collector does not give a survey; None if it gives it."""
    found = _fetched(collector, survey_id)
    return found if isinstance(found, str) else None


class PageProblem(DeniableError):
    """A page in which people cannot answer."""


def _fragment(survey: Survey, given: str) -> str:
    """What stands behind the link in the page: the cohort and the language that its author gave."""
    parts = dict(parse_qsl(given))
    if "invitation" in parts:
        raise ParameterError("survey: must be its link without an invitation, which is one person's")
    cohort = parts.get("cohort")
    if cohort is not None and survey.access != "open":
        raise ParameterError("survey: must be its link without a cohort, because each personal link contains it")
    if cohort is not None and cohort not in survey.cohorts:
        known = ", ".join(survey.cohorts) or "none"
        raise ParameterError(f"survey: its cohorts are {known}, got {cohort!r:.80}")
    return f"#{given}" if given else ""


def _question(survey: Survey, name: str) -> Question:
    """The question of that id, which a form must be able to ask by itself."""
    found = next((each for each in survey.questions if each.id == name), None)
    if found is None:
        known = ", ".join(each.id for each in survey.questions)
        raise ParameterError(f"question: must be one of the survey ({known}), got {name!r:.50}")
    if found.group is not None or found.ask_if is not None:
        why = "has a filter" if found.group is None else "shares its epsilon with others"
        raise ParameterError(
            f"question {name!r}: {why}, so nobody can ask it alone; embed the whole survey by leaving out --question, "
            "or give the question a line such as epsilon = 1.0 and no filter"
        )
    return found


def _hashes(collector: str) -> dict[str, str]:
    """The hashes of the scripts that the collector serves now."""
    try:
        answer = urllib3.request("GET", f"{collector}/client/manifest.json", timeout=10, retries=2)
        return _by_file(answer.json())
    except (urllib3.exceptions.HTTPError, ValueError, KeyError):
        click.echo(f"{collector} did not say its hashes: these are of the installed version.", err=True)
        manifest = files("deniable_web").joinpath("dist", "manifest.json").read_text(encoding="utf-8")
        return _by_file(json.loads(manifest))


def _by_file(manifest: dict[str, dict[str, str]]) -> dict[str, str]:
    """The hashes of a manifest, by the file below the folder of scripts."""
    return {**manifest["integrity"], **{f"hosts/{name}": each for name, each in manifest["hosts"].items()}}

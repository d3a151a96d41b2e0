"""What was seen of a page with an element in it, in plain words: whether it runs, what is missing, who could watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Literal
from urllib.parse import urljoin, urlsplit

from deniable.access.hosts import is_loopback
from deniable.errors import SurveyError
from deniable_server.authors.checking import host_of
from deniable_server.authors.page_visit import SECOND_SCRIPT, PageVisit, Script, SeenElement
from deniable_server.people.links import SurveyReference, read_place

BUNDLES = ("deniable.js", "deniable-question.js")

IN_FRAGMENT = {"an invitation": "invitation=", "a cohort": "cohort="}
"""How what people bring stands behind the # of a link."""


@dataclass(frozen=True)
class Inquiry:
    """What the collector of a survey is asked. Each function takes the collector and the id of the survey.

    Attributes
    ----------
    takes : callable
        Whether it takes a report from pages of an origin, the third argument; nothing is sent.
    brings : callable
        What people must bring, "an invitation" or "a cohort"; None for nothing, or if unknown.
    languages : callable
        The languages into which the survey is translated; none if unknown.
    refuses : callable
        Why it does not give the survey, in its own words; None if it gives it.
    """

    takes: Callable[[str, str, str], bool]
    brings: Callable[[str, str], str | None]
    languages: Callable[[str, str], Sequence[str]]
    refuses: Callable[[str, str], str | None]


@dataclass(frozen=True)
class Remark:
    """A sentence on a page: what is as it should be, what one should know, or what keeps people from answering."""

    text: str
    sign: Literal["ok", "NOTE", "PROBLEM"] = "ok"

    @property
    def is_problem(self) -> bool:
        """Whether people cannot answer."""
        return self.sign == "PROBLEM"


def findings(seen: PageVisit, wanted: SurveyReference | None, ask: Inquiry) -> Iterator[Remark]:
    """All that is to be said of a page.

    Parameters
    ----------
    seen : PageVisit
    wanted : SurveyReference or None
        The survey that the page is to show, of any collector if it names none; None for any survey.
    ask : Inquiry
    """
    if not seen.elements:
        yield Remark(_why_no_element(seen), sign="PROBLEM")
        return
    for element in seen.elements:
        yield from _of_element(element, seen, wanted, ask)
    yield from _missing_policy(seen)
    yield from _onlookers(seen)


def _why_no_element(seen: PageVisit) -> str:
    kept_out = {_origin(each.blocked) for each in seen.violations if each.directive == "frame-src"}
    if blocked := sorted(kept_out & {_origin(each) for each in seen.frames}):
        return f"Missing in the page's Content-Security-Policy: frame-src {' '.join(blocked)}"
    if seen.frames:
        return f"The page has a frame of a survey, which cannot be loaded: {seen.frames[0]}."
    if seen.has_tag:
        return "The page came with the tag, but it is gone: a script of the page or an editor takes unknown tags out."
    return (
        "The page has no <deniable-survey>, no <deniable-question> and no frame of a survey. Tools that filter HTML "
        "take unknown tags out: look for a setting, or use the frame that 'deniable embed' prints. A page that shows "
        "it only after somebody pressed something, as experiments do, cannot be looked at like this, and neither can "
        "an interface of your own."
    )


def _of_element(
    element: SeenElement, seen: PageVisit, wanted: SurveyReference | None, ask: Inquiry
) -> Iterator[Remark]:
    name = "A frame" if element.frame else f"<{element.tag}>"
    try:
        place = _place(element, seen)
    except SurveyError as error:
        yield Remark(f"{name}: its src is no link of a survey; {error}", sign="PROBLEM")
        return
    yield Remark(f"{name} asks survey {place.survey} of {place.collector}.")
    if wanted is not None and wanted.survey != place.survey:
        yield Remark(f"This is another survey than {wanted.survey}.", sign="PROBLEM")
    elif wanted is not None and _is_elsewhere(wanted, place):
        yield Remark(f"This is another collector than {wanted.collector}.", sign="PROBLEM")
    if element.told in ("ready", "error") and (missing := _second_script_missing(seen)):
        yield Remark(
            f"It runs, but nobody can answer: {missing} cannot be loaded, or is of another version. It must stand "
            "beside the first script.",
            sign="PROBLEM",
        )
    elif element.told == "ready":
        yield Remark("It runs, and people can answer.")
        yield from _arrival(element, place, seen, ask)
    elif element.told in ("error", "closed") and (lacking := _lacking(element, place, ask)):
        yield Remark(
            f"It runs, and asks for {lacking}, which people bring in their link to this page. This address brings "
            "none, so nobody can answer here: check one of their links.",
            sign="NOTE",
        )
        yield from _arrival(element, place, seen, ask)
    elif element.told:
        refused = ask.refuses(place.collector, place.survey) if place.collector else None
        why = f" {refused[:1].upper()}{refused[1:]}; compare the link." if refused else ""
        yield Remark(f"It runs, but nobody can answer.{why} People read: {_quoted(element.said)}", sign="PROBLEM")
    else:
        yield Remark(_why_silent(element, seen), sign="PROBLEM")
    if place.collector and is_loopback(host_of(place.collector)):
        yield Remark(
            f"{place.collector} can be reached from this computer alone: other people's pages stay empty.", sign="NOTE"
        )
    yield from _in_one_language(element, place, ask)


def _in_one_language(element: SeenElement, place: SurveyReference, ask: Inquiry) -> Iterator[Remark]:
    """That a page with a language of its own shows a survey of several in one of them."""
    spoken = ask.languages(place.collector, place.survey) if place.collector and element.language else ()
    if spoken:
        yield Remark(
            f'The survey is translated ({", ".join(spoken)}), but the page says lang="{element.language}", so '
            "everybody reads the same language. Without lang, the survey follows each person's browser.",
            sign="NOTE",
        )


def _second_script_missing(seen: PageVisit) -> str | None:
    """The address of the script that a survey goes on with from Start, if the page asked for it in vain."""
    failed = next((each for each in seen.failed if _file(each) == SECOND_SCRIPT), None)
    kept_out = next((each.blocked for each in seen.violations if _file(each.blocked) == SECOND_SCRIPT), None)
    # Chromium says this of a hash that does not fit, and names the address.
    differs = any(SECOND_SCRIPT in line and "integrity" in line and "digest" in line for line in seen.lines)
    return failed or kept_out or (SECOND_SCRIPT if differs else None)


def _lacking(element: SeenElement, place: SurveyReference, ask: Inquiry) -> str | None:
    """What people must bring to the survey and the link of the element does not say."""
    brought = ask.brings(place.collector, place.survey) if place.collector else None
    return brought if brought and IN_FRAGMENT[brought] not in element.link.partition("#")[2] else None


def _place(element: SeenElement, seen: PageVisit) -> SurveyReference:
    """The survey of an element, whose link may be relative to the document in which it stands, as in a frame."""
    return read_place(urljoin(element.frame or seen.address, element.link))


def _is_elsewhere(wanted: SurveyReference, place: SurveyReference) -> bool:
    return None not in (wanted.collector, place.collector) and _origin(wanted.collector) != _origin(place.collector)


def _arrival(element: SeenElement, place: SurveyReference, seen: PageVisit, ask: Inquiry) -> Iterator[Remark]:
    if element.tag == "deniable-question":
        yield from _in_form(element)
        return
    assert place.collector is not None
    origin = place.collector if element.is_isolated else _origin(seen.address)
    if ask.takes(place.collector, place.survey, origin):
        yield Remark(f"A reply would arrive: the collector takes replies from pages of {origin}. None was sent.")
    else:
        yield Remark(f"No reply would arrive: the collector refuses replies from pages of {origin}.", sign="PROBLEM")


def _in_form(element: SeenElement) -> Iterator[Remark]:
    if element.is_in_form:
        yield Remark("Its value goes out with the form that it stands in; nothing goes to the collector.")
    else:
        yield Remark(
            "It stands in no form: its value goes nowhere unless a script of the page takes it. Nothing goes to the "
            "collector.",
            sign="NOTE",
        )


def _why_silent(element: SeenElement, seen: PageVisit) -> str:
    script = next((each for each in seen.scripts if _file(each.address) in BUNDLES), None)
    if not element.is_defined:
        return _why_undefined(script, seen)
    if element.reaches is False:
        return "Its script runs, but it cannot reach the collector: the page's policy, the network or the address."
    said = _quoted(element.said)
    return f"Its script runs, but it did not say in time that it can be answered. People read: {said}"


def _why_undefined(script: Script | None, seen: PageVisit) -> str:
    start = "It does not run, and people read what stands inside the tag: "
    if any(each.directive == "script-src" and _file(each.blocked) in BUNDLES for each in seen.violations):
        return f"{start}the page's Content-Security-Policy keeps its script out."
    if script is None:
        return f"{start}no script deniable.js or deniable-question.js is in the page."
    # Chromium says this of a hash that does not fit.
    if any("integrity" in line and "digest" in line for line in seen.lines):
        return (
            f"{start}{script.address} is another script than the integrity hash says. The collector was upgraded, or "
            "the script was changed: run 'deniable embed' again, or serve the script yourself with --own-folder."
        )
    if any("CORS" in line for line in seen.lines) or script.address in seen.failed:
        return f"{start}{script.address} cannot be loaded from this page."
    if script.kind != "module":
        return f'{start}its script must have type="module", got {script.kind or "none"!r}.'
    return f"{start}its script is of another element, or failed."


def _missing_policy(seen: PageVisit) -> Iterator[Remark]:
    """The lines of a policy that the page lacks, as its browser told them."""
    known = {_origin(element.link) for element in seen.elements}
    known |= {_origin(each.address) for each in seen.scripts if _file(each.address) in BUNDLES}
    lacking: dict[str, set[str]] = {}
    for each in seen.violations:
        if _origin(each.blocked) in known - {""}:
            lacking.setdefault(each.directive, set()).add(_origin(each.blocked))
    if lacking:
        lines = "; ".join(f"{directive} {' '.join(sorted(some))}" for directive, some in sorted(lacking.items()))
        yield Remark(f"Missing in the page's Content-Security-Policy: {lines}", sign="PROBLEM")


def _onlookers(seen: PageVisit) -> Iterator[Remark]:
    """Who could watch what people press."""
    if all(each.is_isolated for each in seen.elements):
        yield Remark("The page cannot look into the frame: it learns that somebody answers, and how high the frame is.")
        return
    foreign = sorted({_origin(each.address) for each in seen.scripts if each.address} - _own(seen))
    others = f", and so could scripts of {', '.join(foreign)}, which run in it" if foreign else ""
    # A question has no frame: its value is for the page.
    is_survey = any(each.tag == "deniable-survey" and not each.is_isolated for each in seen.elements)
    remedy = " <deniable-survey isolated> keeps it from that." if is_survey else ""
    yield Remark(
        f"The page could watch what people press, as with every element in the same page{others}.{remedy}",
        sign="NOTE",
    )
    if any(_file(each.address) in BUNDLES and not each.integrity for each in seen.scripts):
        yield Remark(
            "The element's script has no integrity hash: whoever serves it could serve another one.", sign="NOTE"
        )
    if not seen.is_secure:
        yield Remark("The page has no https: whoever is between could change it.", sign="NOTE")


def _own(seen: PageVisit) -> set[str]:
    """The page's own origin, and those from which the element's script comes."""
    return {_origin(seen.address)} | {_origin(each.address) for each in seen.scripts if _file(each.address) in BUNDLES}


def _origin(address: str | None) -> str:
    parts = urlsplit((address or "").lower())
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else ""


def _file(address: str) -> str:
    return urlsplit(address).path.rpartition("/")[2]


def _quoted(said: str) -> str:
    return f"\u201c{shorten(said, 200, placeholder=' …')}\u201d" if said else "nothing"


def lines_of(found: Sequence[Remark]) -> list[str]:
    """Findings as lines, each with its sign."""
    return [f"{each.sign:<8} {each.text}" for each in found]

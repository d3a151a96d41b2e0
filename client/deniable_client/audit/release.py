"""Whether what a collector serves is what was reviewed: script by its hash, page by what it loads and runs."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.resources import files
from urllib.parse import urljoin

from deniable.errors import CollectorError
from deniable_client.audit.blackbox.stand_in import Answer, RecordingRelay

SCRIPTS = ("deniable.js", "deniable-place.js")
"""The scripts of surveys' pages; the second one where reports are sealed."""

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
}
"""What the policy of a page must say at least; a page may only say less than that is allowed."""

_LOADING = ("src", "href", "data", "srcset", "action", "formaction", "poster", "background", "ping", "manifest")


def known_releases() -> dict[str, dict[str, str]]:
    """By version the hash of each script, in the form of the attribute ``integrity``; last what is installed here."""
    listed: dict[str, dict[str, str]] = json.loads((files(__package__) / "releases.json").read_text(encoding="utf-8"))
    built = json.loads((files("deniable_web") / "dist" / "manifest.json").read_text(encoding="utf-8"))
    return listed | {f"{built['version']} as installed here": built["integrity"]}


def integrity(content: bytes) -> str:
    """The hash of a script as pages write it."""
    return "sha384-" + base64.b64encode(hashlib.sha384(content).digest()).decode("ascii")


@dataclass
class _Elements(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    found: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))
        self._within = tag

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within in ("script", "style") and data.strip():
            self.inline.append(self._within)


VISITS = 44
"""How often page and script are asked for: what one visitor in ten gets is met with probability 0.99."""

LONGEST = 60.0
"""After so many seconds no more visits begin, however few there were."""

BUSY = 429
"""The status by which a collector asks for no more visits."""

ACTING = (
    *("set-cookie", "refresh", "link", "clear-site-data", "nel", "report-to", "reporting-endpoints"),
    *("service-worker-allowed", "speculation-rules", "accept-ch", "critical-ch"),
    "content-security-policy-report-only",
)
"""Headers by which a page makes browsers keep something, or ask for or tell something, beside what stands in it."""


@dataclass(frozen=True)
class Served:
    """What was found of a served page.

    Attributes
    ----------
    release : str or None
        The known release whose script is served.
    hash : str
        Of the script as it is served.
    faults : tuple of str
    visits : int
        How often page and script were fetched.
    is_there : bool
        Whether there were a page and a script at all; without them nobody can answer.
    others : tuple of str
        Names of the other scripts that the collector serves, to pages elsewhere, and that are of a known release.
    """

    release: str | None
    hash: str
    faults: tuple[str, ...]
    visits: int = 1
    is_there: bool = True
    others: tuple[str, ...] = ()


def check_served(relay: RecordingRelay, survey: str, visits: int = VISITS) -> Served:
    """Look at the page of a survey and its script, as anybody may fetch them, and whether each visit gets the same."""
    try:
        page, name, script = _visit(relay, survey)
    except CollectorError as error:
        return Served(None, "", (str(error),), is_there=False)
    served = integrity(script[2])
    release = _release_of(name, served)
    faults = [*_of_page(page, name, served, relay.upstream)]
    if script[0] != 200:
        faults.append(f"script: answered with status {script[0]}")
    elif release is None:
        faults.append(f"script: {served} is that of no release known here; build it from its sources and compare")
    if not page[0] == script[0] == 200:
        return Served(release, served, tuple(faults), is_there=False)
    done, unlike = _visited_again(relay, survey, (page, name, script), visits - 1)
    others, unknown = _other_scripts(relay, name)
    return Served(release, served, (*faults, *unlike, *unknown), 1 + done, others=tuple(others))


def _release_of(name: str, served: str) -> str | None:
    """The known release whose script of that name has a hash."""
    return next((each for each, hashes in known_releases().items() if hashes.get(name) == served), None)


def _other_scripts(relay: RecordingRelay, own: str) -> tuple[list[str], list[str]]:
    """The collector's other scripts, which pages elsewhere load: which are known, and what is wrong with the rest."""
    known: list[str] = []
    wrong: list[str] = []
    for name in sorted({each for hashes in known_releases().values() for each in hashes} - {own}):
        try:
            status, _, content = relay.page(f"/client/{name}")
        except CollectorError as error:
            wrong.append(f"script {name}: {error}")
            continue
        if status == 200 and _release_of(name, integrity(content)):
            known.append(name)
        elif status == 200:
            wrong.append(f"script {name}: {integrity(content)} is that of no release known here")
    return known, wrong


Visited = tuple[Answer, str, Answer]
"""A page, the name of its script, and the script."""


def _visit(relay: RecordingRelay, survey: str) -> Visited:
    page = relay.page(f"/s/{survey}")
    name = next((each for each in SCRIPTS if f"/client/{each}".encode() in page[2]), SCRIPTS[0])
    return page, name, relay.page(f"/client/{name}")


def _visited_again(relay: RecordingRelay, survey: str, first: Visited, visits: int) -> tuple[int, list[str]]:
    """How many more visits there were, and what differed in some of them."""
    give_up = time.monotonic() + LONGEST
    done = 0
    others: Counter[str] = Counter()
    while done < visits and time.monotonic() < give_up:
        try:
            visited = _visit(relay, survey)
            if BUSY in (visited[0][0], visited[2][0]):
                break  # a collector may have enough of one visitor
            done += 1
            others.update(_unlike(first, visited))
        except CollectorError as error:
            done += 1
            others[f"gave no page or script: {error}"] += 1
    return done, [f"{what}, in {times} of {1 + done} visits" for what, times in others.items()]


def _unlike(first: Visited, other: Visited) -> Iterable[str]:
    for what, (status, headers, content), (first_status, first_headers, first_content) in (
        ("page", other[0], first[0]), ("script", other[2], first[2]),
    ):  # fmt: skip
        if status != first_status:
            yield f"{what}: answered with status {status}"
        elif content != first_content:
            yield f"{what}: is another one than at the first visit"
        elif [headers.get(name) for name in _COMPARED] != [first_headers.get(name) for name in _COMPARED]:
            yield f"{what}: comes with other rules for browsers than at the first visit"


_COMPARED = ("content-security-policy", "content-type", "cross-origin-opener-policy", "permissions-policy", *ACTING)


def _of_page(page: Answer, script: str, served: str, origin: str) -> Iterable[str]:
    status, headers, content = page
    if status != 200:
        yield f"page: answered with status {status}"
        return
    elements = _Elements()
    elements.feed(content.decode("utf-8", errors="replace"))
    yield from (f"page: comes with the header {name}: {headers[name][:80]}" for name in ACTING if name in headers)
    yield from _of_policy(headers)
    scripts = [attributes for tag, attributes in elements.found if tag == "script"]
    if len(scripts) != 1 or not scripts[0].get("src", "").endswith(f"/client/{script}"):
        yield f"page: must load one script, /client/{script}, got {len(scripts)}"
    elif scripts[0].get("integrity") != served:
        yield "page: the hash that it gives for its script is not that of the script"
    for kind in elements.inline:
        yield f"page: holds a {kind} of its own"
    for tag, attributes in elements.found:
        yield from _of_element(tag, attributes, origin)


def _of_element(tag: str, attributes: Mapping[str, str], origin: str) -> Iterable[str]:
    for name in attributes:
        if name.startswith("on") or name == "style":
            yield f"page: <{tag}> has an attribute {name}"
    for name in _LOADING:
        # A link that somebody may press loads nothing by itself.
        if name in attributes and tag != "a" and not urljoin(f"{origin}/", attributes[name]).startswith(f"{origin}/"):
            yield f"page: <{tag}> loads from another place"
    if tag in ("iframe", "object", "embed", "form", "base", "video", "audio", "img"):
        yield f"page: holds <{tag}>"
    if tag == "link" and attributes.get("rel") not in ("stylesheet", "icon"):
        yield f"page: links {attributes.get('rel')!r}"
    if tag == "meta" and "http-equiv" in attributes:
        yield "page: has <meta http-equiv>"


def _of_policy(headers: Mapping[str, str]) -> Iterable[str]:
    rules = dict(
        each.strip().partition(" ")[::2]
        for each in headers.get("content-security-policy", "").split(";")
        if each.strip()
    )
    for name, wanted in POLICY.items():
        if rules.get(name) not in (wanted, "'none'"):
            yield f"policy: {name} must be {wanted}, got {rules.get(name)}"
    yield from (f"policy: has {name}, which tells somebody" for name in ("report-uri", "report-to") if name in rules)
    if rules.get("connect-src") != "'self'" and not str(rules.get("connect-src")).startswith("'self' "):
        yield f"policy: connect-src must be 'self' and an issuer at most, got {rules.get('connect-src')}"

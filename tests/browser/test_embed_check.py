"""``deniable embed --check``: real pages with what goes wrong in them, looked at by the command's own browser."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor as Pool

import pytest
from playwright.sync_api import Error

from deniable import ParameterError, Survey
from deniable_server.authors import page_visit
from deniable_server.authors.page_visit import visit
from tools.rig.browsing import another_site
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine, run_cli
from tools.rig.patience import PATIENCE

EMBED = CommandLine("embed")

pytestmark = pytest.mark.slow


def page_of(said: str, around: str = "ELEMENT") -> str:
    script, element = (re.search(rf"<{tag}.*?</{tag}>", said, re.DOTALL) for tag in ("script", "deniable-[a-z]+"))
    assert script
    assert element
    body = around.replace("ELEMENT", element[0])
    head = f"<!doctype html><html lang=en><title>x</title><link rel=icon href='data:,'>{script[0]}"
    return f"{head}<body>{body}</body></html>"


def looked(html: str, *more: str, policy: str = "") -> tuple[int, str]:
    """The exit code, and what it says of a page."""
    with another_site(html, {"Content-Security-Policy": policy} if policy else {}) as address:
        done = run_cli("embed", *more, "--check", address)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


@pytest.mark.long
def test_a_page_as_it_is_printed_runs_and_nothing_is_sent(link: str, collector: Collector, survey: Survey) -> None:
    before = collector.reports(survey)
    code, said = looked(page_of(EMBED.ok(link)))
    assert code == 0
    assert "PROBLEM" not in said
    assert f"<deniable-survey> asks survey {survey.id} of {collector.url}." in said
    assert "It runs, and people can answer." in said
    assert "A reply would arrive: the collector takes replies from pages of http://127.0.0.1" in said
    assert "The page could watch what people press" in said
    assert collector.reports(survey) == before


def other_hash(html: str) -> str:
    return re.sub(r"sha384-....", "sha384-AAAA", html)


def without_script(html: str) -> str:
    return re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


@pytest.mark.long
def test_what_is_missing_in_a_policy_is_named_line_by_line(link: str, collector: Collector) -> None:
    html, at = page_of(EMBED.ok(link)), collector.url
    code, said = looked(html, policy="default-src 'none'")
    assert code == 1
    assert "the page's Content-Security-Policy keeps its script out" in said
    assert f"Missing in the page's Content-Security-Policy: connect-src {at}; script-src {at}" in said
    code, said = looked(html, policy=f"default-src 'none'; script-src {at}")
    assert code == 1
    assert f"Missing in the page's Content-Security-Policy: connect-src {at}\n" in said
    code, said = looked(html, policy=f"default-src 'none'; script-src {at}; connect-src {at}")
    assert (code, "PROBLEM" in said) == (0, False)
    isolated = html.replace("<deniable-survey ", "<deniable-survey isolated ")
    code, said = looked(isolated, policy=f"default-src 'none'; script-src {at}; connect-src {at}")
    assert code == 1
    assert f"Missing in the page's Content-Security-Policy: frame-src {at}\n" in said
    code, said = looked(isolated, policy=f"default-src 'none'; script-src {at}; frame-src {at}")
    assert code == 0
    assert "The page cannot look into the frame" in said


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (other_hash, "is another script than the integrity hash says"),
        (without_script, "no script deniable.js or deniable-question.js is in the page"),
        (lambda html: html.replace('type="module"', 'type="text/plain"'), 'its script must have type="module"'),
        (lambda html: re.sub(r"/client/deniable.js", "/client/gone/deniable.js", html), "cannot be loaded"),
        (lambda html: re.sub(r"/s/[a-z2-7]{26}", "/s/" + "a" * 26, html), "there is none at this address; compare"),
        (lambda html: re.sub(r"/s/[a-z2-7]{26}", "/s/x", html), "its src is no link of a survey"),
        (lambda _: "<!doctype html><title>x</title><body>No survey.", "Tools that filter HTML take unknown tags out"),
        (
            lambda html: html + "<script>document.querySelector('deniable-survey').remove()</script>",
            "The page came with the tag, but it is gone",
        ),
    ],
)  # fmt: skip
def test_what_keeps_people_from_answering_is_said(change: object, said: str, link: str) -> None:
    assert callable(change)
    code, told = looked(change(page_of(EMBED.ok(link))))
    assert code == 1
    assert said in told
    assert "PROBLEM" in told


@pytest.mark.long
def test_questions_in_forms_frames_and_onlookers(link: str, collector: Collector, survey: Survey) -> None:
    asked = EMBED.ok(link, "--question", "affair")
    code, said = looked(page_of(asked, "<form>ELEMENT</form>"))
    assert code == 0
    assert "Its value goes out with the form that it stands in" in said
    assert "The page could watch what people press" in said
    assert "isolated" not in said, "a question has no frame"
    code, said = looked(
        page_of(asked).replace("<body>", f"<body><script src='{collector.url}/static/home.js'></script>")
    )
    assert "It stands in no form" in said
    frame = f"<!doctype html><html lang=en><title>x</title><iframe src='{collector.url}/embed/{survey.id}'></iframe>"
    code, said = looked(frame, link)
    assert code == 0
    assert f"A frame asks survey {survey.id} of {collector.url}." in said
    assert f"the collector takes replies from pages of {collector.url}." in said
    assert "The page cannot look into the frame" in said
    code, said = looked(frame, policy="default-src 'none'")
    assert code == 1
    assert f"Missing in the page's Content-Security-Policy: frame-src {collector.url}\n" in said
    with another_site("window.tracking = true;") as other:
        tracked = page_of(EMBED.ok(link)).replace("<body>", f"<body><script src='{other}x.js'></script>")
        code, said = looked(tracked, link)
        assert f"and so could scripts of {other.rstrip('/')}, which run in it" in said
    code, said = looked(tracked, "a" * 26)
    assert code == 1
    assert f"This is another survey than {'a' * 26}" in said


@pytest.mark.long
def test_pages_that_cannot_be_opened_are_said_to_be_so() -> None:
    for address, said in (
        ("http://127.0.0.1:9/", "net::ERR_"),
        ("file:///etc/passwd", "must be an address that starts"),
    ):
        done = run_cli("embed", "--check", address)
        assert done.returncode == 1
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_options_of_a_snippet_do_not_go_with_a_check() -> None:
    assert "--host does not go with --check" in EMBED.refused("--check", "http://x.example", "--host", "plain")
    assert "say which survey" in EMBED.refused()


@pytest.mark.long
def test_a_page_whose_script_never_ends_is_given_up() -> None:
    html = "<p>x<script>setTimeout(() => { for (;;); }, 100)</script>"
    refused = pytest.raises(
        ParameterError, match="must be one that can be opened, got one that seized the browser for 3"
    )
    # In a thread of its own, because a worker of these tests drives a browser already.
    with another_site(html) as address, Pool(1) as pool, refused:
        pool.submit(visit, address, longest=3.0).result(PATIENCE)


class Leading:
    """A page that leads on to another one while it is looked at, for as many times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def evaluate(self, _: str) -> dict[str, bool]:
        self.left -= 1
        if self.left >= 0:
            raise Error("Page.evaluate: Execution context was destroyed, most likely because of a navigation")
        return {"isSecure": True}


def test_a_page_that_leads_on_to_another_is_looked_at_again() -> None:
    page = Leading(1)
    assert page_visit._looked(page) is None  # type: ignore[arg-type]
    assert page_visit._looked(page) == {"isSecure": True}  # type: ignore[arg-type]


@pytest.mark.long
def test_a_page_that_leads_on_is_followed() -> None:
    html = "<p>x<script>if (!location.search) setTimeout(() => location.replace('?on'), 20)</script>"
    # In a thread of its own, because a worker of these tests drives a browser already.
    with another_site(html) as address, Pool(1) as pool:
        assert pool.submit(visit, address).result(PATIENCE).address.endswith("?on")

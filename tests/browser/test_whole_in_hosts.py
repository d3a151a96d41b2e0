"""A whole survey within jsPsych and SurveyJS: they learn whether a report was sent, and nothing of what is in it.

Its questions share one epsilon, so none of them could be embedded alone, and links to the host's page bring the cohort.
All of chance is fixed, also the report's id, so a host must be the same to the letter whichever answers were given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from deniable import Survey, read_survey
from tests.support.marks import long
from tools.rig.browsing import Witness, another_site, answer, everything_kept, wait_for
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.npm import serve_npm
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml

EMBED = CommandLine("embed")
STONES = ["MARKED quartz", "MARKED zirconium", "MARKED opal"]

FIXED = """{
    Crypto.prototype.getRandomValues = function (array) { return array.fill(0xffffffff); };
}"""
"""Of all words the highest, which keeps no answer: see `deniable.KAry.randomize`."""

SEEN = """
window.seen = [];
const note = (what, value) => seen.push([what, JSON.parse(JSON.stringify(value ?? null))]);
const told = ({ type, target, detail }) => note(`event ${type}`, [target.localName, target.value, detail]);
const kinds = ["change", "input", "submit", "deniable-ready", "deniable-start", "deniable-submit", "deniable-complete"];
for (const kind of kinds) addEventListener(kind, told, true);
"""

JSPSYCH = f"""<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,">
<script src="/npm/jspsych/dist/index.browser.min.js"></script>
SCRIPTS
<body><script>
{SEEN}
const jsPsych = initJsPsych({{
    on_trial_finish: (data) => note("trial", data),
    on_finish: () => window.kept = jsPsych.data.get().values()[0].report,
}});
GIVEN
jsPsych.getTotalTime = () => 0; // how long a person took is no matter here
addEventListener("load", () => jsPsych.run([asked]));
</script></body>"""

SURVEYJS = f"""<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,">
<script src="/npm/survey-core/survey.core.min.js"></script>
<script src="/npm/survey-js-ui/survey-js-ui.min.js"></script>
SCRIPTS
<body><div id="survey"></div><script>
{SEEN}
const survey = new Survey.Model({{ pages: [{{ elements: [GIVEN] }}] }});
survey.onValueChanged.add((_, {{ name, value }}) => note("value", [name, value]));
survey.onComplete.add(() => window.kept = survey.data.survey ?? "none");
addEventListener("load", () => survey.render(document.getElementById("survey")));
</script></body>"""

HOSTS = {
    "jspsych": (JSPSYCH, r"const asked = .*?\n\};", "Continue"),
    "surveyjs": (SURVEYJS, r"^\{\n  type.*?^\}", "Complete"),
}
"""Of each host a page, what `deniable embed` prints for it besides scripts, and the button that goes on."""


@pytest.fixture(scope="module")
def survey() -> Survey:
    questions = [question_toml(each, "choice", f"Which {each}?", options=STONES) for each in ("stone", "gem")]
    keys = {"epsilon": 2, "draw": 2, "cohorts": ["works", "desk"], "cohort_required": True}
    return read_survey(survey_toml("Whole", *questions, **keys))


@pytest.fixture
def link(collector: Collector, survey: Survey) -> str:
    return collector.publish(survey)


def page_of(host: str, link: str) -> str:
    """A page of the host with what `deniable embed` prints for it, pasted where it says."""
    html, given, _ = HOSTS[host]
    said = EMBED.ok(link, "--host", host)
    pasted = re.search(given, said, re.DOTALL | re.MULTILINE)
    assert pasted
    return html.replace("SCRIPTS", "\n".join(re.findall(r"<script.*?</script>", said, re.DOTALL))).replace(
        "GIVEN", pasted[0]
    )


@contextmanager
def opened(browser: Browser, html: str, fragment: str = "#cohort=works") -> Iterator[tuple[Page, Witness]]:
    """The host's page, by a link that brings a cohort."""
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.add_init_script(FIXED)
    serve_npm(page)
    witness = Witness.of(page)
    try:
        with another_site(html) as address:
            page.goto(f"{address}{fragment}")
            yield page, witness
    finally:
        context.close()


def walk(browser: Browser, host: str, html: str, survey: Survey, answers: dict[str, str]) -> tuple[str, list[bytes]]:
    """Everything that the host was told, holds, kept and sent, and the reports that went to the collector."""
    with opened(browser, html) as (page, witness):
        answer(page, survey, answers)
        page.get_by_role("button", name=HOSTS[host][2], exact=True).click()
        wait_for(page, lambda: page.evaluate("window.kept"), "the host is done")
        state = {
            "seen": page.evaluate("seen"),
            "kept": [page.evaluate("kept"), everything_kept(page)],
            "lines": witness.lines,
            "markup": page.evaluate("document.documentElement.outerHTML"),
        }
        assert state["kept"][0] == "sent"
        return re.sub(r"127\.0\.0\.1:\d+", "SITE", json.dumps(state, sort_keys=True)), witness.posts()


@pytest.mark.parametrize("host", ["jspsych", long("surveyjs")])
def test_hosts_learn_that_a_report_was_sent_and_are_the_same_whatever_was_answered(
    host: str, link: str, survey: Survey, browser: Browser, collector: Collector
) -> None:
    html = page_of(host, link)
    people = [dict.fromkeys(("stone", "gem"), each) for each in STONES[:2]]
    (one, report), (other, same) = (walk(browser, host, html, survey, each) for each in people)
    assert one == other
    assert "MARKED" not in one
    assert report == same
    assert json.loads(report[0])["cohort"] == "works"
    assert collector.reports(survey) == 1  # the very report, however often it comes, is one


@pytest.mark.long
def test_a_plain_page_hands_on_its_link_under_the_policy_that_is_printed(
    link: str, survey: Survey, context: BrowserContext
) -> None:
    said = EMBED.ok(link, "--host", "plain")
    parts = re.findall(r"<(?:script|deniable-survey).*?</(?:script|deniable-survey)>", said, re.DOTALL)
    policy = re.search(r"it needs: (.*)", said)
    assert policy
    page = context.new_page()
    with another_site(
        "<!doctype html><title>x</title>" + "\n".join(parts),
        {"Content-Security-Policy": f"default-src 'none'; {policy[1]}"},
    ) as address:
        page.goto(f"{address}#cohort=desk")
        answer(page, survey, dict.fromkeys(("stone", "gem"), STONES[0]))


def test_embed_keeps_the_cohort_of_a_link_and_refuses_what_nobody_could_follow(link: str) -> None:
    assert 'src: "' + link + '#cohort=works",' in EMBED.ok(f"{link}#cohort=works", "--host", "jspsych")
    assert "its cohorts are works, desk, got 'moon'" in EMBED.refused(f"{link}#cohort=moon")
    assert "without an invitation" in EMBED.refused(f"{link}#cohort=works&invitation={'0' * 32}")
    assert "shares its epsilon with others" in EMBED.refused(link, "--question", "stone")
    assert "This tool cannot hand on cohorts" in EMBED.ok(link, "--host", "otree")


def test_embed_hands_on_a_cohort_that_links_may_leave_out(collector: Collector) -> None:
    """Without this, everybody of `study.html#cohort=works` counted as of no cohort, and nobody heard of it."""
    asked = question_toml("stone", "choice", "Which?", options=STONES, epsilon=1)
    link = collector.publish(read_survey(survey_toml("Optional", asked, cohorts=["works", "desk"])))
    assert f'src: "{link}" + location.hash,' in EMBED.ok(link, "--host", "jspsych")
    assert "page#cohort=desk" in EMBED.ok(link, "--host", "plain")


@pytest.mark.long
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("trouble", ["nobody answers", "no script", "no cohort"])
def test_nobody_has_to_answer(host: str, trouble: str, link: str, browser: Browser) -> None:
    html = page_of(host, link)
    if trouble == "no script":
        html = re.sub(r"sha384-[^\"]+(?=\" crossorigin></script>\n<script src=\"[^\"]+hosts)", "sha384-AAAA", html)
    with opened(browser, html, "" if trouble == "no cohort" else "#cohort=desk") as (page, witness):
        shown = {"nobody answers": "Whole", "no script": "could not be loaded", "no cohort": "Nothing was sent"}
        expect(page.get_by_text(shown[trouble]).first).to_be_visible()
        page.get_by_role("button", name=re.compile("Continue without answering|Complete")).click()
        wait_for(page, lambda: page.evaluate("window.kept"), "the host is done")
        assert page.evaluate("kept") == "none"
        assert witness.posts() == []


@pytest.mark.long
def test_a_simulated_experiment_sends_nothing(link: str, context: BrowserContext) -> None:
    page = context.new_page()
    serve_npm(page)
    witness = Witness.of(page)
    with another_site(page_of("jspsych", link).replace("jsPsych.run(", "jsPsych.simulate(")) as address:
        page.goto(address)
        wait_for(page, lambda: page.evaluate("window.kept"), "the simulation is over")
        assert page.evaluate("kept") == "none"
        assert witness.posts() == []

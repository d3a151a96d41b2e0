"""Qualtrics, LimeSurvey and WordPress, which no registry has: their pages by record, written here from their sources.

What is of these tools are facts: names, ids, classes, the order of elements, functions, events and what is saved when.

* LimeSurvey 6: of the repository LimeSurvey/LimeSurvey, below ``themes/survey/vanilla/views/subviews/``,
  ``header/start_form.twig``, ``survey/group_subviews/group_container.twig``, ``survey/question_container.twig``,
  ``survey/question.twig`` and ``navigation/navigator.twig`` with their columns; ``aSurveyInfo.class`` and ``.attr`` by
  ``application/models/TemplateConfig.php``; the input by
  ``application/views/survey/questions/answer/shortfreetext/text/item.twig``; events by
  ``assets/packages/limesurvey/survey.js``. Expressions by its manual, page "ExpressionScript How-tos": a brace with no
  space behind it begins one.
* Qualtrics: its documentation "JavaScript Question API Class" (``addOnReady``, ``disableNextButton``,
  ``setEmbeddedData`` of older layouts and ``setJSEmbeddedData`` of the new survey taking experience). The older layout
  as a whole page that somebody saved from iu.co1.qualtrics.com in 2019, page ``P_1549180718669``, whose QID1 is a text
  without an answer, from ``JFE`` over ``QuestionOuter BorderColor DB`` and ``Inner BorderColor TB`` to ``NextButton``;
  its names stand too in ``cocreate-qualtrics/qualtrics-legacy-loader.js`` of the repository marko-choi/cocreate
  (``Skin``, ``SkinInner``, ``Questions``, ``QuestionText``, ``QuestionBody``, ``Buttons``), which sets fields by
  ``setEmbeddedData``, and ``DB``, ``TB`` and ``QID1`` in ``qualtrics-metadata.js`` there. The new layout, from
  ``main`` to ``next-button``, as in ``questions/page2.html`` (a text without an answer, there QID66) of the repository
  PuneethRegonda/survey at commit 911541a of October 2025: parts of 29 pages, saved with scripts and head left out, of
  samtranscore.sjc1.qualtrics.com. Other pages there have a second question, answers and a button back in the same
  places. Where scripts and embedded data stand in its page is by the documentation alone.
* WordPress 6.1.9 of Debian with the theme Twenty Twenty-Three, as it came from a real one with the block in it: classes
  of ``post-template.php``, ``block-template.php``, ``theme-templates.php``, ``block-supports/layout.php`` and
  ``blocks/post-content.php`` in ``wp-includes``, and ``templates/page.html`` of the theme.

All of chance is fixed, so everything that a host is told, keeps, saves and sends must be the same to the letter
whichever answer was given. Export files have the layout of each tool.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from deniable import Survey, read_survey
from deniable_research import read
from tests.browser.test_host_plugins import MADE_OF_IT, OPTIONS, SEEN, prepared, trace
from tests.support.marks import long
from tools.rig.browsing import another_site, answer, wait_for
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.patience import PATIENCE
from tools.rig.survey_files import question_toml, survey_toml

EMBED = CommandLine("embed")

pytestmark = pytest.mark.slow

ALL_FIXED = "Crypto.prototype.getRandomValues = function (array) { return array.fill(0xffffffff); };"
"""Of all words the highest, also for ids of reports, so that a whole report is the same too."""

HEAD = f"""<!doctype html><html lang="en"><head><title>x</title><link rel="icon" href="data:,">
<script>{SEEN}</script></head>"""

LIMESURVEY = f"""{HEAD}<body class="lang-en groupbygroup"><article><div id="dynamicReloadContainer">
<form id="limesurvey" name="limesurvey" autocomplete="off" class="survey-form-container form"
action="/index.php/812345" method="post">
<input type="hidden" value="c5" name="YII_CSRF_TOKEN"><input type="hidden" name="ajax" value="off" id="ajax">
<input type="hidden" name="fieldnames" value="812345X7X42" id="fieldnames">
<input type="hidden" name="sid" value="812345" id="sid">
<button type="submit" id="defaultbtn" value="default" name="move" class="submit hidden" style="display:none">default
</button>
<div id="group-0" class="group-container space-col"><div id="question42" class="row KIND question-container">
<div class="question-title-container col-12"><div class="question-text">
<div id="ls-question-text-812345X7X42" class="ls-label-question">GIVEN</div></div></div>
<div class="answer-container col-12">ANSWER</div></div></div>
<input type="hidden" id="relevance42" name="relevance42" value="1">
<div class="row navigator space-col" id="navigator-container"><div class="col-6 text-start"></div>
<div class="col-6 text-end"><button type="submit" id="ls-button-submit" value="movesubmit" name="move"
class="ls-move-btn ls-move-submit-btn btn btn-lg btn-primary">Submit</button></div></div>
</form></div></article><script>
const form = document.getElementById("limesurvey");
const given = () => Object.fromEntries(new FormData(form));
// The Expression Manager listens to inputs of the form, and a survey that can be resumed later saves all of them.
for (const kind of ["keyup", "change"]) form.addEventListener(kind, ({{ target }}) => {{
    if (!target.matches("input[type=text]")) return;
    note("ExprMgr_process_relevance_and_tailoring", [target.name, target.value]);
    save({{ ...given(), move: "saveall" }});
}});
form.addEventListener("submit", (event) => {{
    event.preventDefault();
    note("all", given());
    window.complete = given();
}});
window.done = () => !!window.complete;
window.exported = () => window.complete["812345X7X42"] ?? "";
</script></body></html>"""

SHORT_TEXT = """<div class="answer-item text-item col-12"><input class="form-control" type="text" name="812345X7X42"
id="answer812345X7X42" value="" placeholder="" aria-labelledby="ls-question-text-812345X7X42"></div>"""

CLASSIC = """<div class="JFE" id="P_1549180718669"><div class="JFEContent SkinV2 webkit CSS3">
<form action="" method="POST"><div class="Skin"><div id="Overlay"></div><div id="Wrapper"><div id="ProgressBar"></div>
<div class="SkinInner"><div id="LogoContainer"><div id="Logo"></div></div>
<div id="HeaderContainer"><div id="Header" role="banner"></div></div>
<div id="SkinContent"><div id="Questions" role="main"><div id="QID1Separator" class="Separator"></div>
<div class="QuestionOuter BorderColor DB  QID1" id="QID1" questionid="QID1" posttag="QID1">
<div id="QR~QID1~VALIDATION" class="ValidationError" role="alert" style="display: none;"></div>
<div id="QR~QID1~SDPVALIDATION" class="ValidationError" role="alert" style="display: none;"></div>
<div class="Inner BorderColor TB"><div class="InnerInner BorderColor"><fieldset>
<legend><div class="QuestionText BorderColor">TEXT</div></legend><div class="QuestionBody"></div>
</fieldset></div></div></div></div>
<div id="Buttons" role="navigation"><input id="NextButton" class="NextButton Button" title="Next" type="submit"
name="NextButton" value="Next" aria-label="Next"></div></div></div><div id="Footer" role="contentinfo"></div>
<div id="PushStickyFooter"></div></div><div id="Plug" style="display:block !important;"></div></div>
</form></div></div>"""

NEW = """<main class="questions-container" id="survey-canvas"><div id="canvas-heading"></div>
<section class="transition-none transition-forward" id="contents" style="height: auto;"><div>
<div class="transition-content" id="content-2"><div class="content"><div></div>
<section class="question db" id="question-QID1"><div class="question-error-wrapper"><div>
<div class="overflow-container shadowbox"><div class="overflow-content shadowbox-inner">
<div class="question-display-wrapper" id="question-display-wrapper-QID1" tabindex="-1">
<div class="question-display rich-text" id="question-display-QID1">TEXT</div></div>
<div class="question-content"></div></div></div></div></div></section>
</div></div></div></section><div><nav id="navigation"><div id="secondary-navigation"></div>
<div id="primary-navigation"><button aria-label="Next page" class="navigation-button" id="next-button" type="button">
<span></span><svg aria-hidden="true" data-icontype="ChevronRight" height="1.5rem" viewBox="0 0 24 24" width="1.5rem">
</svg></button></div></nav></div></main>"""

QUALTRICS = f"""{HEAD}<body id="SurveyEngineBody">LAYOUT<script>
const fields = {{}};
const next = document.querySelector("#NextButton, #next-button");
const outer = document.querySelector("#QID1, #question-QID1");
const set = (name, value) => {{
    fields[name] = value;
    note("embedded data", fields);
    save({{ ...fields, LastSaved: "QID1" }});
}};
const handlers = [];
const question = {{
    questionId: "QID1",
    getQuestionContainer: () => outer,
    disableNextButton: () => next.disabled = true,
    enableNextButton: () => next.disabled = false,
}};
const add = (f) => handlers.push(f);
window.Qualtrics = {{ SurveyEngine: {{ addOnload: add, addOnReady: add, SETTER }} }};
// A handler of clicks on a question gets the element that was clicked, as the page sees it.
question.getQuestionContainer().addEventListener("click", ({{ target }}) => note("questionclick", target.localName));
// The new layout has no form.
next.addEventListener("click", (event) => {{
    event.preventDefault();
    note("all", fields);
    save({{ ...fields, ed: true }});
    window.complete = true;
}});
window.done = () => !!window.complete;
window.exported = () => fields["__js_stone"] ?? "";
</script><script>GIVEN</script>
<script>addEventListener("load", () => handlers.forEach((f) => f.call(question)));</script></body></html>"""

LAYOUTS = {
    "new": (NEW, "setJSEmbeddedData: (key, value) => set(`__js_${key}`, value)"),
    "classic": (CLASSIC, "setEmbeddedData: (key, value) => set(key, value)"),
}
"""The markup of each layout, and its function, of which the other one has none."""

WORDPRESS = f"""{HEAD}<body class="page-template-default page page-id-4 wp-embed-responsive">
<div class="wp-site-blocks">
<main class="is-layout-flow wp-block-group" id="wp--skip-link--target">
<div class="has-global-padding is-layout-constrained wp-block-group"><h1 class="wp-block-post-title">Study</h1></div>
<div class="has-global-padding is-layout-constrained entry-content wp-block-post-content">
<p>Please answer.</p>



GIVEN
</div></main></div><script>
const form = document.querySelector(".entry-content form");
form?.addEventListener("submit", (event) => {{
    event.preventDefault();
    window.complete = Object.fromEntries(new FormData(form));
    note("all", complete);
    save(complete);
}});
window.done = () => !form || !!window.complete;
window.exported = () => window.complete?.stone ?? "";
</script></body></html>"""


def pasted(said: str, step: str) -> str:
    """What `deniable embed` prints for the step whose first words these are."""
    found = re.search(rf"^\d+\. {step}.*?:\n\n(.*?)\n\n(?=\d+\. |If the page)", said, re.DOTALL | re.MULTILINE)
    assert found, said
    return found[1]


def limesurvey(said: str) -> str:
    """The page with a text in it as LimeSurvey shows it: every expression replaced, of which there may be one alone."""
    text = pasted(said, "A question of the type")
    expressions = set(re.findall(r"\{(?!\s)(.*?)(?<!\s)\}", text))
    is_question = "deniable-question" in text
    assert expressions == ({"SGQ"} if is_question else set())
    html = LIMESURVEY.replace("GIVEN", text.replace("{SGQ}", "812345X7X42"))
    kind, field = ("text-short", SHORT_TEXT) if is_question else ("boilerplate", "")
    return html.replace("KIND", kind).replace("ANSWER", field)


def qualtrics(layout: str) -> Callable[[str], str]:
    def page(said: str) -> str:
        markup, setter = LAYOUTS[layout]
        html = QUALTRICS.replace("LAYOUT", markup).replace("SETTER", setter)
        html = html.replace("TEXT", pasted(said, "A question of the type"))
        return html.replace("GIVEN", pasted(said, "The JavaScript"))

    return page


def wordpress(said: str) -> str:
    block = pasted(said, "A block of the kind Custom HTML")
    return WORDPRESS.replace("GIVEN", f"<form>{block}<button>Save</button></form>" if "-question" in block else block)


@dataclass(frozen=True)
class Host:
    """A host: its name for `deniable embed`, its page with what that prints, and the button that goes on."""

    name: str
    page: Callable[[str], str]
    button: str


HOSTS = {
    "limesurvey": Host("limesurvey", limesurvey, "Submit"),
    "qualtrics, new": Host("qualtrics", qualtrics("new"), "Next page"),
    "qualtrics, classic": Host("qualtrics", qualtrics("classic"), "Next"),
    "wordpress": Host("wordpress", wordpress, "Save"),
}


def qualtrics_export(value: str) -> str:
    names = ["StartDate", "Status", "Finished", "ResponseId", "__js_stone"]
    titles = ["Start Date", "Response Type", "Finished", "Response ID", "__js_stone"]
    ids = [json.dumps({"ImportId": name}) for name in names]
    return _csv([names, titles, ids, ["2026-11-20 10:00:00", "IP Address", "True", "R_1", value]], ",")


def limesurvey_export(value: str) -> str:
    return _csv(
        [["id", "submitdate", "lastpage", "startlanguage", "stone"], ["1", "2026-11-20", "1", "en", value]], ";"
    )


EXPORTS = {"limesurvey": limesurvey_export, "qualtrics": qualtrics_export}


def _csv(rows: list[list[str]], between: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=between, quoting=csv.QUOTE_ALL).writerows(rows)
    return text.getvalue()


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(survey_toml("Stones", question_toml("stone", "choice", "Which?", options=OPTIONS, epsilon=1)))


@pytest.fixture
def link(collector: Collector, survey: Survey) -> str:
    return collector.publish(survey)


def visited(
    browser: Browser, html: str, give: Callable[[Page], None], press: str | None, *, fixed: str = ""
) -> tuple[str, str, list[bytes]]:
    """Answer in a page: its trace, the value in the host's own form, and the bodies that went to the collector."""
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(PATIENCE * 1000)
    try:
        page, witness = prepared(context)
        page.add_init_script(fixed)
        with another_site(html) as address:
            page.goto(address)
            give(page)
            if press:
                page.get_by_role("button", name=press, exact=True).click()
            wait_for(page, lambda: page.evaluate("done()"), "the host is done")
            page.wait_for_load_state("networkidle")
            reports = [body for body in witness.posts() if b'"values"' in body]
            return trace(page, witness), page.evaluate("exported()"), reports
    finally:
        context.close()


def mixed(option: str) -> Callable[[Page], None]:
    """How a person answers the one question."""

    def give(page: Page) -> None:
        page.get_by_role("radio", name=option).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()

    return give


@pytest.mark.parametrize("host", ["limesurvey", *map(long, [each for each in HOSTS if each != "limesurvey"])])
def test_the_host_gets_the_value_and_is_the_same_whatever_was_answered(
    host: str, link: str, survey: Survey, browser: Browser, tmp_path: Path
) -> None:
    about = HOSTS[host]
    html = about.page(EMBED.ok(link, "--host", about.name, "--question", "stone"))
    (one, value, sent), (other, same, _) = (visited(browser, html, mixed(each), about.button) for each in OPTIONS[:2])
    assert one == other
    assert "MARKED" not in one
    assert value == same == MADE_OF_IT
    assert sent == []  # nothing goes to the collector
    if about.name in EXPORTS:
        path = tmp_path / "export.csv"
        path.write_text(EXPORTS[about.name](value), encoding="utf-8", newline="")
        table = read(path, survey, host=about.name).table
        assert list(table.reports_of("stone")) == [int(MADE_OF_IT)]


@pytest.mark.parametrize("host", [long("limesurvey"), long("qualtrics, new"), long("wordpress")])
def test_a_whole_survey_arrives_and_the_host_sees_nothing_of_it(
    host: str, link: str, survey: Survey, collector: Collector, browser: Browser
) -> None:
    about = HOSTS[host]
    html = about.page(EMBED.ok(link, "--host", about.name))
    people = [lambda page, each=each: answer(page, survey, {"stone": each}) for each in OPTIONS[:2]]
    press = None if host == "wordpress" else about.button
    (one, value, report), (other, _, same) = (visited(browser, html, each, press, fixed=ALL_FIXED) for each in people)
    assert one == other
    assert "MARKED" not in one
    assert value == ""
    assert report == same
    assert len(report) == 1
    assert collector.reports(survey) == 1  # the very report, however often it comes, is one


@pytest.mark.long
def test_nobody_can_type_an_answer_into_the_input_of_limesurvey(link: str, browser: Browser) -> None:
    said = EMBED.ok(link, "--host", "limesurvey", "--question", "stone")
    assert "script-src" in said
    assert "'unsafe-inline'" in said  # of a script in which LimeSurvey replaces something nobody knows the hash
    page = browser.new_page()
    with another_site(limesurvey(said)) as address:
        page.goto(address)
        expect(page.get_by_role("radio").first).to_be_visible()
        expect(page.locator("#answer812345X7X42")).to_be_hidden()
    page.close()


@pytest.mark.long
def test_qualtrics_holds_the_button_until_there_is_a_value(link: str, browser: Browser) -> None:
    page = browser.new_page()
    html = qualtrics("new")(EMBED.ok(link, "--host", "qualtrics", "--question", "stone"))
    with another_site(html) as address:
        page.goto(address)
        expect(page.get_by_role("button", name="Next page")).to_be_disabled()
        mixed(OPTIONS[0])(page)
        expect(page.get_by_role("button", name="Next page")).to_be_enabled()
    page.close()

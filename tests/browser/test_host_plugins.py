"""Plugins for jsPsych and SurveyJS, in the very libraries of npm: the host gets what chance made of an answer, alone.

The chance of the page is fixed, so that every answer becomes the same noisy value. Whatever the host keeps, tells,
saves and sends must then be the same, to the letter, whichever answer was given.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from deniable import Survey, read_survey
from deniable_research import read
from tests.support.marks import long
from tools import programs
from tools.rig.browsing import Witness, another_site, answer, everything_kept, wait_for
from tools.rig.collectors import Collector
from tools.rig.command_line import CommandLine
from tools.rig.npm import MODULES, WEB, serve_npm
from tools.rig.patience import PATIENCE
from tools.rig.php import php
from tools.rig.survey_files import question_toml, survey_toml

EMBED = CommandLine("embed")
OPTIONS = ["MARKED quartz", "MARKED zirconium", "MARKED opal"]
MADE_OF_IT = "2"
"""What the fixed chance makes of the first two answers."""

FIXED = """{
    const real = Crypto.prototype.getRandomValues;
    Crypto.prototype.getRandomValues = function (array) {
        return array instanceof Uint32Array ? array.fill(0xffffffff) : real.call(this, array);
    };
}"""
"""Of all words the highest, which keeps no answer: see `deniable.KAry.randomize`."""

SEEN = """
window.seen = [];
const note = (what, value) => seen.push([what, JSON.parse(JSON.stringify(value ?? null))]);
for (const kind of ["change", "input", "submit", "deniable-ready", "deniable-complete", "deniable-error"]) {
    const tell = ({ target, detail }) => note(`event ${kind}`, [target.localName, target.value, detail]);
    addEventListener(kind, tell, true);
}
const save = (kept) => {
    localStorage.setItem("autosave", JSON.stringify(kept));
    fetch("/store", { method: "POST", body: JSON.stringify(kept) });
};
"""
"""What every host of these tests does: write down what it is told, save it and send it, as autosaving studies do."""

JSPSYCH = """<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,">
<script src="/npm/jspsych/dist/index.browser.min.js"></script>
SCRIPTS
<body><script>
SEEN
const jsPsych = initJsPsych({
    on_trial_finish: (data) => note("trial", data),
    on_data_update: (data) => { note("data", data); save(jsPsych.data.get().values()); },
    on_interaction_data_update: (data) => note("interaction", data.event),
    on_finish: () => { note("all", jsPsych.data.get().values()); window.csv = jsPsych.data.get().csv(); },
});
window.done = () => !!window.csv;
window.exported = () => window.csv;
GIVEN
jsPsych.data.addProperties({ subject: "s1" });
jsPsych.getTotalTime = () => 0; // how long a person took is no matter here
addEventListener("load", () => jsPsych.run([asked]));
</script></body>"""

SURVEYJS = """<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/npm/survey-core/survey-core.fontless.min.css">
<script src="/npm/survey-core/survey.core.min.js"></script>
<script src="/npm/survey-js-ui/survey-js-ui.min.js"></script>
SCRIPTS
<body><div id="survey"></div><script>
SEEN
const survey = new Survey.Model({ pages: [
    { elements: [GIVEN, { type: "text", name: "age" }] },
    { elements: [{ type: "comment", name: "more" }] },
], showPreviewBeforeComplete: "showAllQuestions" });
for (const [name, event] of Object.entries(survey)) {
    // Whoever listens to the first has to answer for a server.
    if (name === "onServerValidateQuestions") continue;
    if (name.startsWith("on") && event?.add) event.add((sender, { name: about, value, oldValue, html }) => {
        if (about !== undefined || value !== undefined) note(name, [about, value, oldValue]);
    });
}
survey.onValueChanged.add(() => save(survey.data));
survey.onCurrentPageChanged.add(() => save({ ...survey.data, page: survey.currentPageNo }));
survey.onComplete.add(() => { note("all", survey.getPlainData()); window.complete = JSON.stringify([survey.data]); });
window.done = () => !!window.complete;
window.exported = () => window.complete;
window.model = () => survey.toJSON();
addEventListener("load", () => survey.render(document.getElementById("survey")));
</script></body>"""


FORM = """<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,">
SCRIPTS
<body><div id="app"></div><script>
SEEN
const submit = (event) => {
    event.preventDefault();
    const kept = Object.fromEntries(new FormData(event.target));
    note("all", kept);
    save(kept);
    window.complete = JSON.stringify([kept]);
};
window.done = () => !!window.complete;
window.exported = () => window.complete;
</script>
LIBRARY
</body>"""
"""An app whose form keeps what it is told, made by a framework."""

REACT = """
import { useState } from "react";
import { createRoot } from "react-dom/client";
GIVEN
const App = () => {
    const [kept, keep] = useState("");
    note("state", kept);
    return <form onSubmit={submit} onChange={({ target }) => keep(target.value)}><Asked /><button>Save</button></form>;
};
createRoot(document.getElementById("app")).render(<App />);
"""

VUE = """
<script src="/npm/vue/dist/vue.global.prod.js"></script>
<script>
const app = Vue.createApp({
    data: () => ({ kept: "" }),
    methods: { submit, keep({ target }) { this.kept = target.value; } },
    watch: { kept: (value) => note("state", value) },
    template: `<form @submit="submit" @change="keep">GIVEN<button>Save</button></form>`,
});
app.config.compilerOptions.isCustomElement = (tag) => tag.startsWith("deniable-");
app.mount("#app");
</script>
"""


SVELTE = """
<script>
let value = $state("");
$effect(() => note("state", value));
</script>
<form onsubmit={submit}>GIVEN<button>Save</button></form>
"""

OF_SVELTE = re.search(
    r"^## Svelte\n.*?```html\n(.*?)```",
    (WEB.parents[1] / "docs" / "embedding" / "frameworks.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)
"""What the documents say of Svelte, for a question called affair."""

PHP = """
<form onsubmit="keep(event)">GIVEN<button>Save</button></form>
<script>
const keep = (event) => {
    submit(event);
    fetch("/store.php", { method: "POST", body: new URLSearchParams(new FormData(event.target)) });
};
</script>
"""

STORE = re.search(
    r"^## PHP\n.*?```php\n(.*?)```",
    (WEB.parents[1] / "docs" / "embedding" / "servers.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)
"""What the documents say of a server of PHP, for a yes-no question called affair."""


def finish_jspsych(page: Page) -> None:
    page.get_by_role("button", name="Continue").click()


def finish_surveyjs(page: Page) -> None:
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Complete").click()


def finish_form(page: Page) -> None:
    page.get_by_role("button", name="Save").click()


HOSTS: dict[str, tuple[str, Callable[[Page], None], str]] = {
    "jspsych": (JSPSYCH, finish_jspsych, "data.csv"),
    "surveyjs": (SURVEYJS, finish_surveyjs, "results.json"),
    "react": (FORM, finish_form, "results.json"),
    "vue": (FORM, finish_form, "results.json"),
    "svelte": (FORM, finish_form, "results.json"),
    "php": (FORM, finish_form, "results.json"),
}
PLUGINS = ("jspsych", "surveyjs")
GIVEN = {
    "jspsych": r"const asked = .*?\n\};",
    "surveyjs": r"^\{\n  type.*?^\}",
    "react": r"export const Asked.*?^\);",
    "vue": r"<deniable-question.*?</deniable-question>",
    "php": r"<deniable-question.*?</deniable-question>",
}
"""What `deniable embed` prints for each host, besides scripts."""


@pytest.fixture(scope="module")
def survey() -> Survey:
    return read_survey(survey_toml("Hosts", question_toml("stone", "choice", "Which?", options=OPTIONS, epsilon=1)))


@pytest.fixture
def link(collector: Collector, survey: Survey) -> str:
    return collector.publish(survey)


def page_of(host: str, link: str) -> str:
    """A page of the host with what `deniable embed` prints for it, pasted where it says."""
    printed = "plain" if host in ("php", "svelte") else host
    said = EMBED.ok(link, "--host", printed, "--question", "stone")
    scripts = "\n".join(re.findall(r"<script.*?</script>", said, re.DOTALL))
    html = HOSTS[host][0].replace("SCRIPTS", scripts).replace("SEEN", SEEN)
    if host == "svelte":
        assert OF_SVELTE
        tag = OF_SVELTE[1].replace("affair", "stone").replace("https://collector.example/s/SURVEY-ID", link)
        return html.replace("LIBRARY", f"<script>{built(SVELTE.replace('GIVEN', tag), COMPILE)}</script>")
    given = re.search(GIVEN[host], said, re.DOTALL | re.MULTILINE)
    assert given
    if host == "react":
        html = html.replace("LIBRARY", f"<script>{built(REACT.replace('GIVEN', given[0]))}</script>")
    return html.replace("LIBRARY", PHP if host == "php" else VUE).replace("GIVEN", given[0])


BUILD = """import { build } from "esbuild";
import { readFileSync } from "node:fs";
const stdin = { contents: readFileSync(0, "utf8"), loader: "jsx", resolveDir: process.cwd() };
const define = { "process.env.NODE_ENV": '"production"' };
const { outputFiles } = await build({ stdin, define, bundle: true, minify: true, jsx: "automatic", write: false });
process.stdout.write(outputFiles[0].text);"""


COMPILE = """import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { compile } from "svelte/compiler";
const { js } = compile(readFileSync(0, "utf8"), { filename: "App.svelte", generate: "client" });
const mounted = `import { mount } from "svelte";\nmount(App, { target: document.getElementById("app") });\n`;
const stdin = { contents: `${js.code}\n${mounted}`, loader: "js", resolveDir: process.cwd() };
const { outputFiles } = await build({ stdin, bundle: true, minify: true, conditions: ["browser"], write: false });
process.stdout.write(outputFiles[0].text);"""


def built(source: str, by: str = BUILD) -> str:
    """A module of JSX, or a component of Svelte, with the libraries that it imports, as a script."""
    command = [*programs.node_command(), "--input-type=module", "--eval", by]
    done = subprocess.run(command, cwd=WEB, input=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.replace("</script", "<\\/script")


def prepared(context: BrowserContext) -> tuple[Page, Witness]:
    page = context.new_page()
    page.add_init_script(FIXED)
    serve_npm(page)
    page.route("**/store", lambda route: route.fulfill(body="stored"))
    return page, Witness.of(page)


def trace(page: Page, witness: Witness) -> str:
    """All that a host was told, holds, kept and sent, and all that its page kept, without the ports of this walk."""
    state = {
        "seen": page.evaluate("seen"),
        "exported": page.evaluate("exported()"),
        "model": page.evaluate("window.model?.() ?? null"),
        "kept": everything_kept(page),
        "lines": witness.lines,
        # What a page loads comes in any order.
        "loaded": sorted(urlsplit(each.url).path for each in witness.requests if each.method == "GET"),
        "sent": [[each.method, each.url, each.post_data] for each in witness.requests if each.method != "GET"],
        "markup": page.evaluate("document.documentElement.outerHTML"),
    }
    return re.sub(r"127\.0\.0\.1:\d+", "SITE", json.dumps(state, sort_keys=True))


@contextmanager
def site(host: str, html: str, stored: Path | None) -> Iterator[str]:
    """The host's page on a site of its own; that of PHP stores in a folder what its form gets."""
    if host != "php":
        with another_site(html) as address:
            yield address
        return
    assert stored
    assert STORE
    (stored / "index.html").write_text(html, encoding="utf-8")
    code = STORE[1].replace("affair", "stone").replace("[01]$", "[012]$")
    (stored / "store.php").write_text(code, encoding="utf-8")
    with php(stored) as address:
        yield f"{address}/"


def walk(browser: Browser, host: str, html: str, answer: str, stored: Path | None = None) -> tuple[str, str]:
    """Give an answer to the host's page as a person does; its trace, and its own export."""
    context = browser.new_context(locale="en-GB")
    context.set_default_timeout(PATIENCE * 1000)
    page, witness = prepared(context)
    try:
        with site(host, html, stored) as address:
            page.goto(address)
            page.get_by_role("radio", name=answer).check()
            page.get_by_role("button", name="Mix in chance").click()
            expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
            HOSTS[host][1](page)
            wait_for(page, lambda: page.evaluate("done()"), "the host is done")
            page.wait_for_load_state("networkidle")
            return trace(page, witness), page.evaluate("exported()")
    finally:
        context.close()


@pytest.mark.parametrize("host", [*PLUGINS, long("react"), long("vue"), long("svelte"), long("php")])
def test_hosts_get_the_value_and_are_the_same_whatever_was_answered(
    host: str, link: str, survey: Survey, browser: Browser, tmp_path: Path
) -> None:
    html = page_of(host, link)
    (one, exported), (other, _) = (walk(browser, host, html, answer, tmp_path) for answer in OPTIONS[:2])
    assert one == other
    assert "MARKED" not in one
    if host == "php":
        assert (tmp_path / "data.csv").read_text(encoding="utf-8") == "stone\n" + f"{MADE_OF_IT}\n" * 2
    assert one.count("autosave") > 0
    path = tmp_path / HOSTS[host][2]
    path.write_text(exported, encoding="utf-8", newline="")
    table = read(path, survey, host=host if host in PLUGINS else "surveyjs").table
    assert list(table.reports_of("stone")) == [int(MADE_OF_IT)]


PLANTED = """document.addEventListener("click", () => {
    const chosen = document.querySelector("deniable-question")?.shadowRoot.querySelector("input:checked");
    if (chosen) note("planted", chosen.parentElement.textContent);
});"""


@pytest.mark.long
@pytest.mark.parametrize("host", PLUGINS)
def test_a_page_that_looks_into_the_element_is_noticed(host: str, link: str, browser: Browser) -> None:
    html = page_of(host, link).replace("</script></body>", f"{PLANTED}</script></body>")
    (one, _), (other, _) = (walk(browser, host, html, answer) for answer in OPTIONS[:2])
    assert one != other
    assert "MARKED" in one


@pytest.mark.long
@pytest.mark.parametrize("host", PLUGINS)
def test_nobody_goes_on_without_a_value(host: str, link: str, context: BrowserContext) -> None:
    onward = "Continue" if host == "jspsych" else "Next"
    for trouble in ("not mixed", "no script", "no survey"):
        page, _ = prepared(context)
        if trouble == "no script":
            page.route("**/deniable-question.js", lambda route: route.abort())
        if trouble == "no survey":
            page.route("**/api/v1/surveys/*", lambda route: route.abort())
        with another_site(page_of(host, link)) as address:
            page.goto(address)
            if trouble == "not mixed":
                page.get_by_role("radio", name=OPTIONS[0]).check()
            expect(page.get_by_role("button", name=onward)).to_be_visible()
            page.get_by_role("button", name=onward).click()
            shown = {"not mixed": "Mix in chance", "no script": "could not be loaded", "no survey": "Nothing was sent"}
            expect(page.get_by_text(shown[trouble]).first).to_be_visible()
            assert not page.evaluate("done()")
            assert not [said for said in page.evaluate("seen") if said[0] in ("data", "onValueChanged")]
        page.close()


@pytest.mark.long
def test_a_kept_value_is_given_again_and_another_person_of_a_shared_device_is_asked(
    link: str, context: BrowserContext
) -> None:
    for is_shared in (False, True):
        html = page_of("surveyjs", link)
        html = html.replace('type: "deniable",', 'type: "deniable", kiosk: true,') if is_shared else html
        with another_site(html) as address:
            for again in range(2):
                page, _ = prepared(context)
                page.goto(address)
                somebody_else = page.get_by_role("button", name="somebody else")
                mixed = page.get_by_text("This form gets only what chance made of your answer")
                expect(somebody_else.or_(page.get_by_role("radio")).or_(mixed).first).to_be_visible()
                if is_shared and somebody_else.count():
                    somebody_else.click()
                if not again or is_shared:
                    page.get_by_role("radio", name=OPTIONS[again]).check()
                    page.get_by_role("button", name="Mix in chance").click()
                expect(mixed).to_be_visible()
                page.get_by_role("button", name="Next").click()
                page.get_by_role("button", name="Previous").click()
                # On the shared device a person who comes back must not draw again.
                place = page.locator("[data-deniable-place]")
                expect(place).to_have_text("\u2713") if is_shared else expect(
                    place.locator("deniable-question")
                ).to_be_visible()
                assert page.evaluate("survey.data") == {"stone": MADE_OF_IT}
                page.close()


@pytest.mark.long
def test_whoever_clears_the_data_of_a_survey_does_not_lock_anybody_in(link: str, context: BrowserContext) -> None:
    with another_site(page_of("surveyjs", link)) as address:
        page, _ = prepared(context)
        page.goto(address)
        page.get_by_role("radio", name=OPTIONS[0]).check()
        page.get_by_role("button", name="Mix in chance").click()
        expect(page.get_by_text("This form gets only what chance made of your answer")).to_be_visible()
        page.evaluate("survey.clearValue('stone')")
        assert page.evaluate("survey.data") == {}
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("button", name="Preview")).to_be_visible()
        assert page.evaluate("survey.data") == {"stone": MADE_OF_IT}


@pytest.mark.long
def test_extensions_that_record_people_are_refused_and_simulations_have_nobodys_value(
    link: str, context: BrowserContext
) -> None:
    html = page_of("jspsych", link)
    recording = "class Recording { static info = { name: 'recording', version: '1', data: {} };"
    recording += " async initialize() {} on_start() {} on_load() {} async on_finish() { return {}; } }\n"
    recorded = html.replace(
        "const jsPsych = initJsPsych({",
        f"{recording}const jsPsych = initJsPsych({{ extensions: [{{ type: Recording }}],",
    )
    recorded = recorded.replace("const asked = {", "const asked = { extensions: [{ type: Recording }],")
    page, witness = prepared(context)
    with another_site(recorded) as address:
        page.goto(address)
        wait_for(page, lambda: any("must run without extensions" in line for line in witness.lines), "it is refused")
        assert page.locator("deniable-question").count() == 0
    page, _ = prepared(context)
    with another_site(html.replace("jsPsych.run(", "jsPsych.simulate(")) as address:
        page.goto(address)
        wait_for(page, lambda: page.evaluate("done()"), "the simulation is over")
        assert page.evaluate("jsPsych.data.get().values()[0].response") == {"stone": ""}


TYPED = """
import { initJsPsych } from "jspsych";
import * as Survey from "survey-core";
import DeniableQuestion, { DeniableSurveyPlugin } from "deniable/jspsych";
import type { DeniableElement, DeniableSurveyElement, QuestionDeniable } from "deniable/surveyjs";
import { registerDeniableQuestion } from "deniable/surveyjs";

const jsPsych = initJsPsych();
jsPsych.run([{ type: DeniableQuestion, src: "https://collector.example/s/x", question: "affair", kiosk: true }]);
jsPsych.run([{ type: DeniableSurveyPlugin, src: "https://collector.example/s/x", skip_label: "Not now" }]);
const whole: DeniableSurveyElement = { type: "deniable-survey", name: "all", src: "https://collector.example/s/x" };
const name: "deniable-question" = DeniableQuestion.info.name;
registerDeniableQuestion(Survey);
const element: DeniableElement = { type: "deniable", name: "affair", src: "https://collector.example/s/x" };
const survey = new Survey.Model({ elements: [element, whole] });
const question = survey.getQuestionByName("affair") as QuestionDeniable;
export const said: [string, string] = [question.src, name];
// @ts-expect-error: no such key
export const wrong: DeniableElement = { type: "deniable", name: "affair", src: "x", answer: "yes" };
"""


@pytest.mark.long
def test_plugins_have_types_that_fit_those_of_their_hosts(tmp_path: Path) -> None:
    package = tmp_path / "node_modules" / "deniable"
    (package / "build").mkdir(parents=True)
    (package / "package.json").write_text((WEB / "package.json").read_text(encoding="utf-8"), encoding="utf-8")
    (package / "build" / "hosts").symlink_to(WEB.parent / "hosts")
    for name in ("jspsych", "survey-core", "type-fest"):
        (tmp_path / "node_modules" / name).symlink_to(MODULES / name)
    (tmp_path / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (tmp_path / "typed.ts").write_text(TYPED, encoding="utf-8")
    options = ["--strict", "--noEmit", "--skipLibCheck", "--preserveSymlinks", "--target", "es2022", "--types", ""]
    options += ["--module", "esnext", "--moduleResolution", "bundler"]
    compiler = MODULES / "typescript" / "bin" / "tsc"
    command = [*programs.node_command(), str(compiler), *options, "typed.ts"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


OF_REACT = re.search(
    r"^```jsx\n(export const Study.*?)```",
    (WEB.parents[1] / "docs" / "embedding" / "frameworks.md").read_text(encoding="utf-8"),
    re.DOTALL | re.MULTILINE,
)
"""What the documents say of a whole survey in React."""

STUDY = """
import { createRoot } from "react-dom/client";
window.sent = [];
GIVEN
createRoot(document.getElementById("app")).render(<Study onSent={(returned) => sent.push(returned)} />);
"""


@pytest.mark.long
def test_react_hears_of_a_whole_survey_as_the_documents_say(
    link: str, survey: Survey, collector: Collector, context: BrowserContext
) -> None:
    assert OF_REACT
    code = OF_REACT[1].replace("https://collector.example/s/SURVEY-ID", link)
    html = f"""<!doctype html><html lang="en"><title>x</title><link rel="icon" href="data:,"><div id="app"></div>
        <script type="module" src="{collector.url}/client/deniable.js"></script>
        <script>{built(STUDY.replace("GIVEN", code))}</script>"""
    page = context.new_page()
    with another_site(html) as address:
        page.goto(address)
        answer(page, survey, {"stone": OPTIONS[0]})
        wait_for(page, lambda: page.evaluate("sent.length"), "React heard of it")
        assert page.evaluate("sent") == [False]
        page.reload()
        wait_for(page, lambda: page.evaluate("sent.length"), "React heard of the visit")
        assert page.evaluate("sent") == [True]

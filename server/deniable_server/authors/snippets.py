"""Snippets that put a whole survey, or one question of it, into a page or a tool that people have already.

Reports of a whole survey go to its collector. Of one question, what chance made of the answer goes to the host alone.

Each host is a function that yields where something is pasted, and what. Tools that cannot be run in a test are tried in
pages that are built like theirs, and their snippets say so.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

UNTRIED = "Tried in a page that is built like this tool's, and not in the tool: look at a test reply before you begin."


@dataclass(frozen=True)
class Embedding:
    """What a snippet is made of.

    Attributes
    ----------
    collector : str
        Its origin, such as ``https://collector.example``.
    survey : str
        The survey's address.
    question : str or None
        The id of the one question that the host stores itself; None for the whole survey.
    hashes : mapping of str to str
        The ``integrity`` of each bundle, and of each plugin for a host, by its file.
    own_folder : str or None
        The address of the folder from which the host's own site serves script and catalogues; None for the collector.
    values : str
        What the question's value can be, in words; empty for the whole survey.
    is_text : bool
        Whether the question's value is a text of 0 and 1, not a number.
    fragment : str
        What stands behind the link of the survey, such as ``#cohort=web``.
    cohorts : sequence of str
        The cohorts of which people must bring one in the link to the page, because `fragment` names none.
    is_invited : bool
        Whether people bring an invitation in the link to the page.
    is_isolated : bool
        Whether the survey stands in a frame that the page cannot look into.
    framed : str or None
        The origin of the frame in which an element shows a survey that it cannot show itself.
    """

    collector: str
    survey: str
    question: str | None
    hashes: dict[str, str]
    own_folder: str | None = None
    values: str = ""
    is_text: bool = False
    fragment: str = ""
    cohorts: Sequence[str] = ()
    is_invited: bool = False
    is_isolated: bool = False
    framed: str | None = None

    @property
    def file(self) -> str:
        """The bundle that it takes."""
        return "deniable-question.js" if self.question else "deniable.js"

    @property
    def address(self) -> str:
        """The address of the script."""
        return self._address(self.file)

    def _address(self, file: str) -> str:
        return f"{self.own_folder or f'{self.collector}/client'}/{file}"

    @property
    def link(self) -> str:
        """The link of the survey, and what stands behind it."""
        return f"{self.collector}/s/{self.survey}{self.fragment}"

    @property
    def follows_page(self) -> bool:
        """Whether the survey takes its cohort, or invitation, from the link to the page around it."""
        return self.question is None and (self.is_invited or bool(self.cohorts))

    @property
    def source(self) -> str:
        """The link as JavaScript, with what stands behind the address of the page where the survey follows that."""
        return f'"{self.link}" + location.hash' if self.follows_page else f'"{self.link}"'

    @property
    def script(self) -> str:
        """The tag that loads the script, if it is the one that was reviewed."""
        return (
            f'<script type="module" src="{escape(self.address)}"\n'
            f'        integrity="{self.hashes[self.file]}" crossorigin></script>'
        )

    def plugin(self, file: str) -> str:
        """The tag that loads a plugin, which is no module: scripts of the page that follow it may use it."""
        return (
            f'<script src="{escape(self._address(file))}"\n'
            f'        integrity="{self.hashes[file]}" crossorigin></script>'
        )

    @property
    def element(self) -> str:
        """The tag of the survey, or of the question."""
        if self.question is None:
            isolated = " isolated" if self.is_isolated else ""
            return (
                f'<deniable-survey src="{escape(self.link)}"{isolated}>\n'
                "  This survey needs JavaScript: your device mixes chance into your answers before anything is sent.\n"
                "</deniable-survey>"
            )
        return (
            f'<deniable-question name="{self.question}" question="{self.question}" src="{escape(self.link)}">\n'
            "  This question needs JavaScript: your device mixes chance into your answer before the form gets it.\n"
            "</deniable-question>"
        )

    def policy(self, printed: str) -> list[str]:
        """What a content security policy of the page has to allow, with the snippets that were printed."""
        # Catalogues of other languages are fetched from beside the script.
        # With a final slash a path stands for all that is in the folder, without one for one file of that very name.
        own = self.own_folder and ("'self'" if self.own_folder.startswith("/") else f"{self.own_folder}/")
        written = re.findall(r"<script>(.*?)</script>", printed, re.DOTALL)
        # What the tool replaces in a script is not known here, and neither is its hash.
        inline = dict.fromkeys("'unsafe-inline'" if SGQ in each else f"'{_integrity(each)}'" for each in written)
        scripts = " ".join([own or self.collector, *inline])
        directives = [f"script-src {scripts}"]
        if not self.is_isolated:  # the frame asks the collector itself, and with its own words
            directives.append(f"connect-src {' '.join(filter(None, (self.collector, own)))}")
        frames = dict.fromkeys(filter(None, (self.collector if self.is_isolated else None, self.framed)))
        return directives + [f"frame-src {' '.join(frames)}"] * bool(frames)


SGQ = "{SGQ}"
"""What LimeSurvey replaces with the name of a question's input."""

Step = tuple[str, str]
"""Where something is pasted, and what."""


def plain(of: Embedding) -> Iterator[Step]:
    """A page of HTML."""
    yield "In the <head> of the page", of.script
    yield ("In its <form>" if of.question else "Where the survey is to stand"), f"{of.element}{_following(of)}"
    yield from _links(of)
    yield from _checked(of)


def _checked(of: Embedding) -> Iterator[Step]:
    """How a server checks the value of a question: anybody can send a form, and nobody else can check it."""
    if of.question:
        yield (
            f"On your server, before it stores the value, which must be {of.values} (in Python)",
            "from deniable import field_value, parse_survey\n\n"
            f"survey = parse_survey(document)  # bytes of {of.collector}/api/v1/surveys/{of.survey}\n"
            f'value = field_value(survey, "{of.question}", text)  # raises a ReportError for what no device sends',
        )


def react(of: Embedding) -> Iterator[Step]:
    """React 19, which knows custom elements."""
    yield "In index.html", of.script
    source = f'src="{escape(of.link)}"'
    heard = f"{source}\n                   onChange={{(event) => onValue?.(event.target.value)}}"
    told = f"src={{{of.source}}}" if of.follows_page else heard if of.question else source
    given = "{ onValue }" if of.question else ""
    yield "A component", f"export const Asked = ({given}) => (\n{_indented(of.element.replace(source, told), 2)}\n);"
    yield from _links(of)
    yield from _checked(of)


def vue(of: Embedding) -> Iterator[Step]:
    """Vue 3, which is told that the tags are no components."""
    yield "In index.html", of.script
    yield (
        "In vite.config.js",
        "vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('deniable-') } } })",
    )
    if of.follows_page:
        yield "In the <script setup> of a component", f"const src = {of.source};"
        yield "In its template", of.element.replace(f'src="{escape(of.link)}"', ':src="src"')
    else:
        yield "In the template of a component", of.element
    yield from _links(of)
    yield from _checked(of)


def jspsych(of: Embedding) -> Iterator[Step]:
    """jsPsych: a trial of a plugin, whose response holds the value; or one that is the whole survey."""
    yield "In the page of the experiment, behind jsPsych", f"{of.script}\n{of.plugin(PLUGINS['jspsych'])}"
    kind = "jsPsychDeniableQuestion" if of.question else "jsPsychDeniableSurvey"
    question = f'\n  question: "{of.question}",' if of.question else ""
    yield (
        f"A trial for the timeline; {KIOSK}",
        f"const asked = {{\n  type: {kind},\n  src: {of.source},{question}\n}};",
    )
    yield from _links(of)
    yield from _analysed(of, "jspsych")


def surveyjs(of: Embedding) -> Iterator[Step]:
    """SurveyJS: a question type of its own, whose value is that of the question; or one that is the whole survey."""
    yield "In the page, behind SurveyJS and before your own script", f"{of.script}\n{of.plugin(PLUGINS['surveyjs'])}"
    kind, name = ("deniable", of.question) if of.question else ("deniable-survey", "survey")
    yield (
        f"Among the elements of the survey's JSON; {KIOSK}",
        f'{{\n  type: "{kind}",\n  name: "{name}",\n  titleLocation: "hidden",\n  src: {of.source},\n}}',
    )
    yield from _links(of)
    yield from _analysed(of, "surveyjs")


KIOSK = "with kiosk: true where several people use one device, as in a laboratory"


def _following(of: Embedding) -> str:
    """A script that hands the end of the page's address to the element before it, where the survey follows that."""
    if not of.follows_page:
        return ""
    return (
        "\n<script>\n"
        '  const asked = document.querySelector("deniable-survey");\n'
        '  asked.setAttribute("src", asked.getAttribute("src") + location.hash);\n'
        "</script>"
    )


_HOW_TO_INVITE = (
    "The commands ask the collector, with a token of 'deniable token create'; on its own computer, --db and its "
    "database stand in the place of --token and TOKEN"
)


def _links(of: Embedding) -> Iterator[Step]:
    """The links to the page that people need, where the survey takes something from them."""
    if not of.follows_page:
        return
    page = "https://your-site.example/page"
    labels = [quote(cohort, safe="") for cohort in of.cohorts]
    if of.is_invited:
        of_cohort = [f" --cohort {shlex.quote(cohort)}" for cohort in of.cohorts] or [""]
        commands = [
            f"deniable invite {of.collector}/s/{of.survey} --token TOKEN -n 10{each} --page {page} "
            f"--to links-{number}.csv"
            for number, each in enumerate(of_cohort, start=1)
        ]
        yield f"Make personal links to your page. {_HOW_TO_INVITE}", "\n".join(commands)
    else:
        yield "Links to your page, one for each cohort", "\n".join(f"{page}#cohort={each}" for each in labels)


def _analysed(of: Embedding, host: str) -> Iterator[Step]:
    if of.question is None:
        where = "Once there are replies: they are at the collector, and the tool's data say only whether one was sent"
        yield (
            where,
            (
                f"deniable estimate {of.collector}/s/{of.survey}\n"
                f"deniable export {of.survey} --url {of.collector} --to reports.sav"
            ),
        )
        return
    yield (
        "Once there are replies, with the tool's own export",
        (
            f"curl -o survey.json {of.collector}/api/v1/surveys/{of.survey}\n"
            f"deniable analyze shares EXPORT --survey survey.json --host {host} --column {of.question}={of.question}"
        ),
    )


def otree(of: Embedding) -> Iterator[Step]:
    """oTree: a field of the player, and the element in place of its input; or a page with the whole survey."""
    if of.question:
        kind = "StringField" if of.is_text else "IntegerField"
        yield "In __init__.py", f"class Player(BasePlayer):\n    {of.question} = models.{kind}()"
        yield "On the page's class", f'form_model = "player"\nform_fields = ["{of.question}"]'
    yield "In the template of the page", f"{of.script}\n{of.element}\n{{{{ next_button }}}}"
    yield from _of_one_link(of)
    yield from _analysed(of, "otree")


def qualtrics(of: Embedding) -> Iterator[Step]:
    """Qualtrics: the element in the text of a question, the value of one question in embedded data."""
    place = f"deniable-{of.question or 'survey'}"
    if of.question:
        yield "Survey flow: an embedded data field at the top, without a value", f"__js_{of.question}"
    yield "A question of the type text/graphic, HTML view", f'<div id="{place}"></div>'
    yield "The JavaScript of that question", _qualtrics_script(of, place)
    yield from _of_one_link(of)
    yield from _analysed(of, "qualtrics")
    yield "Note", UNTRIED


def _qualtrics_script(of: Embedding, place: str) -> str:
    one = f"""
  asked.name = "{of.question}";
  asked.setAttribute("question", "{of.question}");"""
    # One question holds the button that goes on until there is a value; a whole survey may be left out.
    kept = f"""
  const page = this;
  page.disableNextButton();
  const keep = () => {{
    if (!asked.value) return;
    const engine = Qualtrics.SurveyEngine;
    // The new survey taking experience puts __js_ before the name; older layouts take any name.
    if (engine.setJSEmbeddedData) engine.setJSEmbeddedData("{of.question}", asked.value);
    else engine.setEmbeddedData("__js_{of.question}", asked.value);
    page.enableNextButton();
  }};
  asked.addEventListener("change", keep);
  asked.addEventListener("deniable-complete", keep);"""
    tag, first, then = ("deniable-question", one, kept) if of.question else ("deniable-survey", "", "")
    return f"""Qualtrics.SurveyEngine.addOnReady(function () {{
  const script = Object.assign(document.createElement("script"), {{
    type: "module",
    src: "{of.address}",
    integrity: "{of.hashes[of.file]}",
    crossOrigin: "anonymous",
  }});
  const asked = document.createElement("{tag}");{first}
  asked.src = "{of.link}";{then}
  document.getElementById("{place}").append(asked);
  document.head.append(script);
}});"""


def limesurvey(of: Embedding) -> Iterator[Step]:
    """LimeSurvey: a short text question whose input gets the value; or a text with the whole survey.

    An opening brace without a space behind it begins an expression of LimeSurvey: {SGQ} is the name of the input, which
    is hidden, because somebody could type an answer into it.
    """
    yield "Global settings, security", "Filter HTML for XSS: off, while you paste (an administrator can do this)"
    if of.question is None:
        yield "A question of the type text display, source view of its text", f"{of.script}\n{of.element}"
    else:
        # Codes of questions have no underscores there, which `deniable analyze --host limesurvey` knows.
        code = of.question.replace("_", "")
        yield (
            f"A question of the type short text, with the code {code}, source view of its text",
            f"""{of.script}
{of.element}
<style>
  #answer{SGQ} {{ display: none; }}
</style>
<script>
  document.addEventListener("change", ({{ target }}) => {{
    if (!target.matches("deniable-question[name={of.question}]")) return;
    const input = document.getElementById("answer{SGQ}");
    input.value = target.value;
    input.dispatchEvent(new Event("change", {{ bubbles: true }}));
  }});
</script>""",
        )
    yield from _of_one_link(of)
    yield from _analysed(of, "limesurvey")
    yield "Note", UNTRIED


def _of_one_link(of: Embedding) -> Iterator[Step]:
    """What a tool cannot do that loses the end of the address from one of its pages to the next."""
    if not of.follows_page:
        return
    if of.is_invited:
        yield "Note", "This tool cannot hand on personal links: invite people to the survey's own page instead."
    else:
        link = f"{of.collector}/s/{of.survey}#cohort={quote(of.cohorts[0], safe='')}"
        yield "Note", f"This tool cannot hand on cohorts: embed the link of one, such as '{link}'."


def wordpress(of: Embedding) -> Iterator[Step]:
    """WordPress: a block of HTML, which users who may post unfiltered HTML can save."""
    where = "" if of.question is None else ", within a form of your own: WordPress itself stores no answers"
    yield f"A block of the kind Custom HTML{where}", f"{of.script}\n{of.element}{_following(of)}"
    if of.question is None and not of.follows_page:
        address = escape(f"{of.collector}/embed/{of.survey}{of.fragment}")
        frame = f'<iframe src="{address}" title="Survey" width="100%" height="900"></iframe>'
        yield "Or, where a plugin takes scripts out of blocks", frame
    yield from _links(of)
    yield (
        "Note",
        "Administrators and editors can save this. From what other users save WordPress takes scripts, tags and frames "
        "out: let one of them save it, or link to the survey.",
    )


HOSTS: dict[str, Callable[[Embedding], Iterator[Step]]] = {
    each.__name__: each for each in (plain, react, vue, jspsych, surveyjs, otree, qualtrics, limesurvey, wordpress)
}
"""The function of each host, by its name."""

PLUGINS = {"jspsych": "hosts/jspsych.js", "surveyjs": "hosts/surveyjs.js"}
"""The file of the plugin for a host, by the host's name."""


def _integrity(script: str) -> str:
    """What a policy says of a script that stands in the page itself."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _indented(text: str, by: int) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in text.split("\n"))

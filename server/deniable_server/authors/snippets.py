"""Snippets that put a survey, or one question of it, into a page or a tool that people have already.

Each host is a function that yields where something is pasted, and what. Tools that cannot be run in a test get what
their documentation asks for, and their snippets say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

UNTRIED = "Written from the documentation of this tool, and not tried in it: look at a test reply before you begin."


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
    is_text : bool
        Whether the question's value is a text of 0 and 1, not a number.
    """

    collector: str
    survey: str
    question: str | None
    hashes: dict[str, str]
    own_folder: str | None = None
    is_text: bool = False

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
        """The link of the survey."""
        return f"{self.collector}/s/{self.survey}"

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
            return (
                f'<deniable-survey src="{escape(self.link)}">\n'
                "  This survey needs JavaScript: your device mixes chance into your answers before anything is sent.\n"
                "</deniable-survey>"
            )
        return (
            f'<deniable-question name="{self.question}" question="{self.question}" src="{escape(self.link)}">\n'
            "  This question needs JavaScript: your device mixes chance into your answer before the form gets it.\n"
            "</deniable-question>"
        )

    @property
    def policy(self) -> list[str]:
        """What a content security policy of the page has to allow."""
        # Catalogues of other languages are fetched from beside the script.
        own = self.own_folder and ("'self'" if self.own_folder.startswith("/") else self.own_folder)
        return [f"script-src {own or self.collector}", f"connect-src {' '.join(filter(None, (self.collector, own)))}"]


Step = tuple[str, str]
"""Where something is pasted, and what."""


def plain(of: Embedding) -> Iterator[Step]:
    """A page of HTML."""
    yield "In the <head> of the page", of.script
    yield ("In its <form>" if of.question else "Where the survey is to stand"), of.element


def react(of: Embedding) -> Iterator[Step]:
    """React 19, which knows custom elements."""
    yield "In index.html", of.script
    yield "A component", f"export const Asked = () => (\n{_indented(of.element, 2)}\n);"


def vue(of: Embedding) -> Iterator[Step]:
    """Vue 3, which is told that the tags are no components."""
    yield "In index.html", of.script
    yield (
        "In vite.config.js",
        "vue({ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('deniable-') } } })",
    )
    yield "In the template of a component", of.element


def jspsych(of: Embedding) -> Iterator[Step]:
    """jsPsych: a trial of a plugin, whose response holds the value."""
    yield "In the page of the experiment, behind jsPsych", f"{of.script}\n{of.plugin(PLUGINS['jspsych'])}"
    yield (
        "A trial; with kiosk: true where several people use one device, as in a laboratory",
        f"""const asked = {{
  type: jsPsychDeniableQuestion,
  src: "{of.link}",
  question: "{of.question}",
}};""",
    )
    yield _analysed(of, "jspsych")


def surveyjs(of: Embedding) -> Iterator[Step]:
    """SurveyJS: a question type of its own, whose value is that of the question."""
    yield "In the page, behind SurveyJS and before your own script", f"{of.script}\n{of.plugin(PLUGINS['surveyjs'])}"
    yield (
        "Among the elements of the survey's JSON; with kiosk: true where several people use one device",
        f"""{{
  type: "deniable",
  name: "{of.question}",
  titleLocation: "hidden",
  src: "{of.link}",
}}""",
    )
    yield _analysed(of, "surveyjs")


def _analysed(of: Embedding, host: str) -> Step:
    return "Once there are replies, with the tool's own export", (
        f"curl -o survey.json {of.collector}/api/v1/surveys/{of.survey}\n"
        f"deniable analyze shares EXPORT --survey survey.json --host {host} --column {of.question}={of.question}"
    )


def otree(of: Embedding) -> Iterator[Step]:
    """oTree: a field of the player, and the element in place of its input."""
    kind = "StringField" if of.is_text else "IntegerField"
    yield "In __init__.py", f"class Player(BasePlayer):\n    {of.question} = models.{kind}()"
    yield "On the page's class", f'form_model = "player"\nform_fields = ["{of.question}"]'
    yield "In the template of the page", f"{of.script}\n{of.element}\n{{{{ next_button }}}}"
    yield _analysed(of, "otree")


def qualtrics(of: Embedding) -> Iterator[Step]:
    """Qualtrics: the element in the text of a question, its value in embedded data."""
    yield "Survey flow: an embedded data field at the top", str(of.question)
    yield "A question of the type text/graphic, HTML view", f'<div id="deniable-{of.question}"></div>'
    yield (
        "The JavaScript of that question",
        f"""Qualtrics.SurveyEngine.addOnReady(function () {{
  const page = this;
  page.disableNextButton();
  const script = Object.assign(document.createElement("script"), {{
    type: "module",
    src: "{of.address}",
    integrity: "{of.hashes[of.file]}",
    crossOrigin: "anonymous",
  }});
  const asked = document.createElement("deniable-question");
  asked.name = "{of.question}";
  asked.setAttribute("question", "{of.question}");
  asked.src = "{of.link}";
  const keep = () => {{
    if (!asked.value) return;
    Qualtrics.SurveyEngine.setEmbeddedData("{of.question}", asked.value);
    page.enableNextButton();
  }};
  asked.addEventListener("change", keep);
  asked.addEventListener("deniable-complete", keep);
  document.getElementById("deniable-{of.question}").append(asked);
  document.head.append(script);
}});""",
    )
    yield _analysed(of, "qualtrics")
    yield "Note", UNTRIED


def limesurvey(of: Embedding) -> Iterator[Step]:
    """LimeSurvey: a short text question whose input gets the value."""
    yield "Global settings, security", "Filter HTML for XSS: off, while you paste (an administrator can do this)"
    # Codes of questions have no underscores there, which `deniable analyze --host limesurvey` knows.
    code = str(of.question).replace("_", "")
    yield (
        f"A question of the type short text, with the code {code}, source view of its text",
        f"""{of.script}
{of.element}
<script>
  document.addEventListener("change", ({{ target }}) => {{
    if (!target.matches("deniable-question[name={of.question}]")) return;
    const input = document.getElementById("answer{{SGQ}}");
    input.value = target.value;
    input.dispatchEvent(new Event("change", {{ bubbles: true }}));
  }});
</script>""",
    )
    yield _analysed(of, "limesurvey")
    yield "Note", UNTRIED


def wordpress(of: Embedding) -> Iterator[Step]:
    """WordPress: a block of HTML, which users who may post unfiltered HTML can save."""
    yield "A block of the kind Custom HTML", f"{of.script}\n{of.element}"
    if of.question is None:
        frame = (
            f'<iframe src="{escape(of.collector)}/embed/{of.survey}" title="Survey" width="100%" height="900"></iframe>'
        )
        yield "Or, where scripts are taken out of blocks", frame
    yield "Note", UNTRIED


HOSTS: dict[str, Callable[[Embedding], Iterator[Step]]] = {
    each.__name__: each for each in (plain, react, vue, jspsych, surveyjs, otree, qualtrics, limesurvey, wordpress)
}
"""The function of each host, by its name."""

PLUGINS = {"jspsych": "hosts/jspsych.js", "surveyjs": "hosts/surveyjs.js"}
"""The file of the plugin for a host, by the host's name."""

STORES_ITSELF = frozenset({"jspsych", "surveyjs", "otree", "qualtrics", "limesurvey"})
"""Hosts that store answers of their own, and so get the value of one question."""


def _indented(text: str, by: int) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in text.split("\n"))

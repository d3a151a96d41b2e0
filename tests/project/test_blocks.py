"""Every block of code in the documents is run by something, or stands here with the reason why it is not.

And every command line of `deniable` in them, also within a sentence, has options that exist.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

from deniable import read_survey
from deniable_client import randomize
from deniable_commands.main import main
from deniable_server.store.sqlite.store import SqliteStore

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = ("docs/names/", "docs/cli.md", "docs/columns.md", "docs/http.md", "docs/settings.md")
PAGES = sorted(
    name
    for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    if not (name := path.relative_to(ROOT).as_posix()).startswith(GENERATED)
)
NO_CODE = ("text", "{toctree}", "{eval-rst}")
"""Output, drawings, letters and what Sphinx reads."""


class Block(NamedTuple):
    """A block of a page: what language it says it is, or "indented", and its text."""

    page: str
    language: str
    text: str

    @property
    def first(self) -> str:
        """The first 100 characters of its first line, without a comment, by which lists name it."""
        line = self.text.strip().splitlines()[0]
        return re.sub(r"\s{4,}#.*", "", line).strip()[:100].strip()


def blocks_of(page: str) -> Iterator[Block]:
    """The fenced blocks of code of a page, and the indented ones with a command."""
    text = (ROOT / page).read_text(encoding="utf-8")
    fenced = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    for language, inside in fenced.findall(text):
        if language not in NO_CODE and inside.strip():
            yield Block(page, language, inside)
    for block in re.findall(r"\n\n((?: {4}[^\n]+\n)+)", fenced.sub("", text)):
        if re.search(r"^ +(?:[A-Z_]+=\S+ )?(?:deniable|pip|psql|pg_dump|curl|useradd) ", block, re.MULTILINE):
            yield Block(page, "indented", block)


RUNS = [
    (r"docs/learn/[\w-]+ (console|python|toml|html|r)", "tests/project/test_learning.py"),
    (r"(README|docs/researchers|docs/installing) sh", "tests/project/test_first_steps.py"),
    (r"README toml", "tests/project/test_docs.py"),
    (r"docs/researchers r", "tests/server/test_export.py"),
    (r"docs/by-hand r", "tests/project/test_learning.py"),
    (r"docs/(researchers|learn/paper) latex", "tests/server/test_views.py"),
    (r"docs/survey-file toml", "tests/project/test_docs.py"),
    (r"docs/operations sh", "tests/server/test_upkeep.py"),
    (r"docs/monitoring sh", "tools/machine/institution.py"),
    (r"docs/monitoring yaml", "tests/project/test_learning.py"),
    (r"docs/place console", "tools/machine/place.py"),
    (r"docs/embedding/servers python", "tests/server/test_own_server.py"),
    (r"docs/embedding/(servers php|frameworks html)", "tests/browser/test_host_plugins.py"),
]
"""Blocks by their page and language, and what runs them; Python with prompts is run by pytest itself."""

ELSEWHERE = "it is about another machine; with the names of this one a test of that command does the same"
EXAMPLE = "its page in examples/embedding runs in tests/browser/test_embed.py"
HOSTED = "tests/browser/test_host_plugins.py walks through a page with the same elements"
PART = "a part of a program, which tests/client/test_client.py goes through as a whole"

NOT_RUN = {
    ("docs/access.md", "deniable issuer key --url https://issuer.example --db issuer.db"): ELSEWHERE,
    ("docs/authors.md", "deniable invite ID -n 10 --cohort workshop --db study.db --to workshop.csv"): (
        "tests/server/test_invite.py invites by cohort"
    ),
    ("docs/authors.md", "deniable survey list --db study.db"): "the first tutorial runs such lines, on its own survey",
    ("docs/authors.md", "deniable survey new my-survey.toml --template harassment"): (
        "the preview waits for Ctrl-C; tests/server/test_templates.py begins from each template"
    ),
    ("docs/authors.md", "deniable survey import form.xlsx"): "tests/server/test_importing.py reads many such forms",
    (
        "docs/data-protection.md",
        "systemctl disable --now deniable",
    ): "it deletes what the machine has, when a study has ended",
    (
        "docs/data-protection.md",
        "find /var/lib/deniable /var/backups -path '*/deniable/*' \\( -name '*.db*' -o -name '*.dump*' \\)",
    ): "it looks for what the lines above have deleted",
    (
        "docs/data-protection.md",
        "curl -sS --fail --header 'Authorization: Bearer dn_...' --output study.zip https://collector.example",
    ): "tests/server/test_upkeep.py types it, with a collector and a token",
    ("docs/embedding/README.md", "deniable serve --db deniable.db"): EXAMPLE,
    ("docs/embedding/README.md", "deniable-survey { --deniable-accent: #7a1f5c; --deniable-font: Georgia, serif }"): (
        "tests/browser/test_looks.py sets such properties"
    ),
    ("docs/embedding/README.md", 'title = { default = "Life and love", de = "Leben und Liebe" }'): (
        "a line of docs/survey-file.md, where tests/project/test_docs.py reads it"
    ),
    ("docs/embedding/check.md", "deniable embed --check https://uni.example/study.html"): ELSEWHERE,
    (
        "docs/embedding/form.md",
        '<script type="module" src="https://collector.example/client/deniable-question.js"',
    ): EXAMPLE,
    ("docs/embedding/frameworks.md", "export function Asked({ onValue }) {"): HOSTED,
    ("docs/embedding/frameworks.md", "// vite.config.js"): HOSTED,
    ("docs/embedding/frameworks.md", 'import type { DeniableElements } from "deniable/element";'): (
        "tests/browser/test_package.py compiles a component with it"
    ),
    ("docs/embedding/frameworks.md", "export const Study = ({ onSent }) => ("): (
        "tests/browser/test_host_plugins.py runs it in React"
    ),
    ("docs/embedding/isolated.md", '<script type="module" src="https://collector.example/client/deniable.js"'): EXAMPLE,
    ("docs/embedding/jspsych.md", "<!doctype html>"): HOSTED,
    ("docs/embedding/jspsych.md", '<script src="node_modules/jspsych/dist/index.browser.min.js"></script>'): HOSTED,
    ("docs/embedding/jspsych.md", "npm install jspsych"): HOSTED,
    ("docs/embedding/library.md", "import {"): EXAMPLE,
    ("docs/embedding/library.md", "cd client/deniable_web && npm ci && npm pack"): (
        "tests/browser/test_package.py packs it, and unpacks it in an app"
    ),
    ("docs/embedding/script.md", '<script type="module" src="https://collector.example/client/deniable.js"'): EXAMPLE,
    ("docs/embedding/script.md", "<script>"): EXAMPLE,
    (
        "docs/embedding/script.md",
        '<p id="trouble" hidden>The survey does not work at the moment. Please write to study@uni.example.</p',
    ): "tests/browser/test_embed.py has it in a page that cannot reach the collector",
    ("docs/embedding/surveyjs.md", "<!doctype html>"): HOSTED,
    ("docs/embedding/surveyjs.md", "npm install survey-core survey-js-ui"): HOSTED,
    ("docs/embedding/surveyjs.md", "const survey = new Survey.Model({"): HOSTED,
    ("docs/embedding/surveyjs.md", 'import * as Survey from "survey-core";'): HOSTED,
    (
        "docs/inviting.md",
        "deniable invite https://collector.example/s/ID -n 500 --token dn_... --to links.csv",
    ): ELSEWHERE,
    (
        "docs/inviting.md",
        "deniable invite https://collector.example/s/ID -n 500 --hashes hashes.txt --to links.csv",
    ): ELSEWHERE,
    (
        "docs/inviting.md",
        "deniable invite https://collector.example/s/ID -n 500 --token dn_... --page https://your-site.exampl",
    ): ELSEWHERE,
    ("docs/learn.md", "python3 -m venv .venv && . .venv/bin/activate"): "tools/release.py installs in this way",
    ("docs/place.md", 'deniable token create "The library\'s place" --scope relay --days 120 --db deniable.db'): (
        "it serves until Ctrl-C; tests/server/test_place.py starts such a collector"
    ),
    ("docs/place.md", "pip install '.[server]'"): ELSEWHERE,
    (
        "docs/place.md",
        "deniable answer 'https://collector.example/s/ID' --relay https://relay.example/ --relay-keys keys.bi",
    ): (ELSEWHERE),
    ("docs/place.md", "curl -s https://place.example/ | grep -o 'sha384-[^\"]*'"): ELSEWHERE,
    ("docs/postgresql.md", "pip install '.[server,postgresql]'"): ELSEWHERE,
    (
        "docs/postgresql.md",
        "deniable serve --db 'postgresql://deniable@db1,db2/deniable?target_session_attrs=read-write'",
    ): ("it needs a primary and a standby; `make torture TORTURE=postgresql-fail-over` has both"),
    ("docs/postgresql.md", "psql --set ON_ERROR_STOP=1 --file roles.sql 'postgresql://admin@db.example/deniable'"): (
        "tests/server/test_postgresql.py runs the file"
    ),
    (
        "docs/postgresql.md",
        "pg_dump --format=custom --schema=deniable --file=backup.dump 'postgresql://deniable@db.example/denia",
    ): ELSEWHERE,
    ("docs/postgresql.md", "("): (
        "`make machine` types the first one; the others need another machine, and restore a dump with the same lines"
    ),
    ("docs/postgresql.md", "deniable copy survey.db postgresql://deniable@db.example/deniable"): ELSEWHERE,
    (
        "docs/python-client.md",
        "deniable answer 'https://collector.example/s/bpn4zq5y7xlxpqd63hsrm4s5ky#cohort=web'",
    ): ELSEWHERE,
    ("docs/python-client.md", "from deniable_client import Client, Memory"): PART,
    ("docs/python-client.md", "asked = client.asked(survey)  # before anything is shown"): PART,
    ("docs/python-client.md", "link = parse_link(text)"): PART,
    ("docs/python-client.md", "curl -o keys.bin https://collector.example/api/v1/surveys/ID/gateway"): ELSEWHERE,
    (
        "docs/releasing.md",
        "/usr/bin/python3 -m venv /opt/deniable",
    ): "`make machine` runs the same lines of docs/operations.md",
    (
        "docs/researchers.md",
        "from deniable_research import read",
    ): "a part of the README's script, on files of a reader",
    (
        "docs/scale.md",
        'labels = pyarrow.dataset.partitioning(pyarrow.schema([("cohort", pyarrow.string())]), flavor="hive")',
    ): ("tests/research/test_engine.py reads such folders"),
    ("docs/scale.md", "from deniable_research.engine import EngineReports, open_source"): (
        "tests/research/test_engine.py goes through the same calls"
    ),
    ("docs/scale.md", "deniable export SURVEY-ID --db deniable.db --to exports/ --format parquet"): (
        "it goes on with a study of several months and an own question"
    ),
    (
        "docs/scale.md",
        "deniable simulate my-survey.toml --truth affair=0.32 --respondents 100000000 --repetitions 2 --rows",
    ): ("it writes a hundred million rows"),
    (
        "docs/statistics.md",
        "[[questions]]",
    ): "tables of a design, which tests/research/test_mixed_designs.py writes in many forms",
    (
        "docs/statistics.md",
        "deniable analyze shares study.csv --design study.toml --weights w --strata region --cluster village",
    ): "it reads a reader's own study; tests/research/test_sampled_files.py has one",
    (
        "docs/statistics.md",
        'deniable analyze predict study.csv "affair ~ age + C(region)" --design study.toml --at "age=30" --at',
    ): "it reads a reader's own study; tests/research/test_prediction.py has one",
    (
        "docs/statistics.md",
        'deniable analyze shares study.sav --question "q7: forced-response truth=1/2 codes=no:No,yes:Yes"',
    ): "it reads a reader's own study; tests/project/test_first_steps.py has one",
    (
        "docs/survey-file.md",
        "deniable survey revise ID my-survey.toml --dry-run",
    ): "tests/server/test_revise.py does this, and what comes after",
    ("docs/statistics.md", "deniable analyze shares reports.csv --survey my-survey.toml --by cohort"): (
        "its simulations take minutes; tests of each command run shorter ones"
    ),
    ("docs/verifying.md", "deniable verify https://collector.example/s/rq63yln63zxn277654vvg45c44"): ELSEWHERE,
}
"""Blocks by their page and first line, without its comment, and the reason why no test runs them as they stand."""


TYPED = {
    "docs/access.md": ("deniable issuer key --db survey.db >> my-survey.toml",),
    "docs/inviting.md": (
        "deniable invite ID --roster people.csv --column email --to links.csv",
        "deniable invite mail ID --roster people.csv --column email --letter letter.txt --to mail.csv",
        "deniable invite unused ID",
    ),
    "docs/operations.md": (
        "deniable token create rita --scope read --survey SURVEY-ID --days 60 --db survey.db",
        "deniable token create ada --days 30 --db survey.db",
    ),
    "docs/place.md": (
        "deniable sealing keys --from 2026-11-23 --weeks 4 >> my-survey.toml",
        "deniable place folder /var/www/place",
    ),
    "docs/scale.md": (
        "deniable export SURVEY-ID --db deniable.db --to exports/ --format parquet --by-cohort",
        "deniable export SURVEY-ID --db one.db --to exports/one.csv",
    ),
    "docs/storage.md": ("deniable check --db survey.db", "deniable backup /backups/2026-12-20.db --db survey.db"),
}
"""Blocks by their page and first line that a test below types as they stand, on a desk with the files they name."""


def everything() -> list[Block]:
    return [block for page in PAGES for block in blocks_of(page)]


def how(block: Block) -> str | None:
    """What runs a block."""
    if block.language == "python" and ">>>" in block.text:
        return "pyproject.toml"  # --doctest-glob
    if block.first in TYPED.get(block.page, ()):
        return "tests/project/test_blocks.py"
    place = f"{block.page.removesuffix('.md')} {block.language}"
    return next((by for pattern, by in RUNS if re.fullmatch(pattern, place)), None)


def test_every_block_of_code_is_run_or_listed_with_a_reason() -> None:
    left = {(block.page, block.first) for block in everything() if how(block) is None}
    assert left == set(NOT_RUN), "run it in a test, or say here why not; strike what is gone"
    assert all(len(reason.split()) > 3 for reason in NOT_RUN.values())
    for _, by in RUNS:
        assert (ROOT / by).exists()


def lines_of(page: str) -> Iterator[str]:
    """Command lines of `deniable` on a page, in blocks and in sentences, from behind its name on."""
    text = re.sub(r"\\\n\s*", " ", (ROOT / page).read_text(encoding="utf-8"))
    yield from re.findall(r"(?:^|[\s(/])deniable ([a-z][^\n`|;>]*)", _code_of(text), re.MULTILINE)


def _code_of(text: str) -> str:
    """What stands in blocks and between backquotes, a line each, without comments and what is printed."""
    fenced = re.compile(r"^```(?!text)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    inline = re.findall(r"`((?:\S*/)?deniable [^`\n]+)`", fenced.sub("", text))
    lines = [line for block in fenced.findall(text) for line in block.splitlines()]
    lines += re.findall(r"^ {4}(.*)", fenced.sub("", text), re.MULTILINE)
    shown = re.compile(r"^\s*(\$ |deniable |/opt|runuser|docker|DENIABLE_|[A-Z_]+=)")
    return "\n".join([*inline, *(re.sub(r"\s#.*", "", line) for line in lines if shown.match(line))])


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ("CHANGELOG.md", "docs/completion.md")])
def test_commands_and_options_that_a_page_names_exist(page: str) -> None:
    for line in lines_of(page):
        assert wrong_in(line) is None, line


def wrong_in(line: str) -> str | None:
    """The first word of a command line that names no command or option of ours."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    command: click.Command = main
    context = click.Context(main, info_name="deniable", obj=main, **main.context_settings)
    while isinstance(command, click.Group) and words:
        default = getattr(command, "default_cmd_name", None)
        found = command.get_command(context, words[0]) if not words[0].startswith("-") else None
        if found is None and default is None:
            return words[0] if re.fullmatch(r"[a-z-]+", words[0]) and not words[0].startswith("-") else None
        if found is None:
            found, words = command.get_command(context, str(default)), ["", *words]
        assert found
        command, words = found, words[1:]
        context = click.Context(command, parent=context)
    known = {name for each in command.get_params(context) for name in (*each.opts, *each.secondary_opts)}
    options = [word.partition("=")[0].rstrip(".,:") for word in words if re.match(r"--[a-z]", word)]
    return next((word for word in options if word not in known), None)


@pytest.mark.parametrize("wrong", ["anlyze shares", "survey check --nonsense", "estimate x --method wilson --with-all"])
def test_a_wrong_line_is_found(wrong: str) -> None:
    assert wrong_in(wrong) is not None


@pytest.mark.long
@pytest.mark.parametrize("page", TYPED)
def test_blocks_with_commands_of_one_machine_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DENIABLE_LOG", os.devnull)
    survey = _desk(tmp_path, page)
    names = {"SURVEY-ID": survey, "ID": survey, "/backups/": "", "/var/www/": ""}
    found = {block.first: block.text for block in blocks_of(page)}
    for first in TYPED[page]:
        text = re.sub(r"\\\n\s*", " ", found[first])
        for line in filter(None, (re.sub(r"\s{2,}#.*", "", each).strip() for each in text.splitlines())):
            typed = re.sub("|".join(names), lambda name: names[name[0]], line.removeprefix("deniable "))
            words = shlex.split(typed.partition(">>")[0])
            done = CliRunner().invoke(main, words, prog_name="deniable", terminal_width=100)
            assert done.exit_code == 0, f"{line}: {done.output}"
            if ">>" in typed:
                with (tmp_path / typed.partition(">>")[2].strip()).open("a", encoding="utf-8") as file:
                    file.write(done.stdout)


def _desk(folder: Path, page: str) -> str:
    """Put into a folder what the blocks name: the survey of the README, databases with it, a list of people."""
    (toml,) = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    access = {"docs/inviting.md": "invited", "docs/access.md": "unlinkable"}.get(page, "open")
    results = "live" if access == "open" else "batches"
    survey = re.sub("closes = .*", f'access = "{access}"\nresults = "{results}"', toml)
    (folder / "my-survey.toml").write_text(survey, encoding="utf-8")
    (folder / "people.csv").write_text("name,email\nAda,ada@uni.example\nBob,bob@uni.example\n", encoding="utf-8")
    for name in ("letter.txt", "reminder.txt"):
        (folder / name).write_text(
            "Subject: Will you take part, {name}?\n\nThis is your link: {link}\n", encoding="utf-8"
        )
    if access == "unlinkable":  # its key comes with the first line of the page
        return ""
    published = read_survey(survey)
    for name in ("survey", "deniable", "one", "two"):
        with closing(SqliteStore(folder / f"{name}.db")) as store:
            store.publish(published)
            store.remember_public_url(published.id, "https://collector.example")
            if access == "open":
                people = [{"affair": "no", "religious": "not"}, {"affair": "yes", "religious": "fairly"}]
                reports = [randomize(published, people[row % 2], ("paper", "web")[row % 2]) for row in range(400)]
                store.store_reports([(published, reports)])
    return published.id

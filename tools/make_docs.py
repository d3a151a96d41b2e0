"""Write the generated pages: ``python -m tools.make_docs``. Regenerating them must show no difference."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from deniable_commands.main import main
from deniable_server.app import create_app
from deniable_server.results.file_columns import FILES, METHOD_LABELS
from deniable_server.settings import OF_COMMANDS, Settings, flag, variable
from tools.designs_page import designs_page

ROOT = Path(__file__).parent.parent


def all_commands(group: click.Group, parent: click.Context) -> Iterator[click.Context]:
    """A context for every command below a group, in the order in which help lists them."""
    for name in group.list_commands(parent):
        command = group.get_command(parent, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=parent, **command.context_settings)
        yield context
        if isinstance(command, click.Group):
            yield from all_commands(command, context)


def cli_page() -> str:
    """Every command's help."""
    # With itself as its object the group asks its commands for their sentences, not the page that is written here.
    root = click.Context(main, info_name="deniable", terminal_width=100, obj=main, **main.context_settings)
    parts = ["# Command line\n\nGenerated from `--help` of every command; do not edit.\n"]
    for context in [root, *all_commands(main, root)]:
        context.terminal_width = 100
        parts.append(f"## `{context.command_path}`\n\n```text\n{context.get_help()}\n```\n")
    return "\n".join(parts)


def http_page() -> str:
    """Every call of the HTTP interface, from its OpenAPI document."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Path(folder) / "docs.db")
        spec: Any = app.test_client().get("/api/openapi.json").json
        app.extensions["deniable"]["writer"].stop()
        app.extensions["deniable"]["store"].close()
    parts = [
        "# HTTP interface\n\nGenerated from the OpenAPI document at `/api/openapi.json`; do not edit. Errors are\n"
        "`application/problem+json` with a sentence in `detail`.\n"
    ]
    for path, calls in sorted(spec["paths"].items()):
        for method, call in sorted(calls.items()):
            if method == "parameters":
                continue
            parts.append(f"## `{method.upper()} {path}`\n\n{call['summary']}\n")
            parts.extend([call["description"] + "\n"] if "description" in call else [])
            query = [each for each in call.get("parameters", []) if each["in"] == "query"]
            if query:
                parts.append("\n".join(f"- `?{each['name']}=` {_describe(each['schema'])}" for each in query) + "\n")
            lines = [f"| {status} | {answer['description']} |" for status, answer in sorted(call["responses"].items())]
            parts.append("| status | means |\n|---|---|\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def settings_page() -> str:
    """Every setting of the collector, from the class that holds them."""
    lines = [
        f"| `{flag(name)}` | `{variable(name)}` | `{field.default}` | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]
    beside = [f"| `{name}` | {purpose} |" for name, purpose in OF_COMMANDS.items()]
    return (
        "# Settings of the collector\n\nGenerated from `server/deniable_server/settings.py`; do not edit. A flag of "
        "`deniable serve` wins over the\nenvironment. A variable `DENIABLE_...` "
        "that is neither one of these nor of another command stops the start:\n"
        "a typing mistake must not leave a limit off.\n\n"
        "| flag | variable | default | what it does |\n|---|---|---|---|\n" + "\n".join(lines) + "\n\n"
        "Other commands read these variables, which `deniable serve` ignores:\n\n"
        "| variable | what it is for |\n|---|---|\n" + "\n".join(beside) + "\n"
    )


def columns_page() -> str:
    """The columns of every file of results, from the table that the collector shows at ``/columns``."""
    parts = [
        "# Columns of downloads\n\nGenerated from `server/deniable_server/results/file_columns.py`; do not edit. Every "
        "collector shows the same table at `/columns`.\nShares are fractions: 0.25 is 25 %. An empty field is a value "
        "that does not exist or that nobody knows.\n"
    ]
    for each in FILES:
        lines = [f"| `{name}` | {label} |" for name, label in each.labels.items()]
        parts.append(f"## {each.files}\n\n| column | what it holds |\n|---|---|\n" + "\n".join(lines) + "\n")
    lines = [f"| `{name}` | {label} |" for name, label in METHOD_LABELS.items()]
    parts.append("## Names of methods\n\n| method | what it is |\n|---|---|\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _describe(schema: dict[str, Any]) -> str:
    default = f"; by default {schema['default']}" if schema.get("default") is not None else ""
    choices = [choice for each in (schema, *schema.get("anyOf", [])) for choice in each.get("enum", [])]
    choices += [each["const"] for each in (schema, *schema.get("anyOf", [])) if "const" in each]
    return (schema.get("description") or " or ".join(f"`{choice}`" for choice in choices)) + default


def pages() -> dict[str, str]:
    """Path below the root to content. The package has the help of its commands, for where their extra is missing."""
    cli = cli_page()
    return {
        "docs/cli.md": cli,
        "docs/columns.md": columns_page(),
        "docs/designs.md": designs_page(),
        "docs/http.md": http_page(),
        "docs/settings.md": settings_page(),
        "shared/deniable_commands/cli.md": cli,
    }


if __name__ == "__main__":
    for name, content in pages().items():
        (ROOT / name).write_text(content, encoding="utf-8")

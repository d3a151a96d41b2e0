"""Surveys with sections, grids, random orders and options that stand apart, and documents in which these are wrong."""

from __future__ import annotations

import json
from typing import Any

SECTIONS = """
title = "Work and health"
order = "random"
fixed_first = 1
fixed_last = 1

[[questions]]
id = "sector"
type = "choice"
text = "Which sector do you work in?"
options = ["public", "private", "charity"]
order = "random"
other = { default = "Another one", de = "Ein anderer" }
decline = "Prefer not to say"
epsilon = 0.5

[[sections]]
heading = { default = "Your habits", de = "Ihre Gewohnheiten" }
text = "Think of the last month."
order = "random"
fixed_first = 1

[[sections.questions]]
id = "smokes"
type = "yes-no"
text = "Do you smoke?"
decline = "Prefer not to say"
epsilon = 0.5

[[sections.questions]]
id = "often"
type = "choice"
text = "How many cigarettes a day?"
options = ["1 to 5", "6 to 10", "more"]
order = "random"
fixed_last = 1
ask_if = "smokes = yes"
epsilon = 0.5

[[sections.questions]]
id = "drugs"
type = "ticks"
text = "Which have you used?"
before = "The next question is about drugs."
options = ["cannabis", "cocaine", "heroin"]
none = "None of these"
decline = "Prefer not to say"
order = "random"
epsilon = 1.0

[[sections]]
heading = "Trust"

[[sections.questions]]
id = "trust"
type = "grid"
text = "How much do you trust"
help = "Think of those where you live."
items = { police = "the police?", courts = "the courts?", press = "the press?" }
options = ["not at all", "somewhat", "fully"]
order = "random"
epsilon = 1.0
draw = 3

[[sections]]
text = "Last of all"

[[sections.questions]]
id = "mood"
type = "scale"
text = "How are you?"
lo = 1
hi = 5
labels = ["very bad", "bad", "so so", "well", "very well"]
epsilon = 0.5
"""
"""Everything there is: loose questions, sections with and without an order, a grid, and options in a random order."""

GRIDS = """
title = "Grids"
layout = "page"
epsilon = 2.0
draw = 3

[[questions]]
id = "done"
type = "grid"
text = { default = "In the last year, have you", de = "Haben Sie im letzten Jahr" }
items.copied = { default = "copied from others?", de = "abgeschrieben?" }
items.paid = { default = "paid for a text?", de = "f\u00fcr einen Text bezahlt?" }
items.cited = { default = "made up a source?", de = "eine Quelle erfunden?" }

[[questions]]
id = "felt"
type = "grid"
text = "How often did you feel"
items = { tired = "tired?", alone = "alone?" }
lo = 0
hi = 3
ends = ["never", "always"]
order = "random"
"""
"""Grids of yes-no questions and of scales outside of sections, which share the epsilon of the survey."""

ORDER = """
title = "Order alone"
order = "random"

[[questions]]
id = "a"
type = "yes-no"
text = "A?"
epsilon = 1.0

[[questions]]
id = "b"
type = "ticks"
text = "B?"
options = ["1", "2", "3", "4", "5", "6", "7"]
order = "random"
fixed_first = 1
fixed_last = 2
epsilon = 1.0

[[questions]]
id = "c"
type = "yes-no"
text = "C?"
epsilon = 1.0
"""
"""Questions without sections in a random order."""

ALL = (SECTIONS, GRIDS, ORDER)


def badly_arranged(document: str) -> dict[str, str]:
    """Documents made of that of `SECTIONS` whose arrangement, orders or last options no device takes."""
    found: dict[str, str] = {}

    def add(name: str, change: Any) -> None:
        content = json.loads(document)
        change(content, content["arrangement"], {each["id"]: each for each in content["questions"]})
        found[name] = json.dumps(content, sort_keys=True, separators=(",", ":"))

    def root(name: str, **keys: Any) -> None:
        add(name, lambda _content, block, _by_id: block.update(keys))

    def question(name: str, of: str, **keys: Any) -> None:
        add(name, lambda _content, _block, by_id: by_id[of].update(keys))

    def section(name: str, **keys: Any) -> None:
        add(name, lambda _content, block, _by_id: block["of"][1].update(keys))

    def grid(name: str, **keys: Any) -> None:
        add(name, lambda _content, block, _by_id: block["of"][2]["of"][0].update(keys))

    root("a heading of the whole survey", heading="All")
    root("a grid of the whole survey", grid=True)
    root("another order", order="reverse")
    root("no place to change", fixed_last=3)
    root("nothing fixed, said", fixed_first=0)
    root("a negative place", fixed_last=-1)
    root("a place that is no number", fixed_first="1")
    root("an unknown key", size=4)
    add("loose questions behind a section", lambda content, block, _by_id: block.update(of=_swapped(content)))
    add("fixed places without an order", lambda _content, block, _by_id: block.pop("order"))
    add("nothing arranged", lambda content, _block, _by_id: content.update(arrangement={"of": _ids(content)}))
    add("a question left out", lambda _content, block, _by_id: block["of"].pop())
    add("a question twice", lambda _content, block, _by_id: block["of"].append("mood"))
    add("sections in another order", lambda _content, block, _by_id: block["of"].reverse())
    add("no list", lambda _content, block, _by_id: block.update(of="sector"))
    add("null in the list", lambda _content, block, _by_id: block["of"].append(None))
    add("a section in a section", lambda _content, block, _by_id: _nest(block))
    section("a heading too long", heading="h" * 201)
    section("an empty heading", heading="")
    section("a text of spaces", text=" ")
    section("a section that is a grid", grid=True)
    section("a random order that a filter does not allow", fixed_first=0)
    add("a filter's question that changes places", lambda _content, block, _by_id: block["of"][1].pop("fixed_first"))
    add("an empty section", lambda _content, block, _by_id: block["of"].append({"heading": "Empty", "of": []}))
    add("a section that says nothing", lambda _content, block, _by_id: block["of"][3].pop("text"))
    grid("a grid with a heading", heading="Grid")
    grid("a grid that is none", grid=False)
    add("a grid of one", lambda _content, block, _by_id: _shrink(block))
    question("a row with other options", "trust_press", options=["not at all", "somewhat", "wholly"])
    question("a row with other help", "trust_press", help="Other.")
    question("a row without a stem", "trust_press", text="the press?")
    question("a row with another stem", "trust_press", text="How much do you like\nthe press?")
    question("a row without an item", "trust_press", text="How much do you trust\n")
    question("a row with a text before it", "trust_press", before="Now.")
    question("rows with options in a random order", "trust_press", order="random")
    question("an order of yes and no", "smokes", order="random")
    question("an order of levels", "mood", order="random")
    question("an order of the last options too", "drugs", fixed_last=1)
    question("fixed options without an order", "mood", fixed_last=1)
    question("an order that moves one option", "sector", fixed_first=2)
    question("last options in another order", "sector", last=["decline", "other"])
    question("no last options, said", "mood", last=[])
    question("an unknown last option", "sector", last=["other", "refuse"])
    question("none among options of which one is chosen", "sector", last=["none", "decline"])
    question("a last option twice", "sector", last=["decline", "decline"])
    question("last options that are all", "drugs", last=["other", "none", "decline"], options=["a", "b", "c"])
    question("a text before it that shows nothing", "drugs", before="\u200b")
    question("yes and no with a further option that says not which", "smokes", last=None)
    return found


def _ids(content: Any) -> list[str]:
    return [each["id"] for each in content["questions"]]


def _swapped(content: Any) -> list[Any]:
    first, habits, *others = content["arrangement"]["of"]
    return [habits, first, *others]


def _nest(block: Any) -> None:
    inner = block["of"][1]
    block["of"][1] = {"heading": "Outer", "of": [inner]}


def _shrink(block: Any) -> None:
    grid = block["of"][2]["of"][0]
    block["of"][2]["of"] = [{"grid": True, "of": grid["of"][:1]}, *grid["of"][1:]]

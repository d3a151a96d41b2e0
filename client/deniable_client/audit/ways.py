"""What may differ between people whom a survey with filters leads on different ways: screens, which are for their eyes.

The browser of a person keeps an entry for each screen until the tab goes elsewhere, and screens have their heights.
Both stay on the device, where the answers themselves stand on the screen, and no page but the survey's own is there to
hear of them.
"""

from __future__ import annotations

import json
import re

from deniable_client.audit.blackbox.trace import Trace
from deniable_client.audit.reference.published import PublishedSurvey

_HEIGHT = re.compile(r'(\\*"height\\*":)\d+')
_PLACE = re.compile(r'"(at|n)": \d+')
_ENTRY = re.compile(r'"(at|n)":-?\d+')


def has_filters(survey: PublishedSurvey) -> bool:
    """Whether some questions are put to some people alone."""
    return any("ask_if" in each for each in survey.questions)


def without_screens(trace: Trace) -> Trace:
    """The trace without how many screens there were, and how high they are."""
    for name, content in trace.exact.items():
        kind = name.rpartition(", ")[2]
        if kind == "entries":
            trace.exact[name] = json.dumps(sorted({json.dumps(each) for each in json.loads(content)}))
        elif kind == "history":
            _, *state = json.loads(content)
            trace.exact[name] = _PLACE.sub(r'"\1": null', json.dumps(state))
        elif kind == "events":
            trace.exact[name] = _HEIGHT.sub(r"\1n", content)
    calls = [name for name in trace.exact if ", calls, History.prototype." in name]
    for name in calls:
        del trace.exact[name]
        trace.exact[_ENTRY.sub(r'"\1":null', name)] = "as often as there are screens"
    # How often a page hears of its size goes with the number of screens, too.
    trace.loose = {name: value for name, value in trace.loose.items() if not name.endswith("events about sizes")}
    return trace

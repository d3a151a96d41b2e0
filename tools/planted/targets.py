"""What planted clients are asked: one survey of every kind of unit, by each kind of access, and sealed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from deniable import Survey, read_survey
from deniable.access.issuer import Issuer
from deniable.survey.sealed import Sealed, padded_size
from deniable_client.audit.blackbox.stand_in import Answer, RecordingRelay
from deniable_client.audit.keys import AuditKeys
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.release import integrity
from deniable_client.audit.shipped import Target
from tools.rig.collectors import Collector
from tools.rig.survey_files import question_toml, survey_toml

FIRST, SECOND_SCRIPT = "deniable.js", "deniable-answering.js"
"""The scripts of a survey's own page: the first holds the hash of the second."""

Kind = Literal["open", "invited", "unlinkable", "sealed", "unlinkable and sealed", "every mechanism", "filtered"]

SURVEY = survey_toml(
    "What an audit asks",
    question_toml("affair", "yes-no", truth="1/2"),
    question_toml("leave", "choice", options=["a", "b", "c"], epsilon=0.8, wave_epsilon=0.4, mechanism="longitudinal"),
    question_toml("boxes", "ticks", options=[*"abcd"], epsilon=0.5),
    question_toml("drinks", "number", lo=0, hi=9, epsilon=0.4),
    *(question_toml(name, "yes-no", f"{name}?", group="three") for name in ("tax", "theft", "fraud")),
    groups={"three": {"epsilon": 1, "draw": 2}},
)

EVERY = survey_toml(
    "Every mechanism",
    question_toml("coins", "yes-no", truth="1/4"),
    question_toml("warner", "yes-no", epsilon=0.4),
    question_toml("forced", "choice", options=["a", "b", "c"], truth="1/4", forced=["1/2", "1/4", "1/4"]),
    question_toml("k_ary", "choice", options=[*"abcd"], epsilon=0.4, mechanism="k-ary"),
    question_toml("subset", "choice", options=[*"abcdefgh"], epsilon=0.4, mechanism="subset"),
    question_toml("ticks", "ticks", options=["a", "b", "c"], epsilon=0.6, goal="together"),
    question_toml("drawn", "ticks", options=[*"abcd"], epsilon=0.5),
    question_toml("geometric", "scale", lo=0, hi=5, epsilon=0.4, mechanism="geometric"),
    question_toml("exponential", "scale", lo=1, hi=5, epsilon=0.4, mechanism="exponential"),
    question_toml("mean", "number", lo=0, hi=60, epsilon=0.4, mechanism="mean"),
    question_toml("piecewise", "number", lo=0, hi=60, epsilon=0.5, mechanism="piecewise"),
    question_toml("laplace", "number", lo=0, hi=5, epsilon=0.5, mechanism="discrete-laplace"),
    question_toml("waves", "yes-no", epsilon=0.6, wave_epsilon=0.3, mechanism="longitudinal"),
    question_toml("often", "number", lo=1, hi=20, epsilon=0.5, ask_if="warner = yes"),
    *(question_toml(name, "yes-no", f"{name}?", group="three") for name in ("tax", "theft", "fraud")),
    *(question_toml(name, "yes-no", f"{name}?", group="both") for name in ("one", "other")),
    groups={"three": {"epsilon": 0.4, "draw": 2}, "both": {"epsilon": 0.4, "want": ["shares"]}},
)
"""One question for each mechanism, as tame as the ceiling of a device asks for."""


FILTERED = survey_toml(
    "What an audit asks some people alone",
    question_toml("smokes", "yes-no", epsilon=1),
    question_toml("often", "choice", options=["a", "b"], epsilon=1, ask_if="smokes = yes"),
    question_toml("boxes", "ticks", options=[*"abc"], epsilon=0.5, ask_if="often = b"),
    question_toml("since", "number", lo=0, hi=9, epsilon=0.5, ask_if="smokes = yes"),
)

DOCUMENTS: dict[str, str] = {"every mechanism": EVERY, "filtered": FILTERED}
"""What other kinds ask; every kind that is not here asks the first survey."""


@dataclass(frozen=True)
class PlantedTarget(Target):
    """A collector that serves other scripts, by their names."""

    scripts: Mapping[str, bytes] = field(default_factory=dict)

    def relay(self) -> RecordingRelay:
        """A stand-in that has the scripts, and the hash of the first in the pages."""
        relay = super().relay()
        if self.scripts:
            relay.rewrite = _with(self.scripts, relay.rewrite)
        return relay


def survey_of(kind: Kind) -> Survey:
    """The survey; by blind token and sealed with keys that nobody keeps, because an audit asks copies with its own."""
    survey, keys = read_survey(DOCUMENTS.get(kind, SURVEY)), AuditKeys()
    if kind.startswith("unlinkable"):
        survey = replace(survey, access="unlinkable", issuer=Issuer(**keys.issuer, url="https://issuer.example"))
    if kind == "invited":
        survey = replace(survey, access="invited")
    if kind.endswith("sealed"):
        closed = replace(survey, closes=datetime.date.fromisoformat(keys.last_day))
        published = keys.sealed(padded_size(closed.longest_report))
        first = datetime.date.fromisoformat(published["first"])
        survey = replace(closed, sealed=Sealed(first, tuple(published["keys"]), published["size"]))
    return survey


def target_of(collector: Collector, kind: Kind) -> Target:
    """The survey at a collector."""
    survey = survey_of(kind)
    collector.publish(survey)
    return Target.of(collector.url, PublishedSurvey(survey.document))


def _with(scripts: Mapping[str, bytes], rewrite: Callable[[str, Answer], Answer]) -> Callable[[str, Answer], Answer]:
    def rewritten(path: str, answer: Answer) -> Answer:
        status, headers, content = rewrite(path, answer)
        name = path.removeprefix("/client/")
        if name in scripts:
            return status, headers, scripts[name]
        if FIRST not in scripts:  # a survey's own page names no other one
            return status, headers, content
        page = re.sub(rb'integrity="sha384-[^"]*"', f'integrity="{integrity(scripts[FIRST])}"'.encode(), content)
        return status, headers, page if "html" in headers.get("content-type", "") else content

    return rewritten

"""A lower bound on the epsilon of all that a device sends in several waves, of each question and of all together.

People of two kinds, who give the first or the last answer to everything, answer a survey and copies of it, each from a
device with a memory of its own. The event that tells them apart best is chosen on one half of them (the scores of a
quarter, the limit by another one) and measured on the other half with Clopper-Pearson limits, as `evidence` does for
single reports [1]_. A device that drew anew for each wave, or that sent another value than the one it keeps, would tell
more than the ledger is charged.

References
----------
.. [1] Z. Ding, Y. Wang, G. Wang, D. Zhang, D. Kifer, "Detecting violations of differential privacy", CCS 2018, 475-489.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable import Survey, parse_survey
from deniable.errors import DeniableError
from deniable_client.audit.answers import extreme_answers
from deniable_client.audit.companions import renamed
from deniable_client.audit.evidence import measured, telling_event
from deniable_client.audit.reference.device import OF_COLLECTOR
from deniable_client.audit.reference.published import PublishedSurvey, Unit, canonical
from deniable_client.audit.sampling import find_node
from deniable_client.device import draw_questions, permanent
from deniable_client.memory import Memory

WAVES = 3
BINS = 64
"""Number of intervals into which the scores of whole histories are put."""

IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  # folders with random names in it
"""Where files are that nobody needs after a power failure."""

COLLECTOR = "https://collector.example"

_NOT_ASKED = ("access", "issuer", "sealed", "place", "opens", "closes")
"""What decides who is counted, and when, and does not touch the noise."""

Sent = list[dict[str, Any]]
"""The values that one device sent, wave by wave."""

DrawWaves = Callable[[Sequence[PublishedSurvey], Sequence[Mapping[str, Any]], int], Iterator[Sent]]
"""What so many people of each kind send of surveys: first all of the first kind."""


@dataclass(frozen=True)
class WholeBound:
    """What histories tell of one unit, or of all.

    Attributes
    ----------
    name : str
    declared : float
        Epsilon that the ledger is charged.
    bound : float
        Lower confidence limit of the real one.
    """

    name: str
    declared: float
    bound: float

    @property
    def passed(self) -> bool:
        """Whether no more is told than declared."""
        return self.bound <= self.declared


@dataclass(frozen=True)
class Wholes:
    """The bounds of all units, and last of whole histories."""

    waves: int
    people: int
    bounds: tuple[WholeBound, ...]


def waves_of(survey: PublishedSurvey) -> list[PublishedSurvey]:
    """The survey, open to everybody, and copies under other titles: as many as the ledger has room for."""
    content = {name: value for name, value in survey.content.items() if name not in _NOT_ASKED}
    surveys = [PublishedSurvey(canonical(content).encode("ascii"))]
    while len(surveys) < WAVES:
        surveys.append(PublishedSurvey(canonical(renamed(surveys[-1].content)).encode("ascii")))
        if _cost({unit.key: unit for each in surveys for unit in each.units}) > OF_COLLECTOR:
            return surveys[:-1]
    return surveys


def bound_waves(survey: PublishedSurvey, draw: DrawWaves, people: int, failure: float) -> Wholes:
    """Bound the epsilon of all waves of a survey.

    Parameters
    ----------
    survey : PublishedSurvey
        Without filters, because everybody gives the first, or the last, answer to everything.
    draw : callable
    people : int
        Number of devices, half of them of either kind.
    failure : float
        Probability that any bound is above the real epsilon.
    """
    surveys = waves_of(survey)
    answers = _ends(parse_survey(surveys[0].document))
    # One half has the one extreme answer to everything, the other half the other one.
    own = people // 2
    drawn = list(draw(surveys, answers, own))
    kinds = np.repeat([0, 1], own)
    # Every fourth device chooses scores, the next one limits, and two measure.
    part = np.arange(2 * own) % 4
    names = [[each["id"] for each in unit.questions] for unit in surveys[0].units]
    codes = [_codes([[wave[name] for wave in sent for name in some] for sent in drawn]) for some in names]
    # Bonferroni over the units and the whole.
    level = failure / (len(codes) + 1)
    bounds = []
    scores = np.zeros(2 * own)
    for place, (some, code) in enumerate(zip(names, codes, strict=True)):
        table = _table(kinds, code, part == 0)
        # Half a count more, so that a value seen under one answer alone has a finite score.
        ratio = np.log((table[1] + 0.5) / (table[0] + 0.5))
        # Units are independent given the answers, so the log-likelihood ratio of a history is the sum of theirs.
        scores += ratio[code]
        cost = _cost({each.units[place].key: each.units[place] for each in surveys})
        bounds.append(WholeBound(", ".join(some), cost / 1e6, _bound(kinds, code, part, level)))
    # Limits from the part that chose the scores; the others stay fresh for what is chosen and measured.
    limits = np.unique(np.quantile(scores[part == 0], np.linspace(0, 1, BINS + 1)[1:-1]))
    everything = _cost({unit.key: unit for each in surveys for unit in each.units})
    whole = _bound(kinds, np.searchsorted(limits, scores), part, level)
    return Wholes(len(surveys), 2 * own, (*bounds, WholeBound("everything", everything / 1e6, whole)))


def _bound(kinds: NDArray[Any], code: NDArray[Any], part: NDArray[Any], level: float) -> float:
    size = int(code.max()) + 1
    event = telling_event(_table(kinds, code, part < 2, size), level / 2)
    return max(0.0, measured(_table(kinds, code, part >= 2, size), event, level / 2)) if event else 0.0


def _table(kinds: NDArray[Any], code: NDArray[Any], chosen: NDArray[Any], size: int | None = None) -> NDArray[np.int64]:
    table = np.zeros((2, size or int(code.max()) + 1), dtype=np.int64)
    np.add.at(table, (kinds[chosen], code[chosen]), 1)
    return table


def _codes(values: Sequence[object]) -> NDArray[np.int64]:
    known: dict[str, int] = {}
    return np.array([known.setdefault(json.dumps(each), len(known)) for each in values])


def _cost(units: Mapping[str, Unit]) -> int:
    return sum(unit.cost for unit in units.values())


def _ends(survey: Survey) -> tuple[dict[str, Any], dict[str, Any]]:
    first, last = ({each.id: extreme_answers(each)[end] for each in survey.questions} for end in (0, 1))
    return first, last


def draw_waves_of_python(
    surveys: Sequence[PublishedSurvey], answers: Sequence[Mapping[str, Any]], own: int
) -> Iterator[Sent]:
    """Through the Python client's memory, a file for each person."""
    read = [parse_survey(each.document) for each in surveys]
    with tempfile.TemporaryDirectory(prefix="deniable-", dir=IN_MEMORY) as folder:
        for kind, given in enumerate(answers):
            for person in range(own):
                path = Path(folder) / f"{kind}-{person}.db"
                memory = Memory(path)
                yield [dict(_sent(memory, each, given)) for each in read]
                for each in path.parent.glob(f"{path.name}*"):
                    each.unlink()


def _sent(memory: Memory, survey: Survey, given: Mapping[str, Any]) -> Mapping[str, Any]:
    asked = memory.asked(survey, partial(draw_questions, survey))
    own = {name: given[name] for name in asked}
    return memory.once(survey, COLLECTOR, lambda: permanent(survey, own, asked=asked)).values


def draw_waves_of_javascript(
    surveys: Sequence[PublishedSurvey], answers: Sequence[Mapping[str, Any]], own: int
) -> Iterator[Sent]:
    """Through the browser client's memory, run by Node.js."""
    request = {
        "documents": [each.document.decode("ascii") for each in surveys],
        "collector": COLLECTOR,
        "people": [{"answers": given, "times": own} for given in answers],
    }
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        path = Path(folder) / "request.json"
        path.write_text(json.dumps(request), encoding="ascii")
        command = [find_node(), str(files(__package__) / "waves.mjs"), str(files("deniable_web")), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            yield from map(json.loads, process.stdout)
    if process.returncode:
        raise DeniableError(f"node: drawing waves from the browser client ended with status {process.returncode}")

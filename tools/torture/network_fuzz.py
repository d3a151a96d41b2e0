"""Requests from the OpenAPI document, and reports that went wrong on the way: nothing breaks, nothing is counted."""

from __future__ import annotations

import copy
import json
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from werkzeug.test import TestResponse

from deniable import Survey, read_survey
from deniable_client import randomize
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.settings import Settings
from tools.rig.access import invited_survey, publish, unlinkable_survey
from tools.rig.surveys import FIVE_TYPES, person

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)

GENERATED = settings(database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
"""Requests are made once, of a seed: nothing is kept for the next run, and a failing one is not made smaller."""

TRAPS = [b"[" * 3000, b"9" * 5000, b'"', b"\\u0000", b"{", b"1e9", b"true"]


def fuzz(short: bool) -> str:
    """At least 20,000 requests, half of them from the document and half mutated reports; the sentence for the log."""
    statuses = run(120 if short else 11_000, 230 if short else 11_000)
    total = sum(statuses.values())
    assert total >= (350 if short else 20_000), total
    wanted = {200, 201, 401, 404, 409, 415, 422} | (set() if short else {204})
    assert wanted <= set(statuses), f"kinds of answers that were never met: {wanted - set(statuses)}"
    figures = ", ".join(f"{status}: {n:,}" for status, n in sorted(statuses.items()))
    return f"{total:,} requests, none of status 500 or above, no refused one counted ({figures})"


SCENARIOS: dict[str, Callable[[bool], str]] = {"fuzz": fuzz}


def run(from_document: int, mutated: int, number: int = 1) -> Counter[int]:
    """Send that many requests, from that seed; how often each status came."""
    with tempfile.TemporaryDirectory() as folder:
        target = Target(Path(folder) / "fuzz.db")
        try:
            target.send_from_document(from_document, number)
            target.send_mutated(mutated, number)
        finally:
            target.stop()
        return target.statuses


class Target:
    """A collector in this process with one survey to answer and one to close, watched request by request."""

    def __init__(self, database: Path) -> None:
        self.app = create_app(database, settings=Settings(rate_limit=None))
        self.store = self.app.extensions["deniable"]["store"]
        self.http = self.app.test_client()
        self.survey: Survey = read_survey(FIVE_TYPES)
        self.to_close: Survey = read_survey(FIVE_TYPES.replace("Five types", "To close"))
        for survey in (self.survey, self.to_close):
            self.store.publish(survey)
        self.invited = invited_survey(opens=None, closes=None)
        self.unlinkable = unlinkable_survey(opens=None, closes=None)
        for survey in (self.invited, self.unlinkable):
            publish(self.store, survey, "publish")
        self.tokens = {scope: create_token(self.store, scope, scope) for scope in ("publish", "metrics")}
        self.statuses: Counter[int] = Counter()

    def stop(self) -> None:
        """End the writer and close the database."""
        self.app.extensions["deniable"]["writer"].stop()
        self.store.close()

    def counted(self) -> int:
        """Reports that count."""
        n: int = sum(state.reports for state in self.store.states())
        return n

    def send_from_document(self, requests: int, number: int) -> None:
        """Valid and invalid requests to every operation of the OpenAPI document, and what it says of the answers."""
        schema = schemathesis.openapi.from_wsgi("/api/openapi.json", self.app)
        operations = [result.ok() for result in schema.get_all_operations()]  # type: ignore[union-attr]
        weights = {operation.label: 6 if operation.path.endswith("/reports") else 1 for operation in operations}
        for operation in operations:
            share = requests * weights[operation.label] // sum(weights.values()) + 1
            cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))

            @seed(number)
            @settings(GENERATED, max_examples=share)
            @given(case=cases, exists=st.booleans(), token=st.sampled_from(["", *self.tokens.values()]))
            def send(case: Case[Any], exists: bool, token: str) -> None:
                if exists and "survey_id" in case.path_parameters:
                    case.path_parameters["survey_id"] = self.survey_for(case.operation.path).id
                self.check_case(case, {"Authorization": f"Bearer {token}"} if token else None)

            send()

    def survey_for(self, path: str) -> Survey:
        """A survey of which an operation does more than refuse."""
        ends = {
            "/close": self.to_close,
            "/invitations": self.invited,
            "/unused": self.invited,
            "/tokens": self.unlinkable,
        }
        return next((survey for end, survey in ends.items() if path.endswith(end)), self.survey)

    def check_case(self, case: Case[Any], headers: dict[str, str] | None) -> None:
        """Send one request, and hold the answer against the document and the database."""
        before = self.counted()
        response = case.call(headers=headers)
        # An address that is too long is refused before what it says is looked at; Schemathesis does not count that as
        # a refusal, because the check's list of statuses has no 414.
        checks = [each for each in CHECKS if response.status_code != 414 or each is not negative_data_rejection]
        case.validate_response(response, checks=checks, headers=headers)
        self.statuses[response.status_code] += 1
        stored = 0
        if response.status_code in (200, 201) and case.operation.path.endswith("/reports"):
            answer = response.json()
            stored = answer["stored"] if "stored" in answer else int(response.status_code == 201)
        assert self.counted() == before + stored
        assert response.headers["x-content-type-options"] == ["nosniff"]

    def send_mutated(self, requests: int, number: int) -> None:
        """Valid reports with something wrong about them, alone and in batches."""

        lines = damaged(reports(self.survey))

        @seed(number)
        @settings(GENERATED, max_examples=requests)
        @given(body=st.one_of(lines, batches(lines)), mimetype=mimetypes())
        def send(body: bytes, mimetype: str) -> None:
            before = self.counted()
            path = f"/api/v1/surveys/{self.survey.id}/reports"
            response = self.http.post(path, data=body, content_type=mimetype)
            self.statuses[response.status_code] += 1
            assert self.counted() == before + stored_by(response)

        send()


def stored_by(response: TestResponse) -> int:
    """How many reports an answer says were stored; refusals are problems with a sentence and store none."""
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        assert response.mimetype == "application/problem+json"
        assert len(response.json["detail"]) > 10
        return 0
    stored: Any = response.json.get("stored")  # type: ignore[union-attr]
    return int(response.status_code == 201) if stored is None else stored


def mimetypes() -> st.SearchStrategy[str]:
    """Mostly the two that are taken."""
    taken = ["application/json", "application/x-ndjson"]
    return st.sampled_from([*taken * 4, "application/json; charset=utf-16", "text/plain", "multipart/form-data", ""])


def reports(survey: Survey) -> st.SearchStrategy[dict[str, Any]]:
    """A report that fits, under one of few ids, so that some meet."""
    fitting = [json.loads(randomize(survey, person(number)).encode()) for number in range(6)]
    ids = st.integers(0, 5).map(lambda number: {"id": f"{number:032x}"})
    return st.builds(lambda report, own: copy.deepcopy(report) | own, st.sampled_from(fitting), ids)


@st.composite
def damaged(draw: st.DrawFn, good: st.SearchStrategy[dict[str, Any]]) -> bytes:
    """A report whose content or bytes were changed in one or more places, or in none."""
    report = draw(good)
    for _ in range(draw(st.integers(0, 2))):
        part = draw(st.sampled_from([report, report["values"]])) if isinstance(report.get("values"), dict) else report
        key = draw(st.sampled_from([*part, "other"]) | st.text())
        if draw(st.booleans()):
            part[key] = draw(JSON_VALUES)
        else:
            part.pop(key, None)
    body = bytearray(json.dumps(report, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 3]))):
        place = draw(st.integers(0, max(0, len(body) - 1)))
        inserted = draw(
            st.binary(max_size=3) | st.sampled_from([b"[" * 3000, b"9" * 5000, b'"', b"\\u0000", b"{", b"1e9"])
        )
        body[place : place + draw(st.integers(0, 3))] = inserted
    return bytes(body)


def batches(lines: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Lines of which some are good."""
    ends = st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\r"])
    return st.builds(lambda end, some: end.join(some), ends, st.lists(lines, max_size=5))

"""The auditor's own implementation of the device agrees with the vectors of every mechanism, report and memory."""

from __future__ import annotations

import ast
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from deniable.access.invitation import hash_of
from deniable_client.audit import reference
from deniable_client.audit.reference import mechanisms, tokens
from deniable_client.audit.reference.chance import Words
from deniable_client.audit.reference.device import Device, LedgerRefusal, without_memory
from deniable_client.audit.reference.published import PublishedSurvey, choice, completion_code, millionths, settled
from deniable_client.audit.reference.tokens import UnsignedToken, question_about, right_of
from deniable_client.link import origin_of
from deniable_transport.authorization import authorization_of
from tests.support.vectors import VECTORS, vectors

MECHANISMS = sorted(mechanisms._DRAWS)


def test_the_reference_imports_nothing_that_it_judges() -> None:
    for path in Path(str(reference.__file__)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                own = name.startswith("deniable_client.audit.reference")
                assert own or name.split(".")[0] in sys.stdlib_module_names, f"{path.name} imports {name}"


def test_every_mechanism_has_vectors() -> None:
    others = "bad-mechanisms completions epsilons filters ledger links memory orders reports surveys"
    assert set(MECHANISMS) == {path.stem for path in VECTORS.glob("*.json")} - {*others.split()}


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms(name: str) -> None:
    good = [vector for vector in vectors(name) if vector["report"] is not None]
    assert len(good) > 100
    for vector in good:
        words = Words(vector["words"])
        kept = mechanisms.keep(vector["mechanism"], vector["answer"], words)
        assert mechanisms.send(vector["mechanism"], kept, words) == vector["report"], vector["name"]
        assert words.left == 0, vector["name"]


def test_costs() -> None:
    for vector in vectors("epsilons"):
        exact = millionths(mechanisms.ratio(vector["mechanism"]))
        assert math.ceil(vector["epsilon"] * 1e6) == exact, vector


def test_completion_codes() -> None:
    drawn = [each for each in vectors("completions") if each["completion"].get("code_length")]
    assert drawn
    for vector in drawn:
        words = Words(vector["words"])
        assert completion_code(vector["completion"]["code_length"], words) == vector["personal"]["code"]
        assert words.left == 0


def test_reports() -> None:
    content = vectors("reports")
    good = [vector for vector in content["vectors"] if vector["report"] is not None]
    assert good
    for vector in good:
        survey = PublishedSurvey(vector.get("document", content["document"]).encode())
        words = Words(vector["words"])
        answers = {
            each["id"]: choice(each, vector["answers"][each["id"]])
            for each in survey.questions
            if each["id"] in vector["answers"]
        }
        values = without_memory(survey, answers, words, vector.get("asked"))
        assert survey.report(vector["id"], vector["cohort"], values) == vector["report"].encode(), vector["name"]
        assert words.left == 0


@pytest.mark.parametrize("vector", vectors("standards/blind_rsa")["privacy_pass"], ids=lambda each: each["nonce"][:8])
def test_tokens(vector: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    survey = PublishedSurvey(json.dumps({"issuer": {"key": vector["pkS"]}}).encode())
    # That of a survey is bound to its bytes; the one of the vector stands in its place.
    monkeypatch.setattr(tokens, "_challenge", lambda _: bytes.fromhex(vector["token_challenge"]))
    n = tokens.modulus(survey)
    request = UnsignedToken(survey, vector["nonce"], vector["salt"], int(vector["blind"], 16))
    body = json.loads(request.body("00" * 16))
    # Behind the type and a byte of the key's hash.
    assert body == {"invitation": "00" * 16, "blinded": vector["token_request"][6:]}
    signed = int(vector["token_response"], 16) * pow(request.factor, -1, n) % n
    assert request.token(lambda _: signed) == vector["token"]
    assert request.id == vector["nonce"][:32]


def test_rights() -> None:
    for credential in ("00" * 16, "0002ff"):
        assert right_of(credential) == authorization_of(credential)
    assert json.loads(question_about("00" * 16)) == {"hash": hash_of("00" * 16)}


def test_filters() -> None:
    people = 0
    for vector in vectors("filters"):
        if vector["id"] is None:
            continue
        survey = PublishedSurvey(vector["document"].encode())
        assert survey.id == vector["id"]
        assert [unit.key for unit in survey.units] == vector["keys"]
        for person in vector["people"]:
            questions = {each["id"]: each for each in survey.questions}
            given = {name: choice(questions[name], answer) for name, answer in person["answers"].items()}
            words = Words(person["words"])
            answers = settled(survey, given)
            values = without_memory(survey, answers, words, person["asked"])
            assert survey.report("00" * 16, None, values) == person["report"].encode()
            assert words.left == 0
            people += 1
    assert people > 50


@pytest.mark.parametrize("name", ["memory", "ledger"])
def test_memory(name: str) -> None:
    memory = vectors("memory")
    surveys = [PublishedSurvey(document.encode()) for document in memory["surveys"]]
    for survey, keys in zip(surveys, memory["keys"], strict=True):
        assert {each["id"]: unit.key for unit in survey.units for each in unit.questions} == keys
    sequences = memory["sequences"] if name == "memory" else [each["steps"] for each in vectors("ledger")]
    for sequence in sequences:
        device = Device()
        for step in sequence:
            if step["expect"].get("error") in ("draw", "memory", "crash"):
                check_failed(device, surveys[step["survey"]], step)
                continue
            came: dict[str, Any]
            try:
                came = {"result": act(device, surveys[step["survey"]], step)}
            except LedgerRefusal:
                came = {"error": "budget"}
            assert came == step["expect"], step


def check_failed(device: Device, survey: PublishedSurvey, step: dict[str, Any]) -> None:
    """What failed before it was kept changes nothing; a crash afterwards leaves all that was kept."""
    if step["expect"]["error"] == "crash":
        act(device, survey, step)


def act(device: Device, survey: PublishedSurvey, step: dict[str, Any]) -> Any:
    collector = step.get("collector", "https://a.example")
    if step["act"] == "look":
        own, everybody, has_told, is_same = device.look(survey, origin_of(collector), step["day"])
        text = device.reports.get(survey.id, b"").decode() or None
        return [text, device.to.get(survey.id, {}).get(collector, False), own, everybody, has_told, is_same]
    if step["act"] == "sent":
        return device.arrived(survey, collector)
    if step["act"] == "ask":
        chosen = [
            (unit, [each["id"] for each in unit.questions if each["id"] in step["drawn"]]) for unit in survey.units
        ]
        asked = [name for unit, fresh in chosen for name in device._asked_of(unit, fresh)]
        return [each["id"] for each in survey.questions if each["id"] in asked]
    device.charge(survey, origin_of(collector), step["day"])
    if survey.id not in device.reports:
        values = step["report"]["values"]
        drawn = [(unit, {each["id"]: values[each["id"]] for each in unit.questions}) for unit in survey.units]
        # The words of a vector are those of its one wave, again and again.
        device.keep(survey, step["report"]["id"], drawn, lambda: int(step["words"][0]), step["report"]["cohort"])
    device.to.setdefault(survey.id, {}).setdefault(collector, False)
    return device.reports[survey.id].decode()

"""The vector files, run by Python. ``tests/web`` runs the same files in JavaScript."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from decimal import Decimal, localcontext

import pytest

from deniable import (
    AnswerError,
    DeniableError,
    ParameterError,
    SurveyError,
    mechanisms,
    odds_sentences,
    parse_survey,
    whole_odds_sentences,
)
from deniable.mechanisms import MECHANISMS, mechanism_from_published
from deniable_client.device import randomize
from tests.support.vectors import VECTORS, vectors
from tools import make_vectors
from tools.rig import device_model

MECHANISM_FILES = [*MECHANISMS, "bad-mechanisms"]


@pytest.mark.slow
def test_files_are_what_the_generator_writes() -> None:
    assert {
        path.name: path.read_text(encoding="utf-8") for path in VECTORS.glob("*.json")
    } == make_vectors.vector_files()


@pytest.mark.long
@pytest.mark.slow
def test_case_that_is_added_leaves_the_others_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    added = mechanisms.KAry.from_epsilon(6, 2)
    # The test above proves that these are what the generator writes without it.
    before = {path.name: set(path.read_text(encoding="utf-8").splitlines()) for path in VECTORS.glob("*.json")}
    monkeypatch.setattr(make_vectors, "MECHANISMS", [added, *make_vectors.MECHANISMS])
    monkeypatch.setattr(
        device_model, "SURVEYS", (*device_model.SURVEYS, replace(device_model.SURVEYS[0], title="Added"))
    )
    monkeypatch.setattr(make_vectors, "SURVEYS_OF_SEQUENCES", (*make_vectors.SURVEYS_OF_SEQUENCES, 26))
    after = {name: set(content.splitlines()) for name, content in make_vectors.vector_files().items()}
    # What stood last in a list has a comma now, which is all that may differ.
    lost = {name: {line for line in before[name] - after[name] if f"{line}," not in after[name]} for name in before}
    assert lost == {name: set() for name in before}
    assert {name for name in before if after[name] - before[name]} == {"k-ary.json", "memory.json"}


@pytest.mark.parametrize("name", MECHANISM_FILES)
def test_mechanisms(name: str) -> None:
    cases = vectors(name)
    assert cases
    for vector in cases:
        words = iter(vector["words"])
        if vector["report"] is None:
            with pytest.raises((AnswerError, ParameterError)):
                mechanism_from_published(vector["mechanism"]).randomize(vector["answer"], words.__next__)
        else:
            mechanism = mechanism_from_published(vector["mechanism"])
            assert mechanism.randomize(vector["answer"], words.__next__) == vector["report"], vector["name"]
            assert next(words, None) is None, vector["name"]


def test_epsilons_are_the_smallest_floats_that_are_not_below() -> None:
    cases = vectors("epsilons")
    assert {vector["mechanism"]["name"] for vector in cases} == set(MECHANISMS)
    for vector in cases:
        mechanism = mechanism_from_published(vector["mechanism"])
        assert mechanism.epsilon == vector["epsilon"]
        ratio = mechanism.likelihood_ratio
        with localcontext(prec=80):
            exact = (Decimal(ratio.numerator) / ratio.denominator).ln()
            assert Decimal(mechanism.epsilon) >= exact, vector
            assert Decimal(math.nextafter(mechanism.epsilon, 0)) < exact, vector


def test_surveys() -> None:
    for vector in vectors("surveys"):
        document = vector["document"].encode("utf-8")
        if vector["id"] is None:
            with pytest.raises(SurveyError):
                parse_survey(document)
        else:
            survey = parse_survey(document, vector["id"])
            assert survey.document == document
            assert [question.epsilon for question in survey.questions] == vector["epsilon"]
            assert [list(odds_sentences(question)) for question in survey.questions] == vector["odds"]
            assert list(whole_odds_sentences(survey)) == vector["whole_odds"]
            for language, read in vector.get("labels", {}).items():
                assert make_vectors.labels(survey, language) == read


def test_reports() -> None:
    content = vectors("reports")
    survey = parse_survey(content["document"].encode())
    for vector in content["vectors"]:
        its = parse_survey(vector["document"].encode()) if "document" in vector else survey
        mix = functools.partial(randomize, its, vector["answers"], vector["cohort"], asked=vector.get("asked"))
        words = iter(vector["words"])
        if vector["report"] is None:
            with pytest.raises(DeniableError):
                mix(word=words.__next__, report_id=vector["id"])
            assert vector["words"] == [], "no word is drawn for answers that are refused"
        else:
            report = mix(word=words.__next__, report_id=vector["id"])
            assert report.encode() == vector["report"].encode()
            assert next(words, None) is None

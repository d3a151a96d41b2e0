"""Chance that makes given values of given answers."""

from __future__ import annotations

import random

import pytest

from deniable_client.audit.reference import mechanisms
from deniable_client.audit.reference.chance import Words
from deniable_client.audit.steering import _words
from tests.support.vectors import vectors


@pytest.mark.parametrize("name", sorted(mechanisms._DRAWS))
def test_words_make_the_value_that_is_wanted(name: str) -> None:
    dice = random.Random(41)
    good = [vector for vector in vectors(name) if vector["report"] is not None]
    for vector in dice.sample(good, 40):
        mechanism = vector["mechanism"]
        # Answers of one mechanism, values of another answer: every value has a positive probability under every answer.
        same = [each for each in good if each["mechanism"] == mechanism]
        wanted = mechanisms.keep(
            mechanism, dice.choice(same)["answer"], Words(dice.getrandbits(32) for _ in range(2000))
        )
        words = Words(_words(mechanism, vector["answer"], wanted, dice))
        assert mechanisms.keep(mechanism, vector["answer"], words) == wanted
        assert words.left == 0

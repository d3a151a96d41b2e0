"""Chance that makes given values of given answers."""

from __future__ import annotations

import random
from functools import partial

import pytest

from deniable_client.audit.reference import mechanisms
from deniable_client.audit.reference.chance import UNIT, Words
from deniable_client.audit.steering import _makes, _words, at_the_edges, some_words
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


@pytest.mark.parametrize("name", sorted(mechanisms._DRAWS))
def test_words_at_the_edges_make_the_same_and_the_next_ones_do_not(name: str) -> None:
    dice = random.Random(41)
    for vector in dice.sample([each for each in vectors(name) if each["report"] is not None], 20):
        make = partial(mechanisms.keep, vector["mechanism"], vector["answer"])
        words, made = some_words(make, dice)
        moved = at_the_edges(make, words, dice)
        assert make(Words(moved)) == made
        # Each word was moved while those before it stood at their edges, and those after it where they were.
        before = [*moved[:-1], words[-1]]
        last = moved[-1]
        beyond = {last - 1, last + 1} - {-1, UNIT}
        assert last in (0, UNIT - 1) or any(not _makes(make, [*before[:-1], each], made) for each in beyond)

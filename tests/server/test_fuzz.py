"""Fuzzing from the OpenAPI document, short; ``make torture`` sends 20,000 requests and more."""

from __future__ import annotations

import pytest


@pytest.mark.fuzz
def test_no_request_breaks_the_collector_and_no_refused_one_counts() -> None:
    from tools.torture import network_fuzz  # with a library that would take each worker a second

    assert "none of status 500 or above" in network_fuzz.fuzz(short=True)

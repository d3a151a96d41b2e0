"""A collector in the process of the tests, as fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient

from deniable import Survey
from deniable_server.app import create_app
from deniable_server.settings import Settings
from deniable_server.store import Store
from tools.rig.in_process import ended
from tools.rig.surveys import Clock


@pytest.fixture
def app(tmp_path: Path, clock: Clock) -> Iterator[APIFlask]:
    """A collector in this process, without the limit that tests from one address would soon reach."""
    # Tests settle when they mean to.
    with ended(create_app(tmp_path / "test.db", clock, Settings(rate_limit=None, fold_seconds=86_400))) as app:
        yield app


@pytest.fixture
def store(app: APIFlask, survey: Survey) -> Store:
    """The store of `app`, once its writer has done what it does when it starts."""
    assert app.extensions["deniable"]["writer"].submit(survey, []) == []
    store: Store = app.extensions["deniable"]["store"]
    return store


@pytest.fixture
def http(app: APIFlask) -> FlaskClient:
    """Requests to `app` without a network."""
    return app.test_client()

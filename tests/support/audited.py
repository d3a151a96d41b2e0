"""A collector whose clients are audited."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deniable import read_survey
from deniable_client.audit.reference.published import PublishedSurvey
from deniable_client.audit.shipped import Target
from tools.planted.__main__ import SURVEY
from tools.rig.collectors import running_collector


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with running_collector(tmp_path_factory.mktemp("audit")) as collector:
        survey = read_survey(SURVEY)
        collector.publish(survey)
        yield Target.of(collector.url, PublishedSurvey(survey.document))

"""Reports in the web are fetched before they are counted, and are what they were where they lie."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner
from urllib3 import HTTPResponse

from deniable import DeniableError, Survey, read_survey, tally_reports
from deniable.errors import CollectorError
from deniable_client import randomize
from deniable_commands.main import main
from deniable_research.engine import fetching
from deniable_research.engine.sources import open_source
from deniable_research.engine.tallies import count_tallies
from deniable_research.web import DownloadError, download
from deniable_statistics.data.folder import write_folder
from deniable_statistics.data.manifest import FORMATS
from tests.support.analyzing import love_reports
from tests.support.marks import long
from tests.support.serving import Web, web
from tools.rig.patience import PATIENCE, wait_until
from tools.rig.surveys import FIVE_TYPES, person

__all__ = ["web"]

COHORTS = ("01", "1", "a/b c", "=1+1", "NA", "nobody")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def serve(web: Web, folder: Path, below: str) -> None:
    """Give the files of a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            name = path.relative_to(folder).as_posix().replace("%", "%25").replace(" ", "%20")
            web.pages[f"{below}/{name}"] = (200, path.read_bytes())


def exported(folder: Path, form: str = "csv", by_cohort: bool = False) -> tuple[Survey, dict[str | None, object]]:
    """An export of 60 reports, and the tallies of these."""
    survey = replace(read_survey(FIVE_TYPES), cohorts=COHORTS)
    sent = [randomize(survey, person(n), (*COHORTS[:5], None)[n % 6]) for n in range(60)]
    rows = [(each.id, each.cohort, *each.values.values()) for each in sent]
    write_folder(survey, rows, folder, form, by_cohort=by_cohort)
    return survey, dict(tally_reports(sent, survey))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "by_cohort"),
    [
        (form, by_cohort) if by_cohort == bool(place % 2) else long(form, by_cohort)
        for place, form in enumerate(FORMATS)
        for by_cohort in (False, True)
    ],
)
def test_an_export_has_the_same_tallies_there(
    web: Web, tmp_path: Path, temporary: Path, form: str, by_cohort: bool
) -> None:
    survey, expected = exported(tmp_path / "out", form, by_cohort)
    serve(web, tmp_path / "out", "/studies/out")
    source = open_source(f"{web.url}/studies/out/")
    assert source.export is not None
    assert source.export.survey == survey
    assert source.name == "out"
    assert count_tallies(source, survey) == expected
    del source
    assert [*temporary.iterdir()] == [], "nothing is left of what was fetched"


def test_a_query_stays_and_redirections_are_followed(web: Web, tmp_path: Path) -> None:
    survey, expected = exported(tmp_path / "out")
    serve(web, tmp_path / "out", "/real")
    signed = {f"/out{path.removeprefix('/real')}?key=1%2F2": path for path in web.pages}
    web.pages |= {address: (302, f"{web.url}{path}".encode()) for address, path in signed.items()}
    assert count_tallies(open_source(f"{web.url}/out?key=1%2F2"), survey) == expected


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_is_read_as_it_is(web: Web, tmp_path: Path, form: str) -> None:
    survey, expected = exported(tmp_path / "out", form)
    part = tmp_path / "out" / "reports" / f"part-00000.{form}"
    web.pages[f"/some%20reports.{form}?key=1"] = (200, part.read_bytes())
    source = open_source(f"{web.url}/some%20reports.{form}?key=1")
    assert (source.export, source.name) == (None, f"some_reports.{form}")
    assert count_tallies(source, survey) == expected


def test_the_survey_of_a_collector_brings_its_reports(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    survey, sent = love_reports(30)
    header = ["id", "cohort", *(question.id for question in survey.questions)]
    lines = [",".join(map(str, [each.id, each.cohort or "", *each.values.values()])) for each in sent]
    web.pages = {
        f"/api/v1/surveys/{survey.id}": (200, survey.document),
        f"/api/v1/surveys/{survey.id}/reports.csv": (200, "\r\n".join([",".join(header), *lines, ""]).encode()),
    }
    monkeypatch.setenv("DENIABLE_TOKEN", "dn_secret")
    assert count_tallies(open_source(f"{web.url}/s/{survey.id}"), survey) == tally_reports(sent, survey)
    assert [token for _, token in web.asked] == [None, "Bearer dn_secret"], "the survey is for everybody"
    shown = CliRunner().invoke(main, ["analyze", "shares", "--from", f"{web.url}/s/{survey.id}/results"])
    assert shown.exit_code == 0, shown.output
    assert "one report a person: not enforced" in shown.stderr
    assert "affair" in shown.stdout
    web.pages[f"/api/v1/surveys/{survey.id}/reports.csv"] = 200, b"<html>please log in"
    with pytest.raises(CollectorError, match="must have reports as CSV with a column cohort, got others"):
        open_source(f"{web.url}/s/{survey.id}")


def test_what_was_changed_on_the_way_is_refused(web: Web, tmp_path: Path, temporary: Path) -> None:
    exported(tmp_path / "out")
    part = "/out/reports/part-00000.csv"
    serve(web, tmp_path / "out", "/out")
    whole = web.pages[part][1]
    for content, words in (
        (whole.replace(b"0", b"1", 1), r"^out: reports/part-00000\.csv was changed since it was exported"),
        (whole[:-1], r"^out: reports/part-00000\.csv must have \d+ bytes"),
        (whole + b"1", r"^out: reports/part-00000\.csv: has more than \d+ bytes"),
    ):
        web.pages[part] = (200, content)
        with pytest.raises(DeniableError, match=words):
            open_source(f"{web.url}/out")
    del web.pages[part]
    with pytest.raises(DeniableError, match=r"^out: reports/part-00000\.csv: must be there, got status 404"):
        open_source(f"{web.url}/out")
    assert [*temporary.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, long(signal.SIGTERM)])
def test_nothing_that_was_fetched_stays_when_a_command_is_ended(number: signal.Signals, temporary: Path) -> None:
    program = "from deniable_commands.main import main; main()"
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x.csv"
        command = ["analyze", "shares", "--from", address, "--question", "affair: warner p=3/4", "affair"]
        with (
            subprocess.Popen(
                [sys.executable, "-c", program, *command],
                env=os.environ | {"TMPDIR": str(temporary)},
                stderr=subprocess.DEVNULL,
            ) as run,
            server.accept()[0] as connection,
        ):
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\naffair\n")
            wait_until(lambda: [*temporary.rglob("x.csv")], "the file is there")
            run.send_signal(number)
            assert run.wait(PATIENCE) == (143 if number == signal.SIGTERM else 1)
    assert [*temporary.iterdir()] == []


@pytest.mark.parametrize(
    "path",
    [
        "reports/../../evil.csv",
        "../evil.csv",
        "/evil.csv",
        "evil.csv",
        "reports",
        "reports//evil.csv",
        "reports/a\\b.csv",
    ],
)
def test_a_manifest_names_no_file_elsewhere(web: Web, tmp_path: Path, path: str) -> None:
    exported(tmp_path / "out")
    serve(web, tmp_path / "out", "/out")
    manifest = json.loads(web.pages["/out/manifest.json"][1])
    manifest["parts"][0]["path"] = path
    web.pages["/out/manifest.json"] = (200, json.dumps(manifest).encode())
    with pytest.raises(DeniableError, match=r"^out: manifest\.json must name parts in reports/ only, got "):
        open_source(f"{web.url}/out")
    assert {asked for asked, _ in web.asked} == {"/out/manifest.json"}


def test_a_manifest_without_end_is_not_read_to_its_end(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MOST_BYTES", 1000)
    web.pages["/out/manifest.json"] = (200, b"[" * 2000)
    with pytest.raises(DeniableError, match=r"^out: manifest\.json: has more than 1000 bytes$"):
        open_source(f"{web.url}/out")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("{url}/nothing", r"^nothing: manifest\.json: must be there, got status 404 from its server$"),
        ("{url}/nothing.csv", r"^nothing\.csv: must be there, got status 404 from its server$"),
        ("{url}/page", r"^page: manifest\.json: must be JSON; .*; http://127.*/page must be a survey, a folder that "),
        ("{url}/page?key=secret", r"^page: manifest\.json: must be JSON; .*; http://127.*/page must be a survey, a "),
        ("{url}/circle.csv", r"^circle\.csv: leads from one address to the next more than 3 times$"),
        ("{url}/nowhere.csv", r"^nowhere\.csv: leads to what is no valid address$"),
        ("http://a..b/x.csv", r"^x\.csv: cannot be reached: the address, or one that it leads to, is not valid$"),
        ("http://[::1/x.csv", "^source: must be a valid address, got one whose host cannot be read$"),
        ("http://me:secret@[::1/x.csv", "^source: must be a valid address, got one whose host cannot be read$"),
        ("{url}/..", "^source: must be an address that ends in the name of a folder or a file$"),
        ("http://me:secret@127.0.0.1:1/x.csv", "^source: must be an address without a name and a password in it$"),
        ("s3://bucket/reports", r"^source: must be here or at https://, .*INSTALL httpfs.*, got 's3'$"),
    ],
)
def test_what_cannot_be_fetched_says_so(web: Web, address: str, words: str) -> None:
    web.pages["/page/manifest.json"] = web.pages["/page/manifest.json?key=secret"] = (200, b"<!doctype html>")
    web.pages["/circle.csv"], web.pages["/nowhere.csv"] = (302, b"/circle.csv"), (302, b"http://[nowhere")
    with pytest.raises(DeniableError, match=words) as caught:
        open_source(address.format(url=web.url))
    assert "secret" not in str(caught.value)


def test_a_server_that_is_not_there_is_named_by_the_file_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    with pytest.raises(
        DeniableError, match=r"^x\.csv: cannot be reached: nobody takes connections there; check the address"
    ):
        open_source("http://127.0.0.1:1/x.csv?key=secret")


@pytest.mark.parametrize(
    "steps", [["http://other.example/x"], ["/y", "HTTP://other.example/x", "https://here.example/x"]]
)
def test_nothing_that_came_over_http_passes_for_https(tmp_path: Path, steps: list[str]) -> None:
    def answers() -> Iterator[HTTPResponse]:
        for step in steps:
            yield HTTPResponse(b"", headers={"Location": step}, status=302)
        yield HTTPResponse(BytesIO(b"id,affair"), status=200, preload_content=False)

    pool = Mock(request=Mock(side_effect=answers()))
    with pytest.raises(DownloadError, match=r"^leads from https to http$"):
        download(pool, "https://here.example/x", tmp_path / "x", follow=True)
    assert [*tmp_path.glob("x")] == []
    assert not any(call.args[1].lower().startswith("http:") for call in pool.request.call_args_list)
    pool = Mock(request=Mock(side_effect=answers()))
    download(pool, "http://here.example/x", tmp_path / "x", follow=True)
    assert (tmp_path / "x").read_bytes() == b"id,affair"

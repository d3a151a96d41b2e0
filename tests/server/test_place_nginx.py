"""The configurations of ``deploy/`` under a real nginx: of a collector, of a place, and of a folder that is one."""

from __future__ import annotations

import datetime
import ipaddress
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import urllib3
from apiflask import APIFlask
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from deniable_client import Client, Memory
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.place import pages
from deniable_server.settings import Settings
from tools.packages import nginx
from tools.rig.access import publish_to, unlinkable_survey
from tools.rig.collectors import free_port, wait_until_answered
from tools.rig.in_process import ended
from tools.rig.patience import PATIENCE
from tools.rig.places import cut, place_in_process, relay_of, sealed_survey, served
from tools.rig.surveys import Clock

DEPLOY = Path(__file__).parents[2] / "deploy"

pytestmark = [pytest.mark.long, pytest.mark.slow]


def certificate(folder: Path) -> dict[str, str]:
    """A certificate for this machine, which vouches for itself, and its key: the paths of their files."""
    key, now = generate_private_key(SECP256R1()), datetime.datetime.now(datetime.UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = {"certificate": folder / "own.pem", "key": folder / "own.key"}
    files["certificate"].write_bytes(made.public_bytes(Encoding.PEM))
    files["key"].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return {name: str(path) for name, path in files.items()}


def as_here(snippet: str, listens: list[int], changes: dict[str, str], own: dict[str, str]) -> str:
    """A configuration of ``deploy/`` with names, ports and certificates of this machine, and nothing else changed."""
    ports = iter(listens)
    text = re.sub(r"^    listen \[::\].*\n", "", snippet, flags=re.MULTILINE)
    text = re.sub(r"listen (?:443|80)\b", lambda _: f"listen 127.0.0.1:{next(ports)}", text)
    text = re.sub(r"ssl_certificate \S+;", f"ssl_certificate {own['certificate']};", text)
    text = re.sub(r"ssl_certificate_key \S+;", f"ssl_certificate_key {own['key']};", text)
    text = re.sub(r"(proxy_ssl_trusted_certificate) \S+;", rf"\1 {own['certificate']};", text)
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@contextmanager
def running_nginx(folder: Path, snippets: list[str], ports: list[int]) -> Iterator[None]:
    """An nginx of this user on ports of 127.0.0.1, which keeps all that it writes in a folder."""
    (folder / "logs").mkdir()
    head = "user root;\n" if os.geteuid() == 0 else ""
    temporary = "".join(
        f"    {kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    types = "    types { text/html html; text/css css; text/javascript js; application/json json; }\n"
    text = f"{head}pid {folder}/pid;\nevents {{}}\nhttp {{\n{temporary}{types}{''.join(snippets)}}}\n"
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    command = [nginx(), "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "logs" / "error.log")]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    process = subprocess.Popen([*command, "-g", "daemon off;"])
    try:
        for port in ports:
            wait_until_answered(f"https://localhost:{port}/", process, folder / "logs" / "error.log")
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


class Deployed(NamedTuple):
    """A collector, a place and a folder, each behind nginx."""

    collector: APIFlask
    place: APIFlask
    folder: Path
    urls: dict[str, str]
    seen: list[dict[str, str]]


@pytest.fixture
def deployed(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    (tmp_path / "keys").mkdir()
    own = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", own["certificate"])
    ports = {name: free_port() for name in ("plain", "collector", "plain-server", "server", "plain-folder", "folder")}
    urls = {name: f"https://localhost:{port}" for name, port in ports.items()}
    pages.write_folder(tmp_path / "www")
    settings = Settings(rate_limit=None, fold_seconds=86_400, sealing_keys=tmp_path / "keys", trusted_proxies=1)
    with ExitStack() as stack:
        collector = stack.enter_context(ended(create_app(tmp_path / "test.db", clock, settings)))
        seen = noting(collector)
        behind = stack.enter_context(served(collector)).partition("://")[2]
        token = create_token(collector.extensions["deniable"]["store"], "place", "relay")
        urls["behind"] = f"http://{behind}"  # a place takes a collector on its own machine for one without TLS
        allowed: dict[str, str | None] = {urls["behind"]: token}
        place = stack.enter_context(place_in_process(tmp_path, clock, 2, urls["server"], allowed))
        place_behind = stack.enter_context(served(place)).partition("://")[2]
        of_collector = as_here(
            (DEPLOY / "nginx.conf").read_text(encoding="utf-8"),
            [ports["plain"], ports["collector"]],
            {"server 127.0.0.1:8000;": f"server {behind};", "server_name collector.example;": "server_name localhost;"},
            own,
        )
        of_place = as_here(
            (DEPLOY / "place-nginx.conf").read_text(encoding="utf-8"),
            [ports["plain-server"], ports["server"]],
            {"http://127.0.0.1:8002": f"http://{place_behind}"},
            own,
        )
        of_folder = as_here(
            (DEPLOY / "place-folder-nginx.conf").read_text(encoding="utf-8"),
            [ports["plain-folder"], ports["folder"]],
            {
                "/via/collector.example/": f"/via/localhost:{ports['collector']}/",
                "https://collector.example/": f"https://127.0.0.1:{ports['collector']}/",
                "Host collector.example": "Host localhost",
                "root /var/www/place;": f"root {tmp_path / 'www'};",
                "proxy_ssl_server_name on;": "proxy_ssl_server_name on; proxy_ssl_name localhost;",
            },
            own,
        )
        listening = [ports[name] for name in ("collector", "server", "folder")]
        (tmp_path / "nginx").mkdir()
        stack.enter_context(running_nginx(tmp_path / "nginx", [of_collector, of_place, of_folder], listening))
        yield Deployed(collector, place, tmp_path, urls, seen)


def noting(app: APIFlask) -> list[dict[str, str]]:
    """The heads of all requests to an application from now on."""
    seen: list[dict[str, str]] = []
    inner = app.wsgi_app

    def noted(environ: Any, start_response: Any) -> Any:
        seen.append({key: str(value) for key, value in environ.items() if key.isupper()})
        return inner(environ, start_response)

    app.wsgi_app = noted  # type: ignore[method-assign]
    return seen


@pytest.mark.parametrize("kind", ["folder", "server"])
def test_people_answer_with_a_token_at_a_place_behind_nginx(deployed: Deployed, kind: str) -> None:
    store = deployed.collector.extensions["deniable"]["store"]
    base = replace(unlinkable_survey(results="batches"), opens=None, closes=None)
    places = (deployed.urls["server"],) if kind == "server" else ()
    survey = sealed_survey(deployed.folder / "keys", base, places=places)
    invitations = publish_to(store, survey, 2)
    deployed.seen.clear()
    for number, invitation in enumerate(invitations):
        memory = Memory(deployed.folder / f"memory{number}")
        collector = deployed.urls["behind" if kind == "server" else "collector"]
        client = Client(collector, place=deployed.urls[kind], memory=memory)
        client.answer(client.survey(survey.id), {"affair": "yes", "religious": "not"}, invitation=invitation)
    if kind == "server":
        assert not store.waiting(survey)
        cut(deployed.place, survey, 2)
        relay_of(deployed.place).round()
    assert store.waiting(survey) == {None: 2}
    kinds = {each["PATH_INFO"].rpartition("/")[2] for each in deployed.seen}
    assert {"gateway", "tokens", "sealed"} <= kinds
    for invitation in invitations:
        assert invitation not in repr(deployed.seen)
    logs = [path for path in (deployed.folder / "nginx" / "logs").iterdir() if path.read_bytes()]
    assert all(path.name == "error.log" and b"client" not in path.read_bytes() for path in logs)


def test_whoever_comes_without_tls_is_led_to_it_and_written_nowhere(deployed: Deployed) -> None:
    for kind in ("server", "folder"):
        answer = urllib3.request("GET", f"{deployed.urls[f'plain-{kind}'].replace('https', 'http')}/", redirect=False)
        assert (answer.status, answer.headers["Location"]) == (301, "https://localhost/")
        challenge = f"{deployed.urls[f'plain-{kind}'].replace('https', 'http')}/.well-known/acme-challenge/none"
        assert urllib3.request("GET", challenge, redirect=False).status == 404, (
            "who renews a certificate is not led away"
        )
        secure = urllib3.request("GET", f"{deployed.urls[kind]}/")
        assert secure.headers["Strict-Transport-Security"] == "max-age=31536000"
    logs = [path for path in (deployed.folder / "nginx" / "logs").iterdir() if path.read_bytes()]
    assert all(path.name == "error.log" and b"client" not in path.read_bytes() for path in logs)


def test_the_folder_behind_nginx_is_the_page_of_the_server_under_the_same_policy(deployed: Deployed) -> None:
    http = urllib3.PoolManager()
    by_folder, by_server = (http.request("GET", f"{deployed.urls[kind]}/") for kind in ("folder", "server"))
    assert by_folder.data == by_server.data
    assert by_folder.headers["Content-Security-Policy"] == by_server.headers["Content-Security-Policy"] == pages.POLICY
    for answer in (by_folder, by_server):
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["Referrer-Policy"] == "no-referrer"
    for name in ("client/deniable-place.js", "client/catalogues/fr.json", "place.css"):
        found = http.request("GET", f"{deployed.urls['folder']}/{name}")
        assert (found.status, found.data) == (200, (deployed.folder / "www" / name).read_bytes())
        assert found.headers["Content-Type"].partition(";")[0] in ("text/javascript", "application/json", "text/css")
    # What somebody says of themselves goes no further than the folder.
    survey = sealed_survey(deployed.folder / "keys", places=())
    deployed.collector.extensions["deniable"]["store"].publish(survey)
    deployed.seen.clear()
    way = f"{deployed.urls['folder']}/via/{deployed.urls['collector'].partition('://')[2]}/api/v1/surveys/{survey.id}"
    said = {"User-Agent": "somebody", "Cookie": "a=somebody", "Referer": "https://somebody.example/"}
    said |= {"Accept-Language": "somebody", "X-Forwarded-For": "203.0.113.9"}
    assert http.request("GET", way, headers=said).data == survey.document
    assert deployed.seen
    assert "somebody" not in repr(deployed.seen)
    assert "203.0.113.9" not in repr(deployed.seen)

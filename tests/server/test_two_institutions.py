"""Two institutions on one machine, each a user of its own: people answer, and neither can read what the other keeps."""

from __future__ import annotations

import itertools
import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from deniable_client import Client
from tools.rig.collectors import free_port, wait_until_answered
from tools.rig.patience import PATIENCE, wait_until

pytestmark = [pytest.mark.long, pytest.mark.slow]

USERS = {"collector": 61001, "place": 61002}
"""Numbers of users whom nobody has; taken where the tests run as root."""

INSTITUTION = """
import datetime, encodings.ascii, encodings.idna, encodings.latin_1, encodings.utf_8_sig, json, os, sys, threading
from pathlib import Path
from werkzeug.serving import make_server
from deniable_server.access.tokens import create_token
from deniable_server.app import create_app
from deniable_server.place.app import PlaceSettings, create_place
from deniable_server.settings import Settings
from deniable_server.store.sqlite.letterbox import Letterbox
from tools.rig.places import sealed_survey

role, folder, user, port, told = sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:5]), json.loads(sys.argv[5])
today = datetime.datetime.now(datetime.UTC).date()
for app in (create_app(folder.parent / "warm.db"), create_place(PlaceSettings(folder.parent / "warm-place.db"))):
    app.test_client().get("/livez")  # modules are loaded while they can be
os.umask(0o077)  # as deploy/ has it
if user:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
os.chdir(folder)
if role == "collector":
    (folder / "keys").mkdir(mode=0o700)
    survey = sealed_survey(folder / "keys", places=(told["origin"],), first=today)
    app = create_app(folder / "collector.db", settings=Settings(rate_limit=None, sealing_keys=folder / "keys"))
    store = app.extensions["deniable"]["store"]
    store.publish(survey)
    print(json.dumps({"survey": survey.id, "token": create_token(store, "place", "relay")}), flush=True)
else:
    box = Letterbox(folder / "place.db")
    box.allow(told["collector"], told["token"])
    box.close()
    settings = PlaceSettings(folder / "place.db", origin=told["origin"], size=3, pause=0.1, delay=0.0)
    app = create_place(settings)
    print("{}", flush=True)
server = make_server("127.0.0.1", port, app, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    print(sum(store.waiting(survey).values()) if role == "collector" else 0, flush=True)
os._exit(0)
"""

SNOOPING = """
import os, sys
os.setgroups([])
os.setgid(int(sys.argv[1]))
os.setuid(int(sys.argv[1]))
read = 0
for folder, folders, files in os.walk(sys.argv[2]):
    for name in files:
        try:
            open(os.path.join(folder, name), "rb").close()
            print(name)
        except PermissionError:
            read += 1
print(f"refused {read}")
"""


@contextmanager
def institution(
    role: str, folder: Path, port: int, told: dict[str, str]
) -> Iterator[tuple[dict[str, str], Callable[[], int]]]:
    """A collector or a place as a user of its own, with a folder of its own whose names everybody may see."""
    is_root = os.geteuid() == 0
    own = folder / role
    own.mkdir(mode=0o755)
    if is_root:
        os.chown(own, USERS[role], USERS[role])
    command = [sys.executable, "-c", INSTITUTION, role, str(own), str(USERS[role] if is_root else 0), str(port)]
    log = folder / f"{role}.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*command, json.dumps(told)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=Path(__file__).parents[2],
        )
    assert process.stdin
    assert process.stdout
    try:
        line = process.stdout.readline()
        assert line, log.read_text()
        wait_until_answered(f"http://127.0.0.1:{port}/livez", process, log)

        def ask() -> int:
            assert process.stdin
            assert process.stdout
            process.stdin.write(b"\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield json.loads(line), ask
    finally:
        process.stdin.close()
        process.wait(PATIENCE)
        process.stdout.close()


def test_people_answer_and_neither_institution_reads_the_files_of_the_other(tmp_path: Path) -> None:
    own = itertools.takewhile(lambda each: each != Path(tempfile.gettempdir()), tmp_path.parents)
    for path in (tmp_path, *own):
        os.chmod(path, 0o755)  # so that it is the institutions' own doing that nobody else reads
    ports = {role: free_port() for role in USERS}
    urls = {role: f"http://127.0.0.1:{port}" for role, port in ports.items()}
    told = {"origin": urls["place"], "collector": urls["collector"]}
    with ExitStack() as stack:
        made, waiting = stack.enter_context(institution("collector", tmp_path, ports["collector"], told))
        told["token"] = made["token"]
        stack.enter_context(institution("place", tmp_path, ports["place"], told))
        for number in range(9):
            client = Client(urls["collector"], place=urls["place"])
            client.answer(client.survey(made["survey"]), {"affair": ("yes", "no")[number % 2]})
        wait_until(lambda: waiting() == 6, "two batches of three arrived, and as many stay")
        for role, other in (("collector", "place"), ("place", "collector")):
            nothing_to_read(tmp_path / other, USERS[role])


def nothing_to_read(folder: Path, user: int) -> None:
    """Nobody but its owner may read a file of an institution, by its mode, and as another user tries it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    if os.geteuid() == 0:
        command = [sys.executable, "-c", SNOOPING, str(user), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        kept_in_private = sum("keys" in path.parts for path in files)  # their folder cannot even be listed
        assert done.stdout.split() == ["refused", str(len(files) - kept_in_private)]

"""A site of somebody else: it serves a page with a form, takes what the form submits, and keeps what came."""

from __future__ import annotations

import html
import socket
from contextlib import suppress
from types import TracebackType

from deniable_client.audit.blackbox.listener import Listener
from deniable_client.audit.blackbox.stand_in import RecordingRelay, read_request, written
from deniable_client.audit.release import integrity

SCRIPT = "/client/deniable-question.js"
"""Where a collector has the script of the element."""

PAGE, STORE = "/questionnaire", "/answers"

_FORM = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>A questionnaire</title>
<link rel="icon" href="data:,">
<script type="module" src="{script}"
        integrity="{integrity}" crossorigin></script>
</head>
<body>
<form method="post" action="{store}">
  <label>Your age <input name="age" type="number" value="40"></label>
  <deniable-question name="{name}" question="{question}" src="{link}"{kiosk}>
    This question needs JavaScript: your device mixes chance into your answer before the form gets it.
  </deniable-question>
  <button>Submit</button>
  <button type="reset">Reset</button>
</form>
</body>
</html>
"""
_STORED = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Thank you</title>
<link rel="icon" href="data:,">
</head>
<body><p>Thank you.</p></body>
</html>
"""


class FormHost:
    """Listens at an origin of its own, beside a collector's; a policy of its own would hide what a script tries.

    Parameters
    ----------
    relay : RecordingRelay
        Keeps its requests among those to the collector.
    """

    def __init__(self, relay: RecordingRelay) -> None:
        self._relay = relay
        self._page = ""
        self._listener = Listener(self._serve)
        self._place = f"127.0.0.1:{self._listener.port}"
        relay.places[self._place] = "HOST"

    def __enter__(self) -> FormHost:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._listener.close()

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{self._place}{PAGE}"

    def show(self, survey: str, question: str, name: str, *, is_shared: bool) -> None:
        """Serve a page with a question from now on."""
        _, _, script = self._relay.passed_on(SCRIPT)
        self._page = _FORM.format(
            script=html.escape(self._relay.url + SCRIPT),
            integrity=integrity(script),
            store=STORE,
            name=name,
            question=question,
            link=html.escape(f"{self._relay.url}/s/{survey}"),
            kiosk=" kiosk" if is_shared else "",
        )

    def _serve(self, connection: socket.socket, number: int) -> None:
        with suppress(OSError), connection, connection.makefile("rb") as stream:
            while (request := read_request(stream)) is not None:
                head, body = request
                # Below 0, where no connection to the collector has its number.
                self._relay.record(-number, head, body)
                status, page = self._answer(head.split(b"\r\n", 1)[0].decode("latin-1"))
                content = page.encode()
                connection.sendall(written(status, {"content-type": "text/html"}, content, len(content)))

    def _answer(self, line: str) -> tuple[int, str]:
        if line.startswith(f"GET {PAGE} "):
            return 200, self._page
        return (200, _STORED) if line.startswith(f"POST {STORE} ") else (404, "")

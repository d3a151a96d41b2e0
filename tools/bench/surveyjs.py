"""A page of SurveyJS with the questions of a survey, minified and in the format of gzip, to compare loading times."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from deniable import Survey
from tools.bench.versions import ROOT

MODULES = ROOT / "client" / "deniable_web" / "node_modules"

FILES = {
    "/style.css": ("survey-core/survey-core.fontless.min.css", "text/css"),
    "/core.js": ("survey-core/survey.core.min.js", "text/javascript"),
    "/ui.js": ("survey-js-ui/survey-js-ui.min.js", "text/javascript"),
}
"""By address: the file of a package, and its type."""

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>SurveyJS</title>
<link rel="stylesheet" href="/style.css">
<script src="/core.js"></script>
<script src="/ui.js"></script>
<div id="survey"></div>
<script>new Survey.Model(%s).render(document.getElementById("survey"));</script>
"""

TO_THE_FIRST_QUESTION = """
    const look = () => {
      if (document.querySelector("fieldset")?.getClientRects().length) console.debug("arrived", performance.now());
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""
"""SurveyJS has no screen before its questions: nothing is pressed."""


def model_of(survey: Survey) -> dict[str, object]:
    """The survey as SurveyJS describes it, by the type of each question."""
    types = {"yes-no": "radiogroup", "choice": "radiogroup", "ticks": "checkbox", "scale": "rating", "number": "text"}
    elements = []
    for question in survey.questions:
        element = {"type": types[question.type], "name": question.id, "title": question.text, "isRequired": True}
        if question.type == "number":
            element["inputType"] = "number"
        elif question.type == "scale":
            element |= {"rateMin": int(question.options[0]), "rateMax": int(question.options[-1])}
        else:
            element["choices"] = list(question.options)
        elements.append(element)
    return {"title": survey.title, "elements": elements}


@contextmanager
def page_of(survey: Survey) -> Iterator[str]:
    """A server of the page on 127.0.0.1; gives the link."""
    contents = {"/": (PAGE % json.dumps(model_of(survey)).replace("<", "\\u003c")).encode()}
    contents |= {path: (MODULES / name).read_bytes() for path, (name, _) in FILES.items()}
    packed = {path: gzip.compress(content, mtime=0) for path, content in contents.items()}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """Answer with one of the files."""
            body = packed.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", FILES[self.path][1] if self.path in FILES else "text/html")
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""Serve the example pages of another site: ``python examples/embedding/serve.py http://127.0.0.1:8000/s/SURVEY-ID``.

The pages come up at http://127.0.0.1:8001/, an origin that the collector does not know. What the example form stores is
shown in the terminal: it holds what chance made of the answer.
"""

from __future__ import annotations

import argparse
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

FOLDER = Path(__file__).parent
NAMES = ("script", "isolated", "form", "own-interface")


def page(name: str, link: str, question: str = "") -> str:
    """An example page with a link to a survey in its place."""
    manifest = json.loads((files("deniable_web") / "dist" / "manifest.json").read_text(encoding="utf-8"))
    values = {
        "collector": re.sub(r"/s/.*", "", link),
        "integrity": manifest["integrity"]["deniable.js"],
        "question_integrity": manifest["integrity"]["deniable-question.js"],
        "link": link,
        "question": question,
    }
    text = (FOLDER / f"{name}.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: values[found[1]], text)


def serve(link: str, question: str, port: int) -> None:
    """Serve until somebody presses Ctrl-C."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = urlsplit(self.path).path.strip("/").removesuffix(".html")
            if name in NAMES:
                self._send(page(name, link, question))
            else:
                self._send("".join(f'<p><a href="/{name}.html">{name}</a></p>' for name in NAMES))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            print(f"the form stored: {body}")
            self._send("<p>Stored.</p>")

        def _send(self, html: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html.encode())

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise SystemExit(f"port {port}: {error.strerror}; choose another one with --port") from None
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("link", help="the link of a survey, such as http://127.0.0.1:8000/s/SURVEY-ID")
    parser.add_argument("question", nargs="?", default="affair", help="the question of form.html (default: affair)")
    parser.add_argument("--port", type=int, default=8001, help="the port of the pages (default: 8001)")
    arguments = parser.parse_args()
    serve(arguments.link, arguments.question, arguments.port)

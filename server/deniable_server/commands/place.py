"""``deniable place allow | list | folder | serve``"""

from __future__ import annotations

import os
from pathlib import Path

import click

from deniable.errors import ParameterError
from deniable.table import format_table
from deniable_commands.main import example
from deniable_server.edge.limits import Rate

DATABASE = click.option(
    "--db",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("place.db"),
    show_default=True,
    help="The place's SQLite file.",
)


@click.group()
def place() -> None:
    """Run a place, a website where people answer and which forwards their sealed reports to collectors elsewhere."""


@place.command(
    epilog=example(
        "deniable place allow https://collector.example",
        "DENIABLE_TOKEN=dn_... deniable place allow https://collector.example",
        "deniable place allow https://collector.example --stop",
    )
)
@click.argument("url")
@click.option("--stop", is_flag=True, help="Stop serving this collector.")
@DATABASE
def allow(url: str, stop: bool, path: Path) -> None:
    """Allow a collector, so that people can answer its surveys at this place.

    If the collector's surveys name their places, its operator creates a token of scope relay for this place. Give that
    token in the environment variable DENIABLE_TOKEN. Surveys that name no place need no token.
    """
    from deniable_server.place.collectors import collector_at
    from deniable_server.store.sqlite.letterbox import Letterbox

    collector = collector_at(url.partition("://")[2] or url)
    if collector != url.rstrip("/"):
        raise ParameterError(f"url: must be like https://collector.example, got {url!r}")
    box = Letterbox(path)
    if stop:
        click.echo(f"{collector} is served no more." if box.forget(collector) else f"{collector} was not served.")
        return
    token = os.environ.get("DENIABLE_TOKEN")
    box.allow(collector, token)
    click.echo(f"{collector} is served, {'with' if token else 'without'} a token.")


@place.command(name="list", epilog=example("deniable place list"))
@DATABASE
def list_collectors(path: Path) -> None:
    """List the allowed collectors, and how many sealed reports are waiting for each survey."""
    from deniable_server.store.sqlite.letterbox import Letterbox

    box = Letterbox(path)
    for collector, token in box.collectors().items():
        click.echo(f"{collector}  {'with' if token else 'without'} a token")
    leaving = [(batch.survey, batch.collector, len(batch.messages)) for batch in box.batches()]
    rows = [
        [survey.id, collector, str(waiting), str(sum(n for *whose, n in leaving if whose == [survey, collector]))]
        for _, survey, collector, waiting in box.slots()
    ]
    if rows:
        header = ["survey", "collector", "wait for others", "in batches on their way"]
        click.echo("\n" + format_table(header, rows, right=header[2:]))


@place.command(epilog=example("deniable place folder /var/www/place"))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def folder(folder: Path) -> None:
    """Write the page of a place and its files into a folder that any web server can serve.

    The web server must forward requests for /via/HOST/ to https://HOST/, as deploy/place-folder-nginx.conf does. Such a
    place separates the page, the device's memory and the connection from the collector, but does not mix reports. For
    surveys that name their places, run 'deniable place serve' instead.
    """
    from deniable_server.place.pages import write_folder

    for name in write_folder(folder):
        click.echo(name)


@place.command(
    epilog=example(
        "deniable place serve --origin https://place.example",
        "deniable place serve --origin https://place.example --batch 500 --trusted-proxies 1",
    )
)
@DATABASE
@click.option(
    "--origin",
    required=True,
    metavar="URL",
    help="Address of this place as people open it, such as https://place.example.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8002, show_default=True, help="Port to listen on.")
@click.option(
    "--batch",
    type=click.IntRange(2, 10_000),
    default=200,
    show_default=True,
    help="Smallest number of sealed reports in a batch.",
)
@click.option(
    "--delay",
    type=click.FloatRange(0, 1440),
    default=15,
    show_default=True,
    help="Maximum of the random time, in minutes, for which a complete batch is held back.",
)
@click.option(
    "--any",
    "serves_any",
    is_flag=True,
    help="Serve any collector on the web, not only allowed ones; the others get little space.",
)
@click.option(
    "--rate-limit", default="300/minute", show_default=True, help="How many reports one address may send, or off."
)
@click.option(
    "--trusted-proxies",
    type=click.IntRange(0, 16),
    default=0,
    show_default=True,
    help="Number of reverse proxies in front. Their X-Forwarded-For is trusted.",
)
def serve(
    path: Path,
    origin: str,
    host: str,
    port: int,
    batch: int,
    delay: float,
    serves_any: bool,
    rate_limit: str,
    trusted_proxies: int,
) -> None:
    """Run a place until Ctrl-C. It logs no requests, sets no cookies, and cannot open the reports that it forwards."""
    from deniable.survey.sealed import check_places
    from deniable_server import serving
    from deniable_server.commands.serve import origin as address
    from deniable_server.place.app import PlaceSettings
    from deniable_server.store.sqlite.letterbox import Letterbox
    from deniable_server.store.sqlite.lock import Lock

    check_places((origin,))
    rate = Rate.parse(rate_limit)
    settings = PlaceSettings(path, host, port, origin, batch, serves_any, rate, trusted_proxies, delay=60 * delay)
    with serving.listen(host, port) as listener, Lock(path) as right:
        served = Letterbox(path)
        right.begin()
        collectors = served.collectors()
        served.close()
        if not collectors and not serves_any:
            click.echo("Warning: serves no collector yet; 'deniable place allow URL' adds one.", err=True)
        click.echo(f"Place {origin} on {address(host, port)} with the database {path}. Ctrl-C stops it.")
        serving.serve(settings, listener, serving.load_place)

"""The calls of authors and researchers to a running collector over HTTP."""

from __future__ import annotations

import io
import ipaddress
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

import urllib3

from deniable import CollectorError, Survey, parse_survey
from deniable_transport.unreachable import is_untrusted, unreachable

# No redirects: a token must not follow one to another host.
_http = urllib3.PoolManager(retries=urllib3.Retry(3, redirect=0, backoff_factor=0.2), timeout=30)


def publish(url: str, token: str | None, survey: Survey, force: bool = False) -> bool:
    """Publish a survey, with ``force`` also one that devices refuse; return whether it is new to the collector."""
    path = "/surveys?force=true" if force else "/surveys"
    answer = _call("POST", url, path, token=_needed(token), body=survey.document)
    identifier = _object(answer, url).get("id")
    # The address follows from the bytes: another one means that other bytes were published.
    if identifier != survey.id:
        raise CollectorError(f"{url}: published the survey as {identifier}, which is not its address {survey.id}")
    return answer.status == 201


def surveys(url: str, token: str | None) -> list[dict[str, Any]]:
    """Every survey of the collector."""
    found = _object(_call("GET", url, "/surveys", token=_needed(token)), url).get("surveys")
    if not isinstance(found, list):
        raise CollectorError(f"{url}: must answer with a list of surveys, got something else")
    return found


def close(url: str, token: str | None, survey_id: str) -> None:
    """Take no more reports for a survey."""
    _call("POST", url, f"/surveys/{survey_id}/close", token=_needed(token))


def estimates(url: str, token: str | None, survey_id: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """The collector's estimates; the query is that of the API. A token is needed if the results are not public."""
    fields = {key: str(value) for key, value in query.items() if value is not None}
    return _object(_call("GET", url, f"/surveys/{survey_id}/estimates", token=token, fields=fields), url)


def survey(url: str, survey_id: str) -> Survey:
    """A published survey, whose bytes have the hash in its address."""
    return parse_survey(_call("GET", url, f"/surveys/{survey_id}").data, survey_id)


def public_url(url: str) -> str | None:
    """The address that a collector's OpenAPI document names, which may be only its path; None if it names none."""
    try:
        answer = _http.request("GET", f"{url.rstrip('/')}/api/openapi.json")
        return str(_object(answer, url)["servers"][0]["url"])
    except (urllib3.exceptions.HTTPError, CollectorError, KeyError, IndexError, TypeError):
        return None


@contextmanager
def report_lines(url: str, token: str | None, survey_id: str) -> Iterator[Iterator[str]]:
    """The lines of a survey's ``reports.csv``: a stream, for as long as the block.

    Raises
    ------
    CollectorError
        If it cannot be reached or refuses; or, while lines are read, if it breaks off or is no text.
    """
    stream: Any = _call("GET", url, f"/surveys/{survey_id}/reports.csv", token=token, stream=True)
    with closing(stream):
        stream.auto_close = False  # or its end is looked for in what is closed already

        def lines() -> Iterator[str]:
            try:
                yield from io.TextIOWrapper(stream, encoding="utf-8", newline="")
            except urllib3.exceptions.HTTPError:
                raise CollectorError(
                    f"{url}: broke off within its reports; the file is not whole, so try again"
                ) from None
            except UnicodeDecodeError:
                raise CollectorError(f"{url}: must send reports in UTF-8") from None

        yield lines()


def takes_reports(url: str, survey_id: str, origin: str) -> bool:
    """Whether pages of an origin may send reports: asked as browsers ask before they send. Nothing is sent."""
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    try:
        answer = _http.request("OPTIONS", f"{url}/api/v1/surveys/{survey_id}/reports", headers=headers)
    except urllib3.exceptions.HTTPError:
        return False
    # A page of the collector itself needs nobody's leave, but something else may answer at its address.
    is_allowed = origin == url or answer.headers.get("Access-Control-Allow-Origin") in ("*", origin)
    return answer.status < 300 and is_allowed


def invitations(url: str, token: str | None, survey_id: str, what: str, hashes: Sequence[str] | None) -> dict[str, Any]:
    """Add invitations, or with ``"/unused"`` ask about them; the answer is that of the API."""
    body = json.dumps({} if hashes is None else {"hashes": list(hashes)}).encode("ascii")
    path = f"/surveys/{survey_id}/invitations{what}"
    return _object(_call("POST", url, path, token=_needed(token), body=body), url)


def _needed(token: str | None) -> str:
    if not token:
        raise CollectorError(
            "--token: is needed with --url or a link; make one where the collector runs: deniable token create; "
            "or, beside its database, give the survey's id, with --db or DENIABLE_DB"
        )
    return token


def _refuse_in_the_clear(url: str) -> None:
    """Raise a CollectorError unless a token for that address is encrypted on its way, or stays on this machine."""
    place = urllib3.util.parse_url(url)
    if place.scheme != "https" and not is_this_machine(place.host or ""):
        raise CollectorError(
            f"--url {url}: must start with https://, or everybody on the way can read the token; "
            "plain http is for a collector on this machine"
        )


def is_this_machine(host: str) -> bool:
    """Whether a host of a URL is the machine that runs this."""
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _call(
    method: str,
    url: str,
    path: str,
    *,
    token: str | None = None,
    body: bytes | None = None,
    fields: dict[str, str] | None = None,
    stream: bool = False,
) -> urllib3.BaseHTTPResponse:
    if token:
        _refuse_in_the_clear(url)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
    try:
        answer = _http.request(
            method,
            f"{url.rstrip('/')}/api/v1{path}",
            headers=headers,
            body=body,
            fields=fields,
            preload_content=not stream,
        )
    except urllib3.exceptions.HTTPError as error:
        # Certificates get a sentence of their own: the token was not sent, and must not be sent in the clear instead.
        if is_untrusted(error):
            raise CollectorError(
                f"{url}: this machine does not trust its certificate, so nothing was sent; check the date and the "
                "address, or give the collector a certificate that this machine trusts"
            ) from None
        raise CollectorError(f"{url}: {unreachable(error)}") from None
    if answer.status >= 300:
        raise CollectorError(f"{url}: refused with status {answer.status}: {_detail(answer)}")
    return answer


def _object(answer: urllib3.BaseHTTPResponse, url: str) -> dict[str, Any]:
    """The JSON object of an answer; anything else comes from something between here and the collector."""
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise CollectorError(f"{url}: must answer as a collector does, got something else with status {answer.status}")
    return found


def _detail(answer: urllib3.BaseHTTPResponse) -> str:
    try:
        # The sentence goes to a terminal, whose control characters it must not hold.
        return "".join(filter(str.isprintable, str(answer.json()["detail"])))[:1000]
    except (ValueError, KeyError, TypeError):
        return "without saying why"

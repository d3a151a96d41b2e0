"""Why nothing came from an address, for people."""

from __future__ import annotations

CHECK = "check the address, and that this machine is online"


def unreachable(error: BaseException) -> str:
    """A sentence for people about an error of urllib3, with the way out.

    >>> unreachable(type("MaxRetryError", (Exception,), {"reason": type("NameResolutionError", (Exception,), {})()})())
    'cannot be reached: no machine has this name; check the address, and that this machine is online'
    """
    # MaxRetryError wraps the error that matters.
    reason = getattr(error, "reason", None) or error
    if is_without_tls(error):
        return "cannot be reached: it does not speak TLS there; check the port, and whether it is an http:// address"
    names = {each.__name__ for each in type(reason).__mro__}
    # By the whole tree of classes, because urllib3 raises subclasses of those that are listed.
    return next(sentence for name, sentence in REASONS.items() if not name or name in names)


def is_without_tls(error: BaseException) -> bool:
    """Whether an https:// address answered in something else, as a plain HTTP server does.

    >>> is_without_tls(Exception("[SSL: WRONG_VERSION_NUMBER] wrong version number")), is_without_tls(Exception("slow"))
    (True, False)
    """
    # OpenSSL says so in one of these words, which differ between its versions.
    said = str(getattr(error, "reason", None) or error)
    return any(each in said for each in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST"))


REASONS = {
    "NameResolutionError": f"cannot be reached: no machine has this name; {CHECK}",
    "NewConnectionError": "cannot be reached: nobody takes connections there; check the address, and that it runs",
    "TimeoutError": "cannot be reached: it does not answer in time; try again later",
    "LocationValueError": "cannot be reached: this is no address of the web, such as https://collector.example",
    "ResponseError": "cannot be reached: it answers again and again that it cannot; try again later",
    "SSLError": "cannot be reached: this machine does not trust its certificate; check the date and the address",
    "IncompleteRead": "broke off within its answer; try again",
    "ProtocolError": "cannot be reached: the connection broke off; try again",
    "": f"cannot be reached; {CHECK}",
}
"""Sentences by class names of urllib3, the first that fits; by name, because `deniable` itself loads no urllib3."""

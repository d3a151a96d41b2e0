"""Why nothing came from an address, for people."""

from __future__ import annotations

CHECK = "check the address, and that this machine is online"


def unreachable(error: BaseException) -> str:
    """A sentence for people about an error of urllib3, with the way out.

    >>> unreachable(type("MaxRetryError", (Exception,), {"reason": type("NameResolutionError", (Exception,), {})()})())
    'cannot be reached: no machine has this name; check the address, and that this machine is online'
    """
    if _is_without_tls(error):
        return "cannot be reached: it does not speak TLS there; check the port, and whether it is an http:// address"
    names = _names(error)
    return next(sentence for name, sentence in REASONS.items() if not name or name in names)


def is_untrusted(error: BaseException) -> bool:
    """Whether an address speaks TLS with a certificate that this machine does not trust, for whoever says more of it.

    >>> found = type("SSLError", (Exception,), {})
    >>> is_untrusted(found("self-signed")), is_untrusted(found("[SSL: WRONG_VERSION_NUMBER] wrong version number"))
    (True, False)
    """
    return "SSLError" in _names(error) and not _is_without_tls(error)


def _reason(error: BaseException) -> object:
    """The error that matters, which MaxRetryError wraps."""
    return getattr(error, "reason", None) or error


def _names(error: BaseException) -> set[str]:
    """All classes of the error that matters, because urllib3 raises subclasses of those that are listed."""
    return {each.__name__ for each in type(_reason(error)).__mro__}


def _is_without_tls(error: BaseException) -> bool:
    """Whether an https:// address answered in something else, as a plain HTTP server does."""
    # OpenSSL says so in one of these words, which differ between its versions.
    said = str(_reason(error))
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

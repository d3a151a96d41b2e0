"""Binary HTTP messages (RFC 9292): written with known lengths, read in both forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from deniable.errors import MessageError

BHTTP = "message/bhttp"

Fields = tuple[tuple[str, str], ...]
"""Names in lower case, and values."""

_NAME = re.compile(r":?[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile(r"[^\0\r\n \t]([^\0\r\n]*[^\0\r\n \t])?|")
"""A value as HTTP/2 has it (RFC 9113, section 8.2.1): without line ends, and without white space around it."""

_CONTROL = {":method", ":scheme", ":authority", ":path", ":status"}
"""Names of fields that stand in the control data, and so in no field section (RFC 9292, section 6)."""


@dataclass(frozen=True)
class BinaryRequest:
    """A request.

    Attributes
    ----------
    method, scheme, authority, path : str
    fields, trailers : tuple of (str, str)
    content : bytes
    """

    method: str
    scheme: str
    authority: str
    path: str
    fields: Fields = ()
    content: bytes = field(default=b"", repr=False)
    trailers: Fields = ()

    def encode(self, multiple: int = 1) -> bytes:
        """The message with known lengths, padded with zeros to a multiple of a number of bytes."""
        control = (self.method, self.scheme, self.authority, self.path)
        # Framing indicator 0: a request with known lengths (RFC 9292, section 3.3).
        head = b"\0" + b"".join(_string(_latin(each)) for each in control)
        return _padded(head + _rest(self.fields, self.content, self.trailers), multiple)


@dataclass(frozen=True)
class BinaryResponse:
    """A response.

    Attributes
    ----------
    status : int
        From 200 to 599.
    fields, trailers : tuple of (str, str)
    content : bytes
    informational : tuple of (int, fields)
        Status and fields of the informational responses before it.
    """

    status: int
    fields: Fields = ()
    content: bytes = field(default=b"", repr=False)
    trailers: Fields = ()
    informational: tuple[tuple[int, Fields], ...] = ()

    def encode(self, multiple: int = 1) -> bytes:
        """The message with known lengths, padded with zeros to a multiple of a number of bytes."""
        early = b"".join(integer(status) + _string(_lines(fields)) for status, fields in self.informational)
        # Framing indicator 1: a response with known lengths; informational responses stand before the final status.
        head = b"\1" + early + integer(self.status)
        return _padded(head + _rest(self.fields, self.content, self.trailers), multiple)


def parse_request(message: bytes) -> BinaryRequest:
    """Read a request; a MessageError if it is none."""
    # Indicators 0 and 2 are requests, of known and of indeterminate length.
    reader, is_known = _begun(message, (0, 2), "request")
    method, scheme, authority, path = (reader.string().decode("latin-1") for _ in range(4))
    if not method or not scheme:
        raise MessageError("binary request: must have a method and a scheme")
    return BinaryRequest(method, scheme, authority, path, *_sections(reader, is_known))


def parse_response(message: bytes) -> BinaryResponse:
    """Read a response; a MessageError if it is none."""
    # Indicators 1 and 3 are responses, of known and of indeterminate length.
    reader, is_known = _begun(message, (1, 3), "response")
    informational = []
    while 100 <= (status := reader.integer()) < 200:
        informational.append((status, reader.fields(is_known)))
    if not 200 <= status < 600:
        raise MessageError(f"binary response: must have a status from 100 to 599, got {status}")
    fields, content, trailers = _sections(reader, is_known)
    return BinaryResponse(status, fields, content, trailers, tuple(informational))


def integer(value: int) -> bytes:
    """A variable-length integer (RFC 9000, section 16), in the shortest form.

    >>> [integer(value).hex() for value in (0, 63, 64, 15293, 494878333)]
    ['00', '3f', '4040', '7bbd', '9d7f3e7d']
    """
    for prefix, size in enumerate((1, 2, 4, 8)):
        # The two highest bits of the first byte say the size, so 8 size - 2 bits are left for the value.
        if value < 1 << 8 * size - 2:
            return (prefix << 8 * size - 2 | value).to_bytes(size)
    raise MessageError("integer: must be below 2**62")


class _Reader:
    """Reads a message from its start."""

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._message)

    def take(self, size: int) -> bytes:
        if size > len(self._message) - self._at:
            raise MessageError("binary message: must not end within one of its parts")
        self._at += size
        return self._message[self._at - size : self._at]

    def integer(self) -> int:
        first = self.take(1)[0]
        # The two highest bits of the first byte are the logarithm of the number of bytes: 1, 2, 4 or 8.
        rest = self.take((1 << (first >> 6)) - 1)
        return int.from_bytes(bytes([first & 0x3F]) + rest)

    def string(self) -> bytes:
        return self.take(self.integer())

    def fields(self, is_known: bool) -> Fields:
        """A field section; none where the message ends before it."""
        if self.is_at_end:
            return ()
        # A section of known length has that length in front; of the other kind, an empty name ends it.
        inner = _Reader(self.string()) if is_known else self
        fields = tuple(inner._lines(is_known))
        names = [name for name, _ in fields]
        is_regular = [not name.startswith(":") for name in names]
        # RFC 9292, section 3.6: a pseudo-field of the control data, or one behind a regular field, makes a message
        # invalid.
        if _CONTROL.intersection(names) or is_regular != sorted(is_regular):
            raise MessageError("binary message: must have no pseudo-fields of its control data, and others first")
        return fields

    def content(self, is_known: bool) -> bytes:
        """The content; none where the message ends before it."""
        if self.is_at_end:
            return b""
        if is_known:
            return self.string()
        chunks = []
        # Content of indeterminate length comes in chunks, and an empty one ends it.
        while chunk := self.string():
            chunks.append(chunk)
        return b"".join(chunks)

    def end(self) -> None:
        # Padding is zeros alone (section 3.8); anything else would be a second channel beside the message.
        if self._message[self._at :].strip(b"\0"):
            raise MessageError("binary message: must have nothing but zeros behind it")

    def _lines(self, is_known: bool) -> Iterator[tuple[str, str]]:
        """Field lines: to the end where the length of all was known, else to a name without a length."""
        while not (is_known and self.is_at_end):
            name, value = self.string().decode("latin-1"), ""
            if not name and not is_known:
                return
            value = self.string().decode("latin-1")
            if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
                raise MessageError("binary message: must have field lines as HTTP/2 has them")
            yield name, value


def _begun(message: bytes, framing: tuple[int, int], what: str) -> tuple[_Reader, bool]:
    reader = _Reader(message)
    found = reader.integer()
    if found not in framing:
        raise MessageError(f"binary {what}: must begin with {framing[0]} or {framing[1]}, got {found}")
    return reader, found == framing[0]


def _sections(reader: _Reader, is_known: bool) -> tuple[Fields, bytes, Fields]:
    found = reader.fields(is_known), reader.content(is_known), reader.fields(is_known)
    reader.end()
    return found


def _latin(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise MessageError("binary message: must have texts of bytes alone") from None


def _string(content: bytes) -> bytes:
    return integer(len(content)) + content


def _lines(fields: Fields) -> bytes:
    for name, value in fields:
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise MessageError("binary message: must have field lines as HTTP/2 has them")
    return b"".join(_string(_latin(name)) + _string(_latin(value)) for name, value in fields)


def _rest(fields: Fields, content: bytes, trailers: Fields) -> bytes:
    return _string(_lines(fields)) + _string(content) + _string(_lines(trailers))


def _padded(message: bytes, multiple: int) -> bytes:
    # -(-a // b) is the quotient rounded up.
    return message.ljust(-(-len(message) // multiple) * multiple, b"\0")

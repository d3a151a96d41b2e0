"""Oblivious HTTP and Binary HTTP: the standards' examples, and what is no message of theirs."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, derive_private_key
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from deniable.errors import MessageError
from deniable_transport.oblivious.binary_http import (
    BinaryRequest,
    BinaryResponse,
    integer,
    parse_request,
    parse_response,
)
from deniable_transport.oblivious.encapsulation import (
    KeyConfiguration,
    decapsulate,
    encapsulate,
    encapsulate_response,
    encode_keys,
    parse_keys,
)
from deniable_transport.oblivious.hpke import public_bytes, setup_receiver, setup_sender
from tests.support.vectors import vectors

VECTORS = vectors("standards/oblivious")

(EXAMPLE,) = VECTORS["oblivious"]

OWN = X25519PrivateKey.from_private_bytes(bytes.fromhex(EXAMPLE["skR"]))


def private_key(text: str, is_x25519: bool) -> EllipticCurvePrivateKey | X25519PrivateKey:
    raw = bytes.fromhex(text)
    if is_x25519:
        return X25519PrivateKey.from_private_bytes(raw)
    return derive_private_key(int.from_bytes(raw), SECP256R1())


def pairs(fields: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in fields)


@pytest.mark.parametrize("vector", vectors("standards/hpke")["hpke"], ids=lambda vector: str(vector["name"]))
def test_a_context_is_that_of_the_standard(vector: dict[str, Any]) -> None:
    is_x25519 = len(vector["pkRm"]) == 64
    info, public, enc = (bytes.fromhex(vector[name]) for name in ("info", "pkRm", "pkEm"))
    sender = setup_sender(public, info, private_key(vector["skEm"], is_x25519))
    receiver = setup_receiver(private_key(vector["skRm"], is_x25519), enc, info)
    for context in (sender, receiver):
        assert (context.enc.hex(), context.key.hex(), context.nonce.hex()) == (
            vector["pkEm"],
            vector["key"],
            vector["base_nonce"],
        )
        for exported in vector["exports"]:
            assert context.export(bytes.fromhex(exported["context"]), 32).hex() == exported["value"]


@pytest.mark.parametrize("vector", VECTORS["binary"], ids=lambda vector: str(vector["name"]))
def test_binary_messages_are_read_as_the_standard_says(vector: dict[str, Any]) -> None:
    message = bytes.fromhex(vector["message"])
    rest: Any = (pairs(vector["fields"]), bytes.fromhex(vector["content"]), pairs(vector["trailers"]))
    found: BinaryRequest | BinaryResponse
    expected: BinaryRequest | BinaryResponse
    if "control" in vector:
        found, expected = parse_request(message), BinaryRequest(*vector["control"], *rest)
    else:
        early = tuple((status, pairs(fields)) for status, fields in vector["early"])
        found = parse_response(message)
        expected = BinaryResponse(vector["status"], *rest, informational=early)
    assert found == expected
    if vector.get("is_written"):
        assert expected.encode() == message
    assert len(expected.encode(1024)) == 1024


@pytest.mark.parametrize("vector", VECTORS["invalid"], ids=lambda vector: str(vector["name"]))
def test_what_is_no_binary_message_is_refused(vector: dict[str, str]) -> None:
    for parse in (parse_request, parse_response):
        with pytest.raises(MessageError):
            parse(bytes.fromhex(vector["message"]))


def test_what_would_be_no_message_is_not_written() -> None:
    for fields in ((("Name", "x"),), (("name", "x\r\ny"),), (("name", " x"),), (("", "x"),), (("name", "\u0142"),)):
        with pytest.raises(MessageError):
            BinaryResponse(200, fields).encode()
    with pytest.raises(MessageError, match=r"2\*\*62"):
        integer(2**62)


def test_requests_and_responses_are_sealed_as_the_standard_says() -> None:
    raw = {name: bytes.fromhex(text) for name, text in EXAMPLE.items() if isinstance(text, str)}
    configuration = KeyConfiguration.parse(raw["configuration"])
    assert configuration
    assert (configuration.identifier, configuration.public) == (EXAMPLE["identifier"], raw["pkR"])
    assert configuration.encode() == raw["configuration"]
    sent = encapsulate(configuration, raw["request"], X25519PrivateKey.from_private_bytes(raw["skE"]))
    assert sent.message == raw["encapsulated_request"]
    request, context = decapsulate(sent.message, {EXAMPLE["identifier"]: OWN}.get)
    assert request == raw["request"]
    assert context.export(b"message/bhttp response", 16) == raw["secret"]
    response = encapsulate_response(context, raw["response"], raw["response_nonce"])
    assert response == raw["encapsulated_response"]
    assert sent.response(response) == raw["response"]


def test_lists_of_keys_are_read_as_they_are_written_and_others_are_refused() -> None:
    own = KeyConfiguration(7, public_bytes(OWN))
    unusable = KeyConfiguration(8, public_bytes(OWN), ((1, 3),))
    unknown = bytes.fromhex("00240900110102030405060708") + bytes(25)  # of a KEM that is not used here
    assert parse_keys(encode_keys([own, unusable]) + unknown) == [own]
    assert parse_keys(b"") == []
    whole = encode_keys([own])
    for wrong in (whole[:-1], whole + b"\0", b"\0\0", b"\0\1\7", whole[:-4] + b"\0\0\0\0"[:3], b"\0\x08" + whole[2:10]):
        with pytest.raises(MessageError):
            parse_keys(wrong)
    with pytest.raises(MessageError, match="public key"):
        encapsulate(KeyConfiguration(1, b"short"), b"")


def test_what_was_changed_or_is_sealed_to_another_key_does_not_open() -> None:
    configuration = KeyConfiguration(1, public_bytes(OWN))
    sent = encapsulate(configuration, b"request")
    other = encapsulate(configuration, b"request")
    keys = {1: OWN, 2: X25519PrivateKey.generate()}
    _, context = decapsulate(sent.message, keys.get)
    response = encapsulate_response(context, b"response")
    for at in range(len(sent.message)):
        changed = sent.message[:at] + bytes([sent.message[at] ^ 1]) + sent.message[at + 1 :]
        with pytest.raises(MessageError):
            decapsulate(changed, keys.get)
        with pytest.raises(MessageError):
            decapsulate(sent.message[:at], keys.get)
    for wrong in (response[:-1], response[:10], b"", response[:16] + bytes(len(response) - 16)):
        with pytest.raises(MessageError):
            sent.response(wrong)
    with pytest.raises(MessageError):
        other.response(response)
    with pytest.raises(MessageError, match="encapsulated key"):
        decapsulate(sent.message[:7] + bytes(32) + sent.message[39:], keys.get)  # the point that makes all secrets zero

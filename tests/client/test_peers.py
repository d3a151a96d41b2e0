"""Other implementations of the same standards: they read what both clients write, and write what both read.

HPKE by panva's ``hpke``, Binary HTTP by ``bhttp-js``, Privacy Pass by Cloudflare's ``privacypass-ts``.
"""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from deniable_client.blind_token import UnsignedToken
from deniable_transport.oblivious.binary_http import BinaryRequest, BinaryResponse, parse_request, parse_response
from deniable_transport.oblivious.hpke import public_bytes, setup_receiver, setup_sender
from tests.support.marks import long
from tools import programs
from tools.rig.access import key_number, unlinkable_survey

SCRIPT = Path(__file__).parents[1] / "web" / "run-peers.js"

NULL_BODY = (204, 205, 304)
"""Statuses of which the other library makes no response, because fetch gives these no body."""

LABEL = b"message/bhttp response"


def raw_private(private: EllipticCurvePrivateKey | X25519PrivateKey) -> bytes:
    if isinstance(private, X25519PrivateKey):
        return private.private_bytes_raw()
    return private.private_numbers().private_value.to_bytes(32)


def hpke_of(kem: str, private: EllipticCurvePrivateKey | X25519PrivateKey, number: int, chance: random.Random) -> Any:
    """What Python seals, with the keys, and what it should say to whoever opens it."""
    public, sealed, expected = public_bytes(private), [], []
    for _ in range(number):
        info, plain = chance.randbytes(chance.randrange(40)), chance.randbytes(chance.randrange(2000))
        context = setup_sender(public, info)
        sealed.append({"info": info.hex(), "enc": context.enc.hex(), "ct": context.seal(plain).hex()})
        expected.append([plain.hex(), context.export(LABEL, 16).hex()])
    return {"kem": kem, "skR": raw_private(private).hex(), "pkR": public.hex(), "sealed": sealed}, expected


def binary_of(number: int, chance: random.Random) -> list[dict[str, Any]]:
    """Random requests and responses, and their bytes as Python writes them."""
    messages = []
    for each in range(number):
        names = sorted({f"x-{chance.randrange(1000)}" for _ in range(chance.randrange(6))})
        fields = tuple((name, chance.randbytes(chance.randrange(90)).hex()) for name in names)
        content = chance.randbytes(chance.choice((0, 1, 63, 64, 5000, 20_000)))
        said: dict[str, Any] = {"fields": fields, "content": content.hex()}
        if each % 2:
            status = chance.choice([each for each in range(200, 600) if each not in NULL_BODY])
            said |= {"status": status}
            message = BinaryResponse(status, fields, content).encode()
        else:
            control = ("POST", "https", f"a{chance.randrange(99)}.example", f"/{chance.randbytes(30).hex()}")
            said |= {"control": control}
            message = BinaryRequest(*control, fields, content).encode()
        messages.append(said | {"message": message.hex()})
    return messages


@pytest.mark.slow
@pytest.mark.parametrize(("number", "tokens"), [(25, 1), long(500, 1000)])
def test_others_and_both_clients_understand_each_other(number: int, tokens: int) -> None:
    """Messages of each kind each way, half of them for each key exchange, and half of them responses: no mismatch."""
    chance = random.Random(9180)
    own: dict[str, EllipticCurvePrivateKey | X25519PrivateKey] = {}
    own |= {"p256": generate_private_key(SECP256R1()), "x25519": X25519PrivateKey.generate()}
    sealed, expected = zip(*(hpke_of(kem, key, number, chance) for kem, key in own.items()), strict=True)
    messages = binary_of(2 * number, chance)
    survey = unlinkable_survey()
    unsigned = [UnsignedToken.new(survey) for _ in range(tokens)]
    pem = key_number(0).pem
    requests = [each.blinded.message.hex() for each in unsigned]
    given = {
        "hpke": sealed,
        "binary": messages,
        "tokens": {"document": survey.document.decode(), "pem": pem, "requests": requests},
    }
    command = [*programs.node_command(), str(SCRIPT)]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["mismatches"] == 0, "of JavaScript's own"
    assert told["opened"] == [each for half in expected for each in half]
    for kem, *made in told["made"]:
        info, enc, ciphertext, plain, exported = map(bytes.fromhex, made)
        context = setup_receiver(own[kem], enc, info)
        assert (context.open(ciphertext), context.export(LABEL, 16)) == (plain, exported)
    for message, decoded, encoded in zip(messages, told["decoded"], told["encoded"], strict=True):
        said = json.loads(json.dumps({key: value for key, value in message.items() if key != "message"}))
        assert decoded == said
        parse = parse_request if "control" in message else parse_response
        assert parse(bytes.fromhex(encoded)).encode().hex() == message["message"]
    assert survey.tokens
    for request, signature in zip(unsigned, told["signatures"], strict=True):
        assert survey.tokens.verifies(request.token(survey, bytes.fromhex(signature)))
    assert all(survey.tokens.verifies(token) for token in told["tokens"])
    assert len(told["made"]) == len(told["encoded"]) == 2 * number
    assert len(told["tokens"]) == tokens

"""Who may be counted, as both sides see it: the standards' vectors, published surveys, reports with a credential."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_private_key
from hypothesis import given
from hypothesis import strategies as st

from deniable import NotInvited, Report, ReportError, Survey, SurveyError, parse_report, parse_survey, read_survey
from deniable.access.blind_rsa import EXPONENT, SIZE, PublicKey, encode
from deniable.access.hosts import check_origin, short_ipv6
from deniable.access.invitation import hash_of, is_invitation, new_invitation
from deniable.access.issuer import NONCE, Issuer, Tokens, nonce_of, report_id
from deniable.access.words import ONE_REPORT
from deniable.survey.document import ACCESS
from deniable_statistics.published.access_columns import access_cells, enforced
from tests.support.vectors import vectors
from tools.rig.survey_files import question_toml, survey_toml

DATA = Path(__file__).parents[1] / "data"

ISSUER_URLS: dict[str, Any] = json.loads((DATA / "issuer_urls.json").read_text())

PLACE_ORIGINS: dict[str, Any] = json.loads((DATA / "place_origins.json").read_text())

VECTORS = vectors("standards/blind_rsa")

PSS = padding.PSS(padding.MGF1(hashes.SHA384()), 48)

COIN = question_toml("affair", "yes-no", truth="1/2")

VALUES = {"affair": 1}


@cache
def private_key(number: int = 0) -> rsa.RSAPrivateKey:
    """A key of `cryptography`, which shares no code with ours."""
    return rsa.generate_private_key(EXPONENT, 8 * SIZE)


def public_of(key: rsa.RSAPrivateKey) -> PublicKey:
    return PublicKey(key.public_key().public_numbers().n)


def raw_signature(key: rsa.RSAPrivateKey, message: bytes) -> bytes:
    """The message to the private exponent: all that a blind signature is."""
    numbers = key.private_numbers()
    n = numbers.public_numbers.n
    return pow(int.from_bytes(message), numbers.d, n).to_bytes(n.bit_length() // 8)


def issued_by(number: int = 0, url: str | None = None) -> Issuer:
    return Issuer(public_of(private_key(number)).der.hex(), url)


@cache
def unlinkable(title: str = "T", number: int = 0, url: str | None = None) -> Survey:
    return replace(read_survey(survey_toml(title, COIN)), access="unlinkable", issuer=issued_by(number, url))


def bought(survey: Survey, number: int = 0) -> str:
    """A token, blinded by us and signed by the peer."""
    assert survey.tokens
    nonce = os.urandom(NONCE)
    message = survey.tokens.message(nonce)
    public = survey.tokens.issuer.public
    blinded = public.blind(message)
    signature = public.finalize(message, raw_signature(private_key(number), blinded.message), blinded.inverse)
    assert signature
    return survey.tokens.token(nonce, signature)


@cache
def a_token() -> str:
    return bought(unlinkable())


def report_with(token: str, **changes: Any) -> bytes:
    return replace(Report(report_id(nonce_of(token)), None, VALUES, token), **changes).encode()


def as_number(text: str) -> int:
    return int(text, 16)


def giving(number: int) -> Callable[[int], int]:
    """In place of chance."""
    return lambda _: number


class TestBlindSignature:
    """RFC 9474."""

    @pytest.mark.parametrize("vector", VECTORS["blind_rsa"], ids=lambda each: each["name"])
    def test_is_that_of_the_vectors(self, vector: dict[str, str]) -> None:
        n, inverse = as_number(vector["n"]), as_number(vector["inv"])
        key = PublicKey(n)
        message, salt = bytes.fromhex(vector["msg"]), bytes.fromhex(vector["salt"])
        blinded = key.blind(message, salt, giving(pow(inverse, -1, n)))
        assert (blinded.message.hex(), blinded.inverse) == (vector["blinded_msg"], inverse)
        signature = key.finalize(message, bytes.fromhex(vector["blind_sig"]), inverse)
        assert signature is not None
        assert signature.hex() == vector["sig"]
        assert key.verifies(message, signature)
        assert pow(as_number(vector["blinded_msg"]), as_number(vector["d"]), n) == as_number(vector["blind_sig"])

    def test_has_a_vector_of_the_variant_that_surveys_use(self) -> None:
        assert "RSABSSA-SHA384-PSS-Deterministic" in [each["name"] for each in VECTORS["blind_rsa"]]

    def test_is_one_that_others_verify(self) -> None:
        key = private_key()
        public = public_of(key)
        for length in (0, 1, 130, 5000):
            message = os.urandom(length)
            blinded = public.blind(message)
            signature = public.finalize(message, raw_signature(key, blinded.message), blinded.inverse)
            assert signature is not None
            key.public_key().verify(signature, message, PSS, hashes.SHA384())
            with pytest.raises(InvalidSignature):
                key.public_key().verify(signature, message + b"x", PSS, hashes.SHA384())

    def test_of_others_is_verified(self) -> None:
        key = private_key()
        public = public_of(key)
        signature = key.sign(b"message", PSS, hashes.SHA384())
        assert public.verifies(b"message", signature)
        assert not public.verifies(b"messagf", signature)
        assert not public_of(private_key(1)).verifies(b"message", signature)
        for salt, digest in ((32, hashes.SHA384()), (0, hashes.SHA384()), (48, hashes.SHA256())):
            other = key.sign(b"message", padding.PSS(padding.MGF1(digest), salt), digest)
            assert not public.verifies(b"message", other), "other parameters are another scheme"
        assert not public.verifies(b"message", key.sign(b"message", padding.PKCS1v15(), hashes.SHA384()))

    def test_has_one_form(self) -> None:
        """A signature plus the modulus is the same number to the key, and would be another text."""
        key = load_pem_private_key(bytes.fromhex(VECTORS["privacy_pass"][0]["skS"]), None)
        assert isinstance(key, rsa.RSAPrivateKey)
        public = public_of(key)
        assert 256**SIZE / public.modulus > 1.26
        found = 0
        for _ in range(60):
            signature = key.sign(b"message", PSS, hashes.SHA384())
            assert not public.verifies(b"message", b"\0" + signature)
            assert not public.verifies(b"message", signature[1:])
            larger = int.from_bytes(signature) + public.modulus
            if larger < 256**SIZE:
                found += 1
                assert not public.verifies(b"message", larger.to_bytes(SIZE))
        assert found, "none of 60, where each has probability 0.26: below 1e-7"

    def test_that_signs_something_else_is_not_finalized(self) -> None:
        key = private_key()
        public = public_of(key)
        blinded = public.blind(b"message")
        signed = raw_signature(key, blinded.message)
        assert public.finalize(b"another", signed, blinded.inverse) is None
        assert public.finalize(b"message", signed, blinded.inverse + 1) is None
        assert public.finalize(b"message", raw_signature(private_key(1), blinded.message), blinded.inverse) is None
        for nonsense in (b"", b"\0" * SIZE, b"\xff" * SIZE, b"\xff" * 2 * SIZE, blinded.message):
            assert public.finalize(b"message", nonsense, blinded.inverse) is None

    def test_is_not_asked_of_a_key_with_small_factors(self) -> None:
        """What a small prime divides it divides when it is blinded, too: several would name a person among hundreds."""
        small = math.prod([3, 5, 7, 11, 13, 17, 19, 23, 29])
        modulus = small * private_key().private_numbers().p
        rest = (2**2048 - 1) // modulus
        modulus *= rest - 1 + rest % 2
        key = PublicKey(modulus)
        assert modulus.bit_length() == 2048
        refused = 0
        for number in range(100):
            message, salt = bytes([number]), bytes(48)
            if math.gcd(int.from_bytes(encode(message, salt)), modulus) == 1:
                blinded = key.blind(message, salt, giving(1)).message
                assert math.gcd(int.from_bytes(blinded), modulus) == 1
                continue
            refused += 1
            with pytest.raises(SurveyError, match="key: must be a product of large primes"):
                key.blind(message, salt, giving(1))
        assert refused > 50

    def test_blinds_with_no_factor_that_cannot_be_taken_off(self) -> None:
        public = public_of(private_key())
        for useless in (0, private_key().private_numbers().p):
            with pytest.raises(SurveyError, match="key: must be a product of large primes"):
                public.blind(b"message", bytes(48), giving(useless))

    def test_blinds_anew_each_time(self) -> None:
        public = public_of(private_key())
        assert len({public.blind(b"message").message for _ in range(20)}) == 20

    def test_hides_which_message_it_is(self) -> None:
        """For every message and every blinded message there is a factor that makes one the other."""
        key = private_key()
        public, numbers = public_of(key), key.private_numbers()
        seen = public.blind(b"mine").message
        other = int.from_bytes(public.blind(b"yours", bytes(48), giving(1)).message)
        factor = pow(int.from_bytes(seen) * pow(other, -1, public.modulus), numbers.d, public.modulus)
        assert public.blind(b"yours", bytes(48), giving(factor)).message == seen


class TestToken:
    """RFC 9577 and RFC 9578, type 0x0002."""

    @pytest.mark.parametrize("vector", VECTORS["privacy_pass"], ids=lambda each: each["nonce"][:8])
    def test_is_that_of_the_vectors(self, vector: dict[str, str]) -> None:
        tokens = Tokens(Issuer(vector["pkS"]), b"")
        tokens.__dict__["challenge"] = bytes.fromhex(vector["token_challenge"])  # in place of that of a survey
        nonce, public = bytes.fromhex(vector["nonce"]), tokens.issuer.public
        blinded = public.blind(tokens.message(nonce), bytes.fromhex(vector["salt"]), giving(as_number(vector["blind"])))
        request = f"0002{tokens.issuer.key_id[-1:].hex()}{blinded.message.hex()}"
        assert request == vector["token_request"]
        private = load_pem_private_key(bytes.fromhex(vector["skS"]), None)
        assert isinstance(private, rsa.RSAPrivateKey)
        assert raw_signature(private, blinded.message).hex() == vector["token_response"]
        signature = public.finalize(tokens.message(nonce), bytes.fromhex(vector["token_response"]), blinded.inverse)
        assert signature is not None
        assert tokens.token(nonce, signature) == vector["token"]
        assert tokens.verifies(vector["token"])

    def test_answers_a_challenge_like_that_of_the_vectors(self) -> None:
        """The one without an origin; its context is in the place of a survey's hash."""
        (vector,) = [
            each["token_challenge"]
            for each in VECTORS["privacy_pass"]
            if each["token_challenge"].endswith("0000") and "6520" in each["token_challenge"]
        ]
        context = vector[-68:-4]
        survey = unlinkable(url="https://issuer.example")
        assert survey.tokens
        document = hashlib.sha256(survey.document).hexdigest()
        assert survey.tokens.challenge.hex().replace(document, context) == vector

    def test_has_a_key_that_others_read(self) -> None:
        der = public_of(private_key()).der
        read = load_der_public_key(der)
        assert isinstance(read, rsa.RSAPublicKey)
        assert read.public_numbers() == private_key().public_key().public_numbers()
        assert PublicKey.parse(der).der == der

    def test_has_a_key_of_one_form(self) -> None:
        modulus = public_of(private_key()).modulus
        for other in (modulus - 1, modulus + 1, modulus >> 1 | 1, modulus + 2**2048):
            der = PublicKey(modulus).der.replace(modulus.to_bytes(SIZE), other.to_bytes(SIZE + 1).removeprefix(b"\0"))
            with pytest.raises(SurveyError, match="key: must be an RSASSA-PSS key of 2048 bits"):
                PublicKey.parse(der)

    def test_is_354_bytes_and_names_its_report(self) -> None:
        token = a_token()
        assert len(bytes.fromhex(token)) == 354
        assert report_id(nonce_of(token)) == token[4:36]
        assert parse_report(report_with(token), unlinkable()) == Report(token[4:36], None, VALUES)

    def test_counts_no_other_report(self) -> None:
        with pytest.raises(NotInvited, match="id: must be the first half of the nonce"):
            parse_report(report_with(a_token(), id="0" * 32), unlinkable())

    @pytest.mark.parametrize(
        "elsewhere",
        [
            lambda: unlinkable("Another survey with the same key"),
            lambda: unlinkable(number=1),
            lambda: unlinkable(url="https://issuer.example"),
        ],
        ids=["survey", "key", "issuer"],
    )
    def test_of_another_survey_key_or_issuer_is_refused(self, elsewhere: Callable[[], Survey]) -> None:
        other = elsewhere()
        theirs = bought(other, 1 if other.issuer == issued_by(1) else 0)
        parse_report(report_with(theirs), other)
        with pytest.raises(NotInvited, match="credential: must be a token of this survey"):
            parse_report(report_with(theirs), unlinkable())

    def test_signed_by_the_right_key_for_another_survey_is_refused(self) -> None:
        """Who is invited to one of two surveys with one key has something signed for the other: keys serve one."""
        mine, other = unlinkable(), unlinkable("Another survey with the same key")
        assert mine.tokens
        assert other.tokens
        nonce = os.urandom(NONCE)
        signature = private_key().sign(other.tokens.message(nonce), PSS, hashes.SHA384())
        with pytest.raises(NotInvited, match="was not signed"):
            parse_report(report_with(mine.tokens.token(nonce, signature)), mine)


@given(st.integers(0, 354 * 8 - 1))
def test_a_token_with_a_bit_turned_over_is_refused(bit: int) -> None:
    raw = bytearray.fromhex(a_token())
    raw[bit // 8] ^= 1 << bit % 8
    changed = raw.hex()
    with pytest.raises(NotInvited):
        parse_report(report_with(changed), unlinkable())
    with pytest.raises(NotInvited):
        parse_report(report_with(changed, id=a_token()[4:36]), unlinkable())


@given(st.binary(min_size=SIZE, max_size=SIZE))
def test_a_token_with_any_other_signature_is_refused(signature: bytes) -> None:
    with pytest.raises(NotInvited, match="credential: was not signed by the issuer of this survey"):
        parse_report(report_with(a_token()[: -2 * SIZE] + signature.hex()), unlinkable())


class TestSurvey:
    """Who may be counted is published, and so part of the address."""

    def test_that_is_open_is_published_as_before(self) -> None:
        survey = read_survey(survey_toml("T", COIN))
        assert survey.access == "open"
        assert b"access" not in survey.document
        assert read_survey(survey_toml("T", COIN, access="open")).id == survey.id

    @pytest.mark.parametrize("url", [None, "https://issuer.example", "http://127.0.0.1:8001", "http://[::1]:8001"])
    def test_comes_back_from_its_bytes(self, url: str | None) -> None:
        issuer = {"key": issued_by().key} | ({"url": url} if url else {})
        survey = read_survey(survey_toml("T", COIN, access="unlinkable", issuer=issuer))
        published = json.loads(survey.document)
        assert (published["access"], published["issuer"]) == ("unlinkable", issuer)
        assert parse_survey(survey.document, survey.id) == survey
        assert parse_survey(survey.document).tokens == survey.tokens
        assert survey.issuer
        assert survey.issuer.name == (url.split("/")[2] if url else "collector")

    @pytest.mark.parametrize("url", ISSUER_URLS["valid"])
    def test_names_an_issuer_that_devices_can_reach(self, url: str) -> None:
        assert Issuer(issued_by().key, url).url == url

    @pytest.mark.parametrize("url", ISSUER_URLS["refused"])
    def test_names_no_issuer_in_the_clear_or_nowhere(self, url: str) -> None:
        with pytest.raises(SurveyError, match=f"^issuer.url: {ISSUER_URLS['refused'][url]}"):
            Issuer(issued_by().key, url)

    def test_names_no_issuer_to_whom_others_listen(self) -> None:
        with pytest.raises(SurveyError) as caught:
            Issuer(issued_by().key, "http://issuer.example")
        assert str(caught.value) == (
            "issuer.url: must start with https://, or everybody on the way can read invitations and use them; "
            "http:// is for an issuer on this machine, got 'http://issuer.example'"
        )

    def test_has_another_address_with_other_access(self) -> None:
        invited = read_survey(survey_toml("T", COIN, access="invited"))
        assert json.loads(invited.document)["access"] == "invited"
        surveys = [read_survey(survey_toml("T", COIN)), invited, unlinkable(), unlinkable(number=1)]
        surveys.append(unlinkable(url="https://issuer.example"))
        assert len({each.id for each in surveys}) == 5

    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            ({"access": "closed"}, "access: must be open or invited or unlinkable, got 'closed'"),
            ({"access": True}, "access: must be open or invited or unlinkable, got true"),
            (
                {"access": "unlinkable"},
                "access: must be unlinkable with an issuer, and only then, got unlinkable without",
            ),
            ({"access": "invited", "issuer": {}}, "issuer: must have the key key"),
            ({"access": "unlinkable", "issuer": "https://x.example"}, r"issuer: must be a table \[issuer\]"),
            ({"access": "unlinkable", "issuer": {"key": "KEY", "hash": "x"}}, "unknown key 'hash'"),
            (
                {"access": "unlinkable", "issuer": {"key": 7}},
                "issuer.key: must be lower-case hexadecimal digits, got 7",
            ),
            ({"access": "unlinkable", "issuer": {"key": "AB"}}, "issuer.key: must be lower-case hexadecimal digits"),
            ({"access": "unlinkable", "issuer": {"key": "abcd"}}, "issuer.key: must be an RSASSA-PSS key of 2048 bits"),
            ({"access": "unlinkable", "issuer": {"key": "KEY", "url": 7}}, "issuer.url: must be like"),
            ({"access": "unlinkable", "issuer": {"key": "KEY", "url": "ftp://x.example"}}, "issuer.url: must be like"),
            ({"access": "unlinkable", "issuer": {"key": "KEY", "url": "https://x.example/"}}, "without a path"),
            (
                {"access": "unlinkable", "issuer": {"key": "KEY", "url": "https://a@x.example"}},
                "issuer.url: must be like",
            ),
            (
                {"access": "unlinkable", "issuer": {"key": "KEY", "url": "https://X.example"}},
                "issuer.url: must be like",
            ),
        ],
    )
    def test_with_a_slip_says_which(self, keys: dict[str, Any], message: str) -> None:
        if isinstance(issuer := keys.get("issuer"), dict) and issuer.get("key") == "KEY":
            keys = keys | {"issuer": issuer | {"key": issued_by().key}}
        with pytest.raises(SurveyError, match=message):
            read_survey(survey_toml("T", COIN, **keys))

    def test_with_an_issuer_must_be_unlinkable(self) -> None:
        for access in ("open", "invited"):
            with pytest.raises(SurveyError, match=f"and only then, got {access} with one"):
                read_survey(survey_toml("T", COIN, access=access, issuer={"key": issued_by().key}))

    def test_takes_no_other_key(self) -> None:
        plain = private_key().public_key().public_numbers()
        small = rsa.generate_private_key(EXPONENT, 1024).public_key().public_numbers().n
        der = issued_by().public.der
        for wrong in (
            der[:-1],
            der + b"\0",
            der[:-5] + bytes.fromhex("0203010003"),
            der[: -SIZE - 5] + (plain.n - 1).to_bytes(SIZE) + der[-5:],
            der[: -SIZE - 5] + small.to_bytes(SIZE) + der[-5:],
            b"",
        ):
            with pytest.raises(SurveyError, match="key: must be an RSASSA-PSS key of 2048 bits"):
                PublicKey.parse(wrong)

    @pytest.mark.parametrize(
        "change",
        [
            lambda keys: keys | {"access": "open"},
            lambda keys: {key: each for key, each in keys.items() if key != "issuer"},
            lambda keys: keys | {"access": "invited"},
            lambda keys: keys | {"issuer": keys["issuer"] | {"url": None}},
            lambda keys: keys | {"issuer": keys["issuer"] | {"more": 1}},
            lambda keys: keys | {"issuer": keys["issuer"]["key"]},
            lambda keys: keys | {"issuer": keys["issuer"] | {"key": keys["issuer"]["key"].upper()}},
        ],
    )
    def test_that_was_altered_is_refused(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        published = json.loads(unlinkable().document)
        with pytest.raises(SurveyError):
            parse_survey(json.dumps(change(published), separators=(",", ":")).encode())

    def test_has_words_for_each_access(self) -> None:
        assert tuple(ONE_REPORT) == ACCESS

    def test_says_in_cells_who_is_counted_once(self) -> None:
        assert [enforced(access) for access in ACCESS] == ["not enforced", "by invitation", "by blind token"]
        assert access_cells("invited") == ["invited", "by invitation"]


class TestOrigin:
    """The address of an issuer or a place."""

    @staticmethod
    def check(url: object, who: str = "a place") -> None:
        check_origin(url, "place", who=who, danger="read it", is_exact=True)

    @pytest.mark.parametrize("url", PLACE_ORIGINS["valid"])
    def test_is_written_as_browsers_write_it(self, url: str) -> None:
        self.check(url)

    @pytest.mark.parametrize("url", PLACE_ORIGINS["refused"])
    def test_is_refused_in_every_other_form(self, url: str) -> None:
        with pytest.raises(SurveyError, match=f"^place: {PLACE_ORIGINS['refused'][url]}"):
            self.check(url)

    @pytest.mark.parametrize("url", ["https://issuer.example:443", "https://[2001:db8:0::1]", "http://[::1]:80"])
    def test_may_have_another_form_where_nothing_compares_it(self, url: str) -> None:
        check_origin(url, "issuer.url", who="an issuer", danger="read it")

    @pytest.mark.parametrize(
        ("url", "message"),
        [
            (3, 'must be like "https://place.example", without a path, got 3'),
            ("https://a..b", "must have a host that there can be, got 'a..b'"),
            ("https://a.b:65536", "must have a port from 1 to 65535, got 65536"),
            ("https://a.b:443", "must be written as browsers write an origin, without the port 443"),
            ("https://[0::1]", "must be written as browsers write an origin, with the host [::1], got [0::1]"),
            (
                "http://a.b",
                "must start with https://, or everybody on the way can read it; "
                "http:// is for some other place on this machine, got 'http://a.b'",
            ),
        ],
    )
    def test_is_refused_by_a_sentence_with_what_came(self, url: object, message: str) -> None:
        with pytest.raises(SurveyError) as caught:
            self.check(url, "some other place")
        assert str(caught.value) == f"place: {message}"

    @pytest.mark.parametrize(
        ("written", "short"),
        [
            # RFC 5952, section 4.2: the first of the longest runs of zeros, and none of a single group.
            ("2001:0db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
            # The last 32 bits without dots, as the URL standard of browsers serialises them.
            ("::ffff:192.0.2.1", "::ffff:c000:201"),
            ("::1:ffff:c000:201", "::1:ffff:c000:201"),
            ("::1:0:c000:201", "::1:0:c000:201"),
            ("::1", "::1"),
        ],
    )
    def test_has_an_ipv6_address_in_its_short_form(self, written: str, short: str) -> None:
        assert short_ipv6(written) == f"[{short}]"


class TestReport:
    """A report carries what lets it count, and nothing else."""

    INVITED = replace(read_survey(survey_toml("T", COIN)), access="invited")

    @pytest.mark.slow
    def test_carries_its_invitation_last(self) -> None:
        report = Report("0" * 32, None, VALUES, "ab" * 16)
        assert report.encode().endswith(b'"values":{"affair":1},"credential":"' + b"ab" * 16 + b'"}')
        found = parse_report(report.encode(), self.INVITED)
        assert (found, found.credential) == (report, report.credential)
        in_other_order = json.dumps(dict(reversed(json.loads(report.encode()).items()))).encode()
        assert parse_report(in_other_order, self.INVITED).credential == report.credential

    def test_shows_no_credential(self) -> None:
        assert "ab" * 16 not in repr(Report("0" * 32, None, VALUES, "ab" * 16))

    @pytest.mark.parametrize(
        "credential", [None, 7, "", "ab" * 15, "ab" * 17, "AB" * 16, "ab" * 16 + "\n", "x" * 32, ["ab" * 16]]
    )
    def test_with_something_else_is_refused_unsaid(self, credential: object) -> None:
        content = {"id": "0" * 32, "cohort": None, "values": VALUES, "credential": credential}
        with pytest.raises(NotInvited) as refused:
            parse_report(json.dumps(content).encode(), self.INVITED)
        assert str(refused.value) == "credential: must be an invitation of this survey"

    def test_needs_one_where_the_survey_asks_and_only_there(self) -> None:
        without = Report("0" * 32, None, VALUES)
        for survey in (self.INVITED, unlinkable()):
            with pytest.raises(ReportError, match="report: must have the key 'credential'"):
                parse_report(without.encode(), survey)
        survey = read_survey(survey_toml("T", COIN))
        assert parse_report(without.encode(), survey) == without
        with pytest.raises(ReportError, match="report: has the unknown key 'credential'"):
            parse_report(replace(without, credential="ab" * 16).encode(), survey)


def test_invitations_are_random_and_known_by_their_hash() -> None:
    made = {new_invitation() for _ in range(100)}
    assert len(made) == 100
    assert all(map(is_invitation, made))
    one = next(iter(made))
    assert hash_of(one) == hashlib.sha256(bytes.fromhex(one)).hexdigest()


def test_reading_and_checking_loads_the_standard_library_alone() -> None:
    script = (
        "import sys; before = set(sys.modules); import deniable, deniable_client, deniable.access.blind_rsa;"
        "print(sorted({m.split('.')[0] for m in set(sys.modules) - before} - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['deniable', 'deniable_client', 'deniable_transport', 'urllib3']"

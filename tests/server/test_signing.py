"""Blind signatures, and the keys that make them."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from flask.testing import FlaskClient

from deniable import SurveyError
from deniable_server import signing
from deniable_server.access.tokens import create_token
from deniable_server.signing import PrivateKey, SigningFault
from deniable_server.store.sqlite.integrity import inspect
from deniable_server.store.sqlite.store import SqliteStore
from tests.support.vectors import vectors
from tools.rig.access import key_number, post_survey, publish, unlinkable_survey
from tools.rig.command_line import CommandLine

VECTORS = vectors("standards/blind_rsa")


factors = functools.cache(rsa.rsa_recover_prime_factors)
"""Those of a key, found once: both vectors have the same."""


class TestSigning:
    """Blind signatures as the standards have them."""

    @pytest.mark.parametrize("vector", VECTORS["privacy_pass"], ids=lambda each: each["nonce"][:8])
    def test_gives_the_responses_of_rfc_9578(self, vector: dict[str, str]) -> None:
        key = PrivateKey.parse(bytes.fromhex(vector["skS"]).decode("ascii"))
        assert key.public.der.hex() == vector["pkS"]
        blinded = bytes.fromhex(vector["token_request"])[3:]  # after the type and the last byte of the key's id
        assert key.blind_sign(blinded).hex() == vector["token_response"]

    @pytest.mark.slow
    @pytest.mark.parametrize("vector", VECTORS["blind_rsa"], ids=lambda each: each["name"])
    def test_gives_the_signatures_of_rfc_9474(self, vector: dict[str, str]) -> None:
        n, e, d = (int(vector[name], 16) for name in "ned")
        p, q = factors(n, e, d)
        public = rsa.RSAPublicNumbers(e, n)
        numbers = rsa.RSAPrivateNumbers(
            p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q), public
        )
        key = numbers.private_key(unsafe_skip_rsa_key_validation=True)  # the signatures show that it is the one
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        assert PrivateKey(pem.decode()).blind_sign(bytes.fromhex(vector["blinded_msg"])).hex() == vector["blind_sig"]

    def test_raises_no_message_as_it_came(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is raised to the private exponent is another number at each try; the signature is the same."""
        key = key_number(0)
        blinded = key.public.blind(b"message").message
        raised: list[int] = []

        def watched(base: int, exponent: int, modulus: int) -> int:
            if exponent.bit_length() > 512:
                raised.append(base)
            return pow(base, exponent, modulus)

        monkeypatch.setattr(signing, "pow", watched, raising=False)
        assert key.blind_sign(blinded) == key.blind_sign(blinded)
        assert len(raised) == 4
        assert len(set(raised)) == 2
        assert int.from_bytes(blinded) not in raised

    @pytest.mark.parametrize("fault", [1, 2])
    def test_tells_no_signature_that_a_fault_spoilt(self, monkeypatch: pytest.MonkeyPatch, fault: int) -> None:
        """One right and one wrong half would give the primes away (Boneh, DeMillo and Lipton 1997)."""
        calls = 0

        def faulty(base: int, exponent: int, modulus: int) -> int:
            nonlocal calls
            calls += exponent.bit_length() > 512
            return pow(base, exponent, modulus) ^ (calls == fault and exponent.bit_length() > 512)

        monkeypatch.setattr(signing, "pow", faulty, raising=False)
        key = key_number(0)
        with pytest.raises(SigningFault, match="was not given away"):
            key.blind_sign(key.public.blind(b"message").message)

    def test_shows_no_key(self) -> None:
        assert "PRIVATE" not in repr(key_number(0))
        with pytest.raises(ValueError, match="blinded message"):
            key_number(0).blind_sign(bytes(256))
        small = rsa.generate_private_key(65537, 1024).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        with pytest.raises(ValueError, match="2048 bits"):
            PrivateKey.parse(small.decode())


class TestKey:
    """One key signs for one survey."""

    def test_must_be_here_when_the_collector_signs(self, http: FlaskClient, store: SqliteStore) -> None:
        survey = unlinkable_survey()
        token = create_token(store, "ada")
        answer = post_survey(http, survey, token)
        assert answer.status_code == 422
        assert "make a key here with 'deniable issuer key'" in answer.json["detail"]
        assert store.states() == []

    def test_serves_one_survey(self, store: SqliteStore) -> None:
        publish(store, unlinkable_survey())
        assert not store.publish(unlinkable_survey())  # the very same
        with pytest.raises(SurveyError, match="a key serves one survey only"):
            store.publish(unlinkable_survey(title="Other"))
        with pytest.raises(SurveyError, match="a key serves one survey only"):
            store.publish(unlinkable_survey(title="Other", url="https://issuer.example"), signs=True)
        assert len(store.states()) == 1

    @pytest.mark.slow
    def test_is_made_added_and_allowed_more_by_commands(self, tmp_path: Path, store: SqliteStore) -> None:
        issuer = CommandLine("issuer")
        file = tmp_path / "issuer.db"
        table = issuer.ok("key", "--db", file, "--url", "https://issuer.example").partition("The survey")[0]
        assert file.stat().st_mode & 0o077 == 0
        toml = (
            'title = "T"\naccess = "unlinkable"\n[[questions]]\nid = "q"\ntype = "yes-no"\ntext = "Q?"\nepsilon = 1\n'
        )
        (tmp_path / "survey.toml").write_text(toml + table, encoding="utf-8")
        survey_id = issuer.ok("add", tmp_path / "survey.toml", "--db", file).strip()
        survey = SqliteStore(file).survey(survey_id)
        assert survey.issuer
        assert survey.issuer.url == "https://issuer.example"
        (tmp_path / "published").write_bytes(survey.document)
        assert issuer.ok("add", tmp_path / "published", "--db", file).strip() == survey_id
        assert issuer.ok("reissue", survey_id, "-n", 1, "--db", file).startswith(f"Survey {survey_id}: each invitation")
        assert "reissue: must be 0 to 9, got 10" in issuer.refused("reissue", survey_id, "-n", 10, "--db", file)
        store.publish(survey)  # at a collector, which signs nothing
        assert "its tokens are not signed here" in issuer.refused("reissue", survey_id, "-n", 1, "--db", store.path)
        assert "its private half must be in this database" in issuer.refused(
            "add", tmp_path / "published", "--db", store.path
        )
        assert "must be a file, or a link" in issuer.refused("add", "nothing", "--db", file)
        assert "issuer.url: must be like" in issuer.refused("key", "--url", "ftp://x", "--db", file)
        in_the_clear = issuer.refused("key", "--url", "http://issuer.example", "--db", file)
        assert "issuer.url: must start with https://, or everybody on the way can read invitations" in in_the_clear
        for url in ("https://issuer.example", "http://[::1]"):
            assert f'url = "{url}"' in issuer.ok("key", "--url", url, "--db", file)
        assert inspect(file).findings == ()

    def test_in_a_damaged_row_is_found(self, store: SqliteStore) -> None:
        store.add_key(key_number(0))
        store.db.execute("UPDATE signing_keys SET private = replace(private, 'A', 'B')")
        assert inspect(store.path).findings == ("signing_keys: a private key is not that of its public one",)

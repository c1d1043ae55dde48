"""Stored secrets: encrypted with the first of SECRETS_KEYS, read with any, and in no log record."""

import logging
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from chat.infrastructure import encryption
from chat.models import Provider
from config import environment as env
from config.secret_filter import RedactedRecord
from tests.secrets_keys import FIRST, SECOND

KEY = "key-of-the-cloud-987654"


@pytest.mark.pure
def test_what_is_encrypted_is_read_with_the_same_key_and_looks_like_nothing_of_it() -> None:
    encrypted = encryption.encrypt(KEY)
    assert KEY not in encrypted
    assert encryption.encrypt(KEY) != encrypted
    assert encryption.decrypt(encrypted) == KEY


def test_another_key_reads_nothing(settings: Any) -> None:
    encrypted = encryption.encrypt(KEY)
    settings.SECRETS_KEYS = [SECOND]
    with pytest.raises(encryption.UnreadableSecret):
        encryption.decrypt(encrypted)


@pytest.mark.pure
def test_a_changed_secret_is_not_read() -> None:
    encrypted = encryption.encrypt(KEY)
    with pytest.raises(encryption.UnreadableSecret):
        encryption.decrypt(f"{encrypted[:40]}{'A' if encrypted[40] != 'A' else 'B'}{encrypted[41:]}")


def test_without_keys_nothing_is_encrypted(settings: Any) -> None:
    settings.SECRETS_KEYS = []
    with pytest.raises(encryption.EncryptionUnavailable):
        encryption.encrypt(KEY)


def test_a_former_key_still_reads_and_the_first_one_writes(settings: Any) -> None:
    encrypted = encryption.encrypt(KEY)
    settings.SECRETS_KEYS = [SECOND, FIRST]
    rotated = encryption.rotate(encrypted)
    settings.SECRETS_KEYS = [SECOND]
    assert encryption.decrypt(rotated) == KEY


@pytest.mark.pure
@pytest.mark.parametrize("text", [FIRST, FIRST.rstrip("="), f"{SECOND}, {FIRST}", ""])
def test_keys_are_32_bytes_in_base64(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRETS_KEYS", text)
    for key in env.secret_keys("SECRETS_KEYS"):
        assert len(encryption.decode_key(key)) == 32


@pytest.mark.pure
@pytest.mark.parametrize("text", ["short", FIRST[:-5], f"{FIRST}{FIRST}", "!" * 43, "a" * 43])
def test_another_value_ends_the_start_without_being_printed(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SECRETS_KEYS", text)
    with pytest.raises(SystemExit):
        env.secret_keys("SECRETS_KEYS")
    said = capsys.readouterr().err
    assert said.startswith("SECRETS_KEYS: ")
    assert text not in said


@pytest.mark.pure
def test_no_log_record_contains_what_was_decrypted() -> None:
    encryption.decrypt(encryption.encrypt("key-in-a-log-13579"))
    record = RedactedRecord("x", logging.INFO, "x", 1, "sent %s", ("key-in-a-log-13579",), None)
    assert record.getMessage() == "sent [redacted]"


def stored() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT encrypted_api_key FROM chat_provider")
        return str(cursor.fetchone()[0])


@pytest.mark.django_db
def test_rotating_encrypts_everything_with_the_first_key(settings: Any) -> None:
    Provider.objects.create(name="a", base_url="https://a.example", encrypted_api_key=encryption.encrypt(KEY))
    before = stored()
    settings.SECRETS_KEYS = [SECOND, FIRST]
    said = StringIO()
    call_command("rotate_secrets", stdout=said)
    assert said.getvalue().startswith("1 secrets")
    assert stored() != before
    settings.SECRETS_KEYS = [SECOND]
    assert Provider.objects.get().api_key == KEY


@pytest.mark.django_db
def test_rotating_names_what_no_key_reads(settings: Any) -> None:
    Provider.objects.create(name="a", base_url="https://a.example", encrypted_api_key=encryption.encrypt(KEY))
    settings.SECRETS_KEYS = [SECOND]
    with pytest.raises(CommandError, match="provider a"):
        call_command("rotate_secrets", stdout=StringIO())

"""Encrypts secrets that are stored and used again: keys of model providers, tokens of MCP servers.

A copy of the database does not reveal them. Of SECRETS_KEYS (Fernet: AES-128-CBC and HMAC-SHA256), the first key
encrypts and all keys decrypt, so that keys can be replaced (`manage.py rotate_secrets`). Texts that this process has
encrypted or decrypted are kept out of its logs and reports (config/secret_filter.py).
"""

import base64
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from django.conf import settings

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

# Far more than a process uses at a time.
MAX_REMEMBERED: Final = 256
_remembered: tuple[str, ...] = ()


class EncryptionUnavailable(Exception):
    """SECRETS_KEYS is not set: nothing can be encrypted or decrypted."""


class UnreadableSecret(Exception):
    """The secret was encrypted with a key that is no longer in SECRETS_KEYS, or it was changed."""


def is_available() -> bool:
    return bool(settings.SECRETS_KEYS)


def encrypt(text: str) -> str:
    """Encrypt a text with the first key, and remember it. Raises EncryptionUnavailable."""
    encrypted = _cipher().encrypt(text.encode()).decode()
    remember(text)
    return encrypted


def decrypt(encrypted: str) -> str:
    """Decrypt a text, and remember it. Raises EncryptionUnavailable, UnreadableSecret."""
    from cryptography.fernet import InvalidToken

    try:
        text = _cipher().decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise UnreadableSecret from None
    remember(text)
    return text


def rotate(encrypted: str) -> str:
    """Encrypt a secret again, with the first key. Raises EncryptionUnavailable, UnreadableSecret."""
    return encrypt(decrypt(encrypted))


def known_secrets() -> tuple[str, ...]:
    """Return the texts that this process has remembered last, newest first, at most MAX_REMEMBERED."""
    return _remembered


def remember(text: str) -> None:
    """Keep a text out of logs and reports. Called directly for a secret inside of an encrypted text."""
    global _remembered
    if text not in _remembered:
        # One assignment: other threads read it meanwhile.
        _remembered = (text, *_remembered)[:MAX_REMEMBERED]


def _cipher() -> "MultiFernet":
    if not settings.SECRETS_KEYS:
        raise EncryptionUnavailable
    return _cipher_of(tuple(settings.SECRETS_KEYS))


@lru_cache(maxsize=4)
def _cipher_of(keys: tuple[str, ...]) -> "MultiFernet":
    from cryptography.fernet import Fernet, MultiFernet  # not imported by processes that store no secrets

    return MultiFernet([Fernet(base64.urlsafe_b64encode(decode_key(key))) for key in keys])


def decode_key(text: str) -> bytes:
    """Decode the 32 bytes of a key in base64, of either alphabet, padded or not. Raises ValueError."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    key = base64.b64decode(f"{plain}{'=' * (-len(plain) % 4)}", validate=True)
    if len(key) != 32:
        raise ValueError("a key has 32 bytes")
    return key

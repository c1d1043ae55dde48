"""Encrypts what must be stored and used again, but not be readable in a copy of the database: keys of model providers, tokens of
MCP servers.

With SECRETS_KEYS (Fernet: AES-128-CBC and HMAC-SHA256): the first key encrypts, all of them decrypt, so that keys can be
replaced (`manage.py rotate_secrets`). What this process has encrypted or decrypted is kept out of its logs and reports
(config/secret_filter.py).
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
    """It was encrypted with a key that is not in SECRETS_KEYS any more, or it was changed."""


def is_available() -> bool:
    return bool(settings.SECRETS_KEYS)


def encrypt(text: str) -> str:
    """Raises EncryptionUnavailable."""
    encrypted = _cipher().encrypt(text.encode()).decode()
    remember(text)
    return encrypted


def decrypt(encrypted: str) -> str:
    """Raises EncryptionUnavailable, UnreadableSecret."""
    from cryptography.fernet import InvalidToken

    try:
        text = _cipher().decrypt(encrypted.encode()).decode()
    except InvalidToken:
        raise UnreadableSecret from None
    remember(text)
    return text


def rotate(encrypted: str) -> str:
    """The same secret, encrypted with the first key. Raises EncryptionUnavailable, UnreadableSecret."""
    return encrypt(decrypt(encrypted))


def known_secrets() -> tuple[str, ...]:
    """What this process has encrypted or decrypted lately."""
    return _remembered


def remember(text: str) -> None:
    """Keep it out of logs and reports: a secret inside of what is encrypted."""
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
    from cryptography.fernet import Fernet, MultiFernet  # processes that store no secrets do without

    return MultiFernet([Fernet(base64.urlsafe_b64encode(decode_key(key))) for key in keys])


def decode_key(text: str) -> bytes:
    """The 32 bytes of a key in base64, of either alphabet, padded or not. Raises ValueError."""
    plain = text.rstrip("=").replace("-", "+").replace("_", "/")
    key = base64.b64decode(f"{plain}{'=' * (-len(plain) % 4)}", validate=True)
    if len(key) != 32:
        raise ValueError("a key has 32 bytes")
    return key

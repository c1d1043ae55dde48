"""allauth's adapter for second factors, which encrypts secrets in the database."""

import base64
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.utils.crypto import salted_hmac


class UnreadableSecret(Exception):
    """The secret was encrypted with a SECRET_KEY that is not known any more."""


class SecondFactors(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        """Encrypt with a key derived from SECRET_KEY, so that a copy of the database alone yields no codes."""
        encrypted: bytes = _cipher().encrypt(text.encode())
        return encrypted.decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt a stored secret. Raises UnreadableSecret if no current or fallback SECRET_KEY fits."""
        from cryptography.fernet import InvalidToken

        try:
            text: bytes = _cipher().decrypt(encrypted_text.encode())
        except InvalidToken:
            raise UnreadableSecret from None
        return text.decode()

    def get_totp_label(self, user: object) -> str:
        return str(user)

    def get_totp_issuer(self) -> str:
        return "Turnwire"


def _cipher() -> Any:
    from cryptography.fernet import Fernet, MultiFernet  # other processes do not load it

    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    keys = [
        salted_hmac("web.accounts.second_factor", "key", secret=one, algorithm="sha256").digest()
        for one in secrets
    ]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])

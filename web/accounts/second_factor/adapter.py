"""allauth's adapter of second factors: secrets are encrypted in the database."""

import base64
from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.utils.crypto import salted_hmac


class UnreadableSecret(Exception):
    """It was encrypted with a SECRET_KEY that is not known any more."""


class SecondFactors(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        """With a key of SECRET_KEY: a copy of the database alone gives no codes."""
        encrypted: bytes = _cipher().encrypt(text.encode())
        return encrypted.decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Raises UnreadableSecret under another SECRET_KEY."""
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
    from cryptography.fernet import Fernet, MultiFernet  # other processes do without

    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    keys = [
        salted_hmac("web.accounts.second_factor", "key", secret=one, algorithm="sha256").digest()
        for one in secrets
    ]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])

"""An authenticator in software: makes passkeys and answers challenges as a browser does, also wrongly."""

import hashlib
import json
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

ORIGIN = "http://localhost"
FLAG = AuthenticatorData.FLAG


class Authenticator:
    """One device with one passkey. counter: zero as long as it does not count."""

    def __init__(self, *, counter: int = 0, verifies: bool = True) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = uuid4().bytes
        self.counter = counter
        self.flags = FLAG.UP | (FLAG.UV if verifies else FLAG(0))
        self.handle = b""

    def make(self, options: dict[str, Any], *, origin: str = ORIGIN, **extensions: Any) -> str:
        """Answer navigator.credentials.create()."""
        self.handle = websafe_decode(options["user"]["id"])
        public = ES256.from_cryptography_key(self.key.public_key())
        credential = AttestedCredentialData.create(bytes(16), self.id, public)
        data = AuthenticatorData.create(
            self._hash(options["rp"]["id"]), self.flags | FLAG.AT, self.counter, credential
        )
        attestation = AttestationObject.create("none", data, {})
        client = CollectedClientData.create("webauthn.create", options["challenge"], origin)
        fields = {"clientDataJSON": client, "attestationObject": attestation}
        return self._credential(fields, {"credProps": {"rk": True}} | extensions)

    def answer(self, options: dict[str, Any], *, origin: str = ORIGIN, handle: bytes | None = None) -> str:
        """Answer navigator.credentials.get()."""
        if self.counter:
            self.counter += 1
        data = AuthenticatorData.create(self._hash(options["rpId"]), self.flags, self.counter)
        client = CollectedClientData.create("webauthn.get", options["challenge"], origin)
        signature = self.key.sign(data + client.hash, ec.ECDSA(SHA256()))
        own = self.handle if handle is None else handle
        fields = {"clientDataJSON": client, "authenticatorData": data, "signature": signature}
        return self._credential(fields | ({"userHandle": own} if own else {}), {})

    def _credential(self, fields: dict[str, bytes], extensions: dict[str, Any]) -> str:
        name = websafe_encode(self.id)
        return json.dumps({
            "id": name,
            "rawId": name,
            "type": "public-key",
            "response": {field: websafe_encode(bytes(value)) for field, value in fields.items()},
            "clientExtensionResults": extensions,
        })  # fmt: skip

    def _hash(self, domain: str) -> bytes:
        return hashlib.sha256(domain.encode()).digest()

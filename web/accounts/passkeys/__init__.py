"""Passkeys (WebAuthn), as a second factor beside the password and as a login without one, by fido2: decision 0123."""

"""Passkeys (WebAuthn): a second factor beside the password, and a login without one, by fido2: decision 0123."""

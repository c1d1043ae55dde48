"""The codes that an authenticator app shows (RFC 4226), computed apart from the product and its libraries."""

import base64
import hmac


def code_of(secret: str, period: int) -> str:
    digest = hmac.digest(base64.b32decode(secret), period.to_bytes(8, "big"), "sha1")
    start = digest[-1] & 15
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 1_000_000:06}"

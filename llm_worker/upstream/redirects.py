"""Finds where servers redirect requests to, so that staff can enter that address. Pure.

transport.py follows redirects, except those to other hosts (redirect_target).
"""

from typing import Final

import httpx2

from llm_worker.upstream.redaction import redact

# Name of the response extension that holds the address that answered, if the request was sent to another one.
REDIRECTED: Final = "redirected"
REDIRECTS_TO: Final = "the address redirects to "
_ENDPOINT: Final = "/chat/completions"
_MAX_CHARACTERS: Final = 500


def address_of(location: str) -> str:
    """Return the address without its query, which may hold a secret; "nowhere" if there is no address."""
    return location.partition("?")[0] or "nowhere"


def redirect_of(response: httpx2.Response, api_key: str) -> str:
    """Return the base address at which the request was, or would be, answered; empty if it was not redirected."""
    target = str(response.extensions.get(REDIRECTED, ""))
    if not target and 300 <= response.status_code < 400:
        target = _joined(response.url, response.headers.get("location", ""))
    if not target:
        return ""
    return redact(address_of(target).removesuffix(_ENDPOINT), [api_key], limit=_MAX_CHARACTERS)


def _joined(url: httpx2.URL, location: str) -> str:
    try:
        return str(url.join(location))
    except httpx2.InvalidURL:
        return location

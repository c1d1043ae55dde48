"""Sends the requests of sign-ins over the guarded client, without following redirects. Uses the SDK's client types.

Each address is checked. TLS is required, except for hosts of URL_ALLOWED_HOSTS.
"""

from typing import Final
from urllib.parse import urlsplit

import httpx2
from django.conf import settings

from features.mcp.client.oauth import SignInFailed
from knowledge.fetching.guarded_client import GuardedRequest, RequestLimits, Resolver, resolve_host, send
from knowledge.fetching.target import UrlRefused, parse_target

_LIMITS: Final = RequestLimits(max_bytes=512 * 1024, max_redirects=0)
_KEPT: Final = frozenset({"content-type", "location", "www-authenticate"})
_NOT_SENT: Final = frozenset({"host", "content-length", "connection", "accept-encoding", "user-agent"})


async def send_guarded(request: httpx2.Request, resolve: Resolver = resolve_host) -> httpx2.Response:
    """Send a request of a sign-in. A redirect of a GET is returned as an empty answer with status 302. Raises SignInFailed."""
    url = str(request.url)
    headers = {name: value for name, value in request.headers.items() if name not in _NOT_SENT}
    try:
        require_tls(url)
        sent = GuardedRequest(url, request.method, headers, await request.aread() or None)
        async with send(sent, _LIMITS, resolve) as response:
            # A server that demands no sign-in may answer with a stream that does not end.
            is_stream = response.headers.get("Content-Type", "").lower().startswith("text/event-stream")
            content = b"" if is_stream else await response.read()
    except UrlRefused as refused:
        if refused.code == "too_many_redirects":
            return httpx2.Response(302, headers={"location": refused.location}, request=request)
        raise SignInFailed(f"The server's sign-in cannot be reached ({refused.code}).") from refused
    kept = {name: value for name, value in response.headers.items() if name.lower() in _KEPT}
    return httpx2.Response(response.status, headers=kept, content=content, request=request)


def require_browser_address(address: str) -> None:
    """Check that a user may be sent to the address. Raises SignInFailed."""
    try:
        require_tls(address)
    except UrlRefused as refused:
        raise SignInFailed(f"The server's sign-in cannot be reached ({refused.code}).") from refused


def require_tls(url: str) -> None:
    """Check that the address uses TLS. Raises UrlRefused.
    Hosts of URL_ALLOWED_HOSTS, which may be on the machine itself, need none.
    """
    origin = urlsplit(url)._replace(path="", query="", fragment="").geturl()
    target = parse_target(origin, settings.URL_ALLOWED_HOSTS)
    if target.scheme != "https" and not target.is_in(settings.URL_ALLOWED_HOSTS):
        raise UrlRefused("url_scheme_blocked", "without TLS")

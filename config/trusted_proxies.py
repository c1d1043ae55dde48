"""Takes the client's address and scheme from the headers of trusted proxies (TRUSTED_PROXIES) only.

The parsing is uvicorn's. In X-Forwarded-For the last address that is not a trusted proxy counts: the addresses before
it may be the client's own invention.
"""

import logging
from typing import Any

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

logger = logging.getLogger(__name__)


class TrustedProxies(ProxyHeadersMiddleware):
    """An ASGI middleware. It warns once of a proxy that is not trusted: its clients share one address and one limit."""

    has_warned = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not self.has_warned and scope["type"] != "lifespan":
            self._warn_of_ignored_header(scope)
        await super().__call__(scope, receive, send)

    def _warn_of_ignored_header(self, scope: Any) -> None:
        peer = (scope.get("client") or ("",))[0]
        if peer not in self.trusted_hosts and any(name == b"x-forwarded-for" for name, _ in scope["headers"]):
            self.has_warned = True
            logger.warning("X-Forwarded-For from %s is ignored: it is not in TRUSTED_PROXIES", peer)

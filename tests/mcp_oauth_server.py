"""An MCP server of the SDK with its own authorization server, in a thread. Who comes with a browser is let in at once.

The test decides how long tokens live, and revokes them.
"""

import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    TokenError,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp_types import ElicitRequest, ElicitRequestURLParams, ElicitResult, InputRequiredResult

SCOPE = "tides"


class Issuer:
    """The provider of the SDK's authorization server. life_s: of access tokens.  iss: what answers name as their issuer."""

    def __init__(self, origin: str) -> None:
        self.iss = origin
        self.life_s = 3_600
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.refreshed = 0
        # The error of each renewal; empty: none.
        self.refresh_error: Any = ""
        # By name of a tool, the scope without which its calls are refused; and whether whoever asks for a scope gets it.
        self.demanded: dict[str, str] = {}
        self.grants_all = True
        self.refused = 0
        self.revocations: list[str] = []
        self.revokes = True

    def revoke(self) -> None:
        """All tokens."""
        self.access.clear()
        self.refresh.clear()

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=(params.scopes if self.grants_all else None) or [SCOPE],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state, iss=self.iss)

    async def load_authorization_code(
        self, _: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._give(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self, _: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """Each can be used once."""
        if self.refresh_error:
            raise TokenError(self.refresh_error)
        if self.refresh.pop(refresh_token.token, None) is None:
            raise TokenError("invalid_grant")
        self.refreshed += 1
        return self._give(client, scopes, None)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: Any) -> None:
        self.access.pop(token.token, None)

    def _give(
        self, client: OAuthClientInformationFull, scopes: list[str], resource: str | None
    ) -> OAuthToken:
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, resource=resource
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes)
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=self.life_s, scope=" ".join(scopes)
        )


class StepUp:
    """Refuses calls of tools for which a token has not the scope (RFC 6750, section 3.1), and revokes tokens (RFC 7009)."""

    def __init__(self, app: Any, issuer: Issuer) -> None:
        self.app = app
        self.issuer = issuer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        is_revocation = scope["type"] == "http" and scope["path"] == "/revoke"
        if (
            scope["type"] != "http"
            or not (self.issuer.demanded or is_revocation)
            or scope["method"] != "POST"
        ):
            return await self.app(scope, receive, send)
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if is_revocation:
            status = self._revoke(body) if self.issuer.revokes else 503
            await send({"type": "http.response.start", "status": status, "headers": []})
            return await send({"type": "http.response.body", "body": b""})
        demanded = self._demanded(body)
        token = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
        held = self.issuer.access.get(token)
        if demanded and held and demanded not in held.scopes:
            self.issuer.refused += 1
            challenge = f'Bearer error="insufficient_scope", scope="{SCOPE} {demanded}"'
            headers = [(b"www-authenticate", challenge.encode())]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            return await send({"type": "http.response.body", "body": b""})
        read = [{"type": "http.request", "body": body}]

        async def again() -> Any:
            return read.pop() if read else await receive()

        return await self.app(scope, again, send)

    def _revoke(self, body: bytes) -> int:
        """The SDK's own takes no clients that authenticate by a header."""
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        tokens = self.issuer.refresh if form["token_type_hint"] == "refresh_token" else self.issuer.access
        is_known = tokens.pop(form["token"], None) is not None
        self.issuer.revocations.append(f"{form['token_type_hint']} {is_known}")
        return 200

    def _demanded(self, body: bytes) -> str | None:
        try:
            message = json.loads(body)
        except ValueError:
            return None
        is_call = isinstance(message, dict) and message.get("method") == "tools/call"
        return self.issuer.demanded.get(message["params"]["name"]) if is_call else None


@contextmanager
def serve(port: int) -> Iterator[Issuer]:
    origin = f"http://127.0.0.1:{port}"
    issuer = Issuer(origin)
    server = MCPServer(
        "Harbour",
        auth_server_provider=issuer,
        # As text: an address that pydantic has parsed ends in "/", and is another issuer.
        auth=AuthSettings.model_validate(
            {
                "issuer_url": origin,
                "resource_server_url": f"{origin}/mcp",
                "client_registration_options": ClientRegistrationOptions(
                    enabled=True, default_scopes=[SCOPE]
                ),
                "revocation_options": RevocationOptions(enabled=True),
                "required_scopes": [SCOPE],
                "validate_token_resource": False,
            }
        ),
    )

    @server.tool()
    def tide(place: str) -> str:
        """Tells the tide."""
        return f"high at {place}"

    @server.tool()
    def pay(place: str, context: Context) -> str | InputRequiredResult:
        """Sends its user to a page, which is never requested."""
        answer = (context.input_responses or {}).get("paid")
        if not isinstance(answer, ElicitResult):
            asked = ElicitRequestURLParams(
                message=f"Pay for {place}.", url=f"https://pay.example.com/{place}"
            )
            return InputRequiredResult(input_requests={"paid": ElicitRequest(params=asked)})
        return f"paid: {answer.action}"

    @server.resource("tides://table", name="table", title="Table of tides", mime_type="text/markdown")
    def table() -> str:
        """All of this year."""
        token = get_access_token()
        return f"# Tides of {token.client_id if token else 'nobody'}"

    @server.prompt(title="Ask for a tide")
    def ask_tide(place: str, day: str = "today") -> str:
        """Asks for the tide at a place."""
        return f"How is the tide at {place} {day}?"

    config = uvicorn.Config(
        StepUp(server.streamable_http_app(), issuer), host="127.0.0.1", port=port, log_level="critical"
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
        assert thread.is_alive()
    try:
        yield issuer
    finally:
        # Clients may keep streams open.
        running.should_exit = running.force_exit = True
        thread.join()

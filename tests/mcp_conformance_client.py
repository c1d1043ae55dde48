"""The client that the conformance suite of the Model Context Protocol runs: the connections of a worker.

`python -m tests.mcp_conformance_client URL` lists the tools of the server and calls each with numbers, as the suite's ask for.
"""

import asyncio
import json
import os
import sys
from typing import Any
from urllib.parse import urlsplit

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


CALLBACK = "http://localhost:3000/callback"
# The document that the suite expects.
CLIENT = "https://conformance-test.local/client-metadata.json"


async def call(connections: Any, server: Any, tool: str, arguments: dict[str, Any]) -> None:
    """As a user does who sends every form as it is shown."""
    from chat.transcript.questions import Answered
    from features.mcp.client.configuration import MAX_QUESTIONS, Asked, Caller, CallFailed, ServerUnavailable

    async def show(*_: object) -> None:
        pass

    answers: tuple[Answered, ...] = ()
    for _ in range(MAX_QUESTIONS):
        try:
            await connections.call(server, tool, arguments, Caller("key", show, answers))
        except ServerUnavailable as unavailable:
            # The user signs in again, when the next token is asked for.
            if not unavailable.needs_sign_in:
                raise
        except CallFailed as failed:
            print(f"{tool}: {failed}")
            return
        except Asked as asked:
            fields = asked.question.form["properties"]
            values = {name: field["default"] for name, field in fields.items() if "default" in field}
            answers = (*answers, Answered(asked.question, values))
        else:
            return


def calls_of(tools: list[Any]) -> list[tuple[str, Any]]:
    """The calls that the scenario names, or one of each tool."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    named = [(each["name"], each["arguments"]) for each in context.get("toolCalls", ())]
    return named or [(tool.name, arguments_of(tool, tools)) for tool in tools]


def arguments_of(tool: Any, tools: list[Any]) -> dict[str, Any]:
    """Numbers for most, and for a schema what a worker stores of the first tool."""
    from features.mcp.client.listing import describe, stored_tools

    properties = tool.input_schema.get("properties", {})
    arguments: dict[str, Any] = {name: number for number, name in enumerate(properties, 2)}
    if properties.get("schema", {}).get("type") == "object":
        [first], _ = stored_tools("conformance", [describe(tools[0])])
        arguments["schema"] = first["parameters"]
    return arguments


async def registered(url: str) -> Any:
    """The client that the suite has registered, with the issuer that its server names; None in other scenarios."""
    import httpx2

    from features.mcp.client.oauth import RegisteredClient

    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    if "client_id" not in context:
        return None
    place = httpx2.URL(url)
    metadata = place.copy_with(path=f"/.well-known/oauth-protected-resource{place.path}")
    issuer = httpx2.get(metadata).json()["authorization_servers"][0]
    return RegisteredClient(issuer, context["client_id"], context["client_secret"])


async def sign_in(url: str, scope: str) -> tuple[str, str]:
    """The token of a user who is let in at once, and the scope that was asked for."""
    import httpx2

    from features.mcp.client.oauth import SignInFailed, Visit, begin
    from features.mcp.client.oauth_requests import send_guarded
    from features.mcp.client.oauth_tokens import exchange

    visit = Visit(url, CALLBACK, "the-state", CLIENT, scope=scope, registered=await registered(url))
    address, flow = await begin(visit, send_guarded)
    came = httpx2.URL(httpx2.get(address).headers["Location"]).params
    if came.get("state") != "the-state":
        raise SignInFailed("The state is another one.")
    grant = await exchange(flow, came["code"], came.get("iss"), send_guarded)
    return str(grant.secret.access_token), grant.secret.asked_scope or ""


class SignIns:
    """Of the one user. asked: the scope of the latest."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.token_now = self.asked = self.wanted = ""

    async def token(self, _: str, refused: str = "") -> str:
        """One for each refusal, and for each scope that is demanded."""
        if not self.token_now or self.token_now == refused or self.wanted:
            self.token_now, self.asked = await sign_in(self.url, f"{self.asked} {self.wanted}".strip())
            self.wanted = ""
        return self.token_now

    async def demand(self, _: str, scope: str) -> bool:
        """As features/mcp/client/credentials.py."""
        if set(scope.split()) <= set(self.asked.split()):
            return False
        self.wanted = scope
        return True


async def main(url: str) -> None:
    from features.mcp.client.configuration import Configuration, ServerUnavailable
    from features.mcp.client.connections import Connections

    server = Configuration("id", "1", "conformance", (), url, (), ())
    connections = Connections(tokens=SignIns(url))
    try:
        listed = await connections.list_tools(server)
    except ServerUnavailable as unavailable:
        if not unavailable.needs_sign_in:
            raise
        server = server._replace(credential="signed in")
        listed = await connections.list_tools(server)
    for tool, arguments in calls_of(listed.tools):
        await call(connections, server, tool, arguments)
    await connections.close()


if __name__ == "__main__":
    os.environ |= {"DEBUG": "1", "URL_ALLOWED_HOSTS": str(urlsplit(sys.argv[1]).hostname)}
    django.setup()
    asyncio.run(main(sys.argv[1]))

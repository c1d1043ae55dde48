"""The client that the conformance suite of the Model Context Protocol runs: the connections of a worker.

`python -m tests.mcp_conformance_client URL` lists the tools of the server and calls each with numbers, as the suite's ask for.
"""

import asyncio
import os
import sys
from typing import Any
from urllib.parse import urlsplit

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


CALLBACK = "http://localhost:3000/callback"
# The document that the suite expects.
CLIENT = "https://conformance-test.local/client-metadata.json"


async def call(connections: Any, server: Any, tool: str, arguments: dict[str, int]) -> None:
    """As a user does who sends every form as it is shown."""
    from chat.transcript.questions import Answered
    from llm_worker.mcp.configuration import Asked, Caller

    async def show(*_: object) -> None:
        pass

    answers: tuple[Answered, ...] = ()
    while True:
        try:
            await connections.call(server, tool, arguments, Caller("key", show, answers))
        except Asked as asked:
            fields = asked.question.form["properties"]
            values = {name: field["default"] for name, field in fields.items() if "default" in field}
            answers = (*answers, Answered(asked.question, values))
        else:
            return


async def sign_in(url: str) -> str:
    """The token of a user who is let in at once."""
    import httpx2

    from llm_worker.mcp.oauth import SignInFailed, Visit, begin
    from llm_worker.mcp.oauth_requests import send_guarded
    from llm_worker.mcp.oauth_tokens import exchange

    address, flow = await begin(Visit(url, CALLBACK, "the-state", CLIENT), send_guarded)
    came = httpx2.URL(httpx2.get(address).headers["Location"]).params
    if came.get("state") != "the-state":
        raise SignInFailed("The state is another one.")
    grant = await exchange(flow, came["code"], came.get("iss"), send_guarded)
    return str(grant.secret.access_token)


async def main(url: str) -> None:
    from llm_worker.mcp.configuration import Configuration, ServerUnavailable
    from llm_worker.mcp.connections import Connections

    tokens: list[str] = []

    async def token(_: str, refused: str) -> str:
        """One for each refusal."""
        if not tokens or tokens[-1] == refused:
            tokens.append(await sign_in(url))
        return tokens[-1]

    server = Configuration("id", "1", "conformance", (), url, (), ())
    connections = Connections(tokens=token)
    try:
        listed = await connections.list_tools(server)
    except ServerUnavailable as unavailable:
        if not unavailable.needs_sign_in:
            raise
        server = server._replace(credential="signed in")
        listed = await connections.list_tools(server)
    for tool in listed.tools:
        arguments = {name: number for number, name in enumerate(tool.input_schema.get("properties", {}), 2)}
        await call(connections, server, tool.name, arguments)
    await connections.close()


if __name__ == "__main__":
    os.environ |= {"DEBUG": "1", "URL_ALLOWED_HOSTS": str(urlsplit(sys.argv[1]).hostname)}
    django.setup()
    asyncio.run(main(sys.argv[1]))

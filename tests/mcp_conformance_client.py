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


async def call(connections: Any, server: Any, tool: str, arguments: dict[str, int]) -> None:
    """As a user does who sends every form as it is shown."""
    from chat.transcript.forms import Answered
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


async def main(url: str) -> None:
    from llm_worker.mcp.configuration import Configuration
    from llm_worker.mcp.connections import Connections

    server = Configuration("id", "1", "conformance", (), url, (), ())
    connections = Connections()
    listed = await connections.list_tools(server)
    for tool in listed.tools:
        arguments = {name: number for number, name in enumerate(tool.input_schema.get("properties", {}), 2)}
        await call(connections, server, tool.name, arguments)
    await connections.close()


if __name__ == "__main__":
    os.environ |= {"DEBUG": "1", "URL_ALLOWED_HOSTS": urlsplit(sys.argv[1]).netloc}
    django.setup()
    asyncio.run(main(sys.argv[1]))

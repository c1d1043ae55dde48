"""The client that the conformance suite of the Model Context Protocol runs: the connections of a worker.

`python -m tests.mcp_conformance_client URL` lists the tools of the server and calls each with numbers, as the suite's ask for.
"""

import asyncio
import os
import sys
from urllib.parse import urlsplit

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


async def main(url: str) -> None:
    from llm_worker.mcp.configuration import Configuration
    from llm_worker.mcp.connections import Connections

    async def show(*_: object) -> None:
        pass

    server = Configuration("id", "1", "conformance", (), url, (), ())
    connections = Connections()
    listed = await connections.list_tools(server)
    for tool in listed.tools:
        arguments = {name: number for number, name in enumerate(tool.input_schema.get("properties", {}), 2)}
        await connections.call(server, tool.name, arguments, "key", show)
    await connections.close()


if __name__ == "__main__":
    os.environ |= {"DEBUG": "1", "URL_ALLOWED_HOSTS": urlsplit(sys.argv[1]).netloc}
    django.setup()
    asyncio.run(main(sys.argv[1]))

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from chat.models import McpServer, ModelConfig
from features.mcp.client.configuration import Configuration
from tests.features.mcp.client.client import Client
from tests.features.mcp.client.scripted_http import Scripted
from tests.features.mcp.worker_tasks import list_mcp_tools
from tests.instance import ROOT, free_port
from tests.mcp_oauth_server import Issuer, serve


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client()
    yield made
    await made.connections.close()


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the calls that change something have written."""
    path = tmp_path / "journal"
    path.touch()
    monkeypatch.setenv("JOURNAL", str(path))
    monkeypatch.setenv("WORKER_ROOT", str(ROOT))
    return path


@pytest.fixture
def issuer(settings: Any) -> Iterator[Issuer]:
    port = free_port()
    settings.URL_ALLOWED_HOSTS = frozenset({f"127.0.0.1:{port}"})
    with serve(port) as serving:
        yield serving


@pytest.fixture
def harbour(issuer: Issuer, runtime: Any, transactional_db: None) -> McpServer:
    """The server of the issuer, which demands a sign-in."""
    server = McpServer.objects.create(
        name="harbour", transport="http", url=f"{issuer.iss}/mcp", approval="never"
    )
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    return server


@pytest.fixture
def session(agent_session: Any, upstream: Any) -> Any:
    """Its agent has the tools of `harbour`."""
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    return agent_session(tools=["harbour__*"])


@pytest.fixture
async def scripted(settings: Any) -> AsyncIterator[Callable[..., Any]]:
    """Starts a scripted server; returns it and how it is reached."""
    runners: list[web.AppRunner] = []

    async def start(
        answer: Callable[[dict[str, Any]], Any], kind: type[Scripted] = Scripted
    ) -> tuple[Scripted, Configuration]:
        server, port = kind(answer), free_port()
        app = web.Application()
        app.router.add_route("*", "/mcp", server.handle)
        runners.append(web.AppRunner(app))
        await runners[-1].setup()
        await web.TCPSite(runners[-1], "127.0.0.1", port).start()
        settings.URL_ALLOWED_HOSTS = frozenset({f"127.0.0.1:{port}"})
        return server, Configuration("id", "1", "scripted", (), f"http://127.0.0.1:{port}/mcp", (), ())

    yield start
    for runner in runners:
        await runner.cleanup()

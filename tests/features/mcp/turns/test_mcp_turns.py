"""Runs that are offered tools of MCP servers, with a real server over stdio."""

import sys

import pytest

from chat.metrics.counters import REGISTRY
from chat.models import McpServer, ModelConfig, ToolCall, ToolPolicy
from chat.protocol import wire
from chat.protocol.states import Status
from tests import factories
from tests.features.mcp.worker_tasks import list_mcp_tools
from tests.llm_worker import screens
from tests.tool_fixtures import tool_responses


def call(name: str, **arguments: object) -> dict:
    return {"call": {"name": f"tests__{name}", "arguments": arguments}}


def counted(tool: str) -> float:
    labels = {"tool": tool, "status": "completed"}
    return REGISTRY.get_sample_value("turnwire_tool_call_seconds_count", labels) or 0


@pytest.fixture
def server(runtime, transactional_db, tmp_path, monkeypatch, settings, preloaded_server):
    """A server of the SDK, whose tools the worker has listed."""
    monkeypatch.setenv("MCP_JOURNAL", str(tmp_path / "journal"))
    (tmp_path / "journal").touch()
    settings.MCP_COMMANDS = [sys.executable]
    server = McpServer.objects.create(
        name="tests",
        transport="stdio",
        command=preloaded_server.command("tests.mcp_server", "stdio"),
        env={"JOURNAL": "MCP_JOURNAL"},
    )
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    return server


@pytest.fixture
def session(agent_session, upstream):
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    return agent_session(tools=["tests__*"])


def test_a_model_is_offered_the_tools_and_reads_what_they_answer(server, answer, upstream):
    assert (server.status, server.problem) == ("ready", "")
    before = counted("tests__echo")
    run = answer(call("echo", text="Ebbe"), call("add", a=1, b=2), call("made_up"))
    assert run.status == Status.COMPLETED, run.error_code
    offered = {tool["function"]["name"] for tool in upstream.requests[0].body["tools"]}
    assert {"tests__echo", "tests__write"} <= offered
    assert (counted("tests__echo"), counted("tests__made_up")) == (before + 1, 0)
    first, second, _ = tool_responses(upstream.requests[-1])
    assert first == "echo: Ebbe"
    assert '"sum": 3' in second
    client = factories.api_client(run.turn.session.owner)
    *_, shown = client.get(f"/api/sessions/{run.turn.session_id}/messages/").json()
    assert [call["status"] for call in shown["tool_calls"]] == ["completed", "completed", "failed"]
    assert shown["tool_calls"][1]["structured"] == {"sum": 3}


def test_readers_are_told_how_far_a_call_is(server, answer):
    run = answer(call("steps"))
    packets = [packet.obj for packet in screens.entries(run)]
    told = [obj for obj in packets if isinstance(obj, wire.ToolProgress)]
    assert (told[0].done, told[0].total, told[0].text) == (0, 3, "step 0")
    [ended] = [obj for obj in packets if isinstance(obj, wire.SectionEnd) and obj.tool_call_id]
    assert packets.index(told[-1]) < packets.index(ended)
    assert told[0].tool_call_id == ended.tool_call_id


@pytest.mark.parametrize(
    ("of_server", "of_tool", "waits"),
    [
        ("ask_unless_read_only", None, True),
        ("never", None, False),
        ("never", "ask", True),
        ("ask", "never", False),
    ],
)
def test_whether_a_call_waits_is_said_by_a_rule_of_its_tool_or_else_of_its_server(
    server, answer, tmp_path, of_server, of_tool, waits
):
    McpServer.objects.update(approval=of_server)
    if of_tool:
        ToolPolicy.objects.create(name="tests__write", approval=of_tool)
    run = answer(call("write", text="a line"))
    assert (run.status == Status.WAITING) == waits
    row = ToolCall.objects.get(run=run)
    assert (tmp_path / "journal").read_text() == ("" if waits else f"a line {row.pk}\n")


def test_a_server_that_ends_in_a_call_leaves_its_outcome_open_and_the_answer_goes_on(
    server, answer, upstream
):
    McpServer.objects.update(approval="never")
    run = answer(call("crash"))
    assert run.status == Status.COMPLETED
    row = ToolCall.objects.get(run=run)
    assert (row.status, "may or may not have taken effect" in row.response) == ("unknown", True)


def test_a_server_that_is_down_offers_nothing_says_why_and_holds_up_no_answer(
    server, answer, upstream, runtime
):
    McpServer.objects.update(command=[sys.executable, "-c", "raise SystemExit('no tide table')"])
    server.refresh_from_db()
    server.change(env={})
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert (server.status, "no tide table" in server.problem, server.offered_to()) == ("down", True, [])
    run = answer()
    assert run.status == Status.COMPLETED
    assert "tools" not in upstream.requests[0].body


def test_a_program_that_is_no_longer_allowed_is_neither_started_nor_offered(
    server, answer, upstream, runtime, settings
):
    settings.MCP_COMMANDS = []
    assert answer().status == Status.COMPLETED
    assert "tools" not in upstream.requests[0].body
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert (server.status, "MCP_COMMANDS does not name" in server.problem) == ("down", True)


def test_variables_that_may_not_be_named_any_more_are_given_to_no_server(server, runtime, settings):
    settings.MCP_VARIABLE_PREFIX = "OF_SERVERS_"
    list_mcp_tools(runtime, str(server.pk))
    server.refresh_from_db()
    assert (server.status, "is not given to MCP servers" in server.problem) == ("down", True)


def test_a_listing_of_a_configuration_that_was_changed_meanwhile_is_not_stored(server):
    stale = McpServer.objects.get(pk=server.pk)
    server.change(env={})
    assert not McpServer.objects.record_listing(stale, status="ready", tools=stale.tools)
    server.refresh_from_db()
    assert (server.status, server.tools) == ("down", [])


def test_of_more_tools_than_a_model_server_takes_those_called_most_are_sent(server, answer, upstream):
    """The limit is learned of a refusal; places are kept for the tools that search files and knowledge bases."""

    def offered() -> list[list[str]]:
        return [[tool["function"]["name"] for tool in one.body["tools"]] for one in upstream.requests]

    said = "Invalid 'tools': array too long. Expected an array with maximum length 5, but got one of more."
    upstream.reply({"status": 400, "body": {"error": {"message": said}}}, times=1)
    answer(call("write", text="a"), call("write", text="b"))
    every, first, *_ = offered()
    assert len(every) > 5
    assert first == every[:5]
    assert ModelConfig.objects.get().max_tools == 5
    run = answer(call("write", text="c"))
    assert len(offered()[-1]) == 2
    assert "tests__write" in offered()[-1]
    user = factories.api_client(run.turn.session.owner)
    context = user.get(f"/api/runs/{run.pk}/").json()["context"]
    assert context["left_out_tools"] == len(every) - 2

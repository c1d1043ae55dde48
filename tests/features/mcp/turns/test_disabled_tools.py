"""Staff disable an MCP server or one of its tools, or delete the server: running answers stop calling it at once."""

from functools import partial

import pytest

from chat.models import McpServer, ToolCall
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.turns.approvals import ApprovalBody, decide, get_approval
from tests.features.mcp.turns.test_mcp_turns import call, server, session
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended, wait_for_text
from tests.tool_fixtures import tool_responses

__all__ = ["server", "session"]  # fixtures

GONE = "is not available any more"


def disable_server() -> None:
    McpServer.objects.get().change(is_enabled=False)


def disable_tools() -> None:
    McpServer.objects.get().change(enabled_tools=["echo"])


def delete_server() -> None:
    McpServer.objects.get().delete()


disabling = pytest.mark.parametrize("disable", [disable_server, disable_tools, delete_server])


@pytest.fixture
def calling(server, session, ask, deliver, upstream, tmp_path):
    """A run whose call of the server waits there until it is cancelled, and what delivers it."""
    McpServer.objects.update(approval="never")
    upstream.reply(call("wait"), times=1)
    [run] = ask("Go", "plain", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: journal_of(tmp_path) == ["waiting"])
    return run, future


def journal_of(tmp_path) -> list[str]:
    return (tmp_path / "journal").read_text().splitlines()


@disabling
def test_a_running_call_ends_and_the_answer_goes_on_without_the_tool(disable, calling, upstream, tmp_path):
    run, future = calling
    upstream.reply({"text": "Done."})
    disable()
    assert future.result(30) is True
    ended(run, Status.COMPLETED, text="Done.")
    [ended_call] = ToolCall.objects.filter(run=run)
    assert (ended_call.status, GONE in ended_call.response) == ("unknown", True)
    assert GONE in tool_responses(upstream.requests[-1])[0]
    upstream.wait_for(lambda: journal_of(tmp_path) == ["waiting", "cancelled"])
    offered = {tool["function"]["name"] for tool in upstream.requests[-1].body.get("tools", ())}
    assert offered == ({"tests__echo"} if disable is disable_tools else set())


@disabling
def test_a_call_that_the_model_makes_all_the_same_is_refused(disable, calling, upstream, tmp_path):
    run, future = calling
    upstream.reply(call("write", text="late"), times=1)
    upstream.reply({"text": "Done."})
    disable()
    assert future.result(30) is True
    ended(run, Status.COMPLETED, text="Done.")
    assert "late" not in "".join(journal_of(tmp_path))
    assert ToolCall.objects.filter(run=run, name="tests__write").get().status == "failed"


@disabling
def test_a_call_that_the_model_was_writing_neither_runs_nor_waits_for_approval(
    disable, server, session, ask, deliver, upstream, runtime
):
    upstream.reply({"text": "Half"}, {"wait": "the disabling"}, call("write", text="late"), times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Go", "plain", session=session)
    future = deliver(run)
    wait_for_text(upstream, run)
    [attempt] = runtime._attempts.values()
    disable()
    upstream.wait_for(lambda: any(tool.is_disabled for tool in attempt.tools))
    upstream.release("the disabling")
    assert future.result(30) is True
    ended(run, Status.COMPLETED)
    assert ToolCall.objects.filter(run=run).get().status == "failed"


@disabling
def test_a_call_that_waits_for_approval_can_only_be_refused(disable, server, answer, upstream):
    run = answer(call("write", text="late"))
    user, row = run.turn.session.owner, ToolCall.objects.get(run=run)
    reply = partial(decide, get_approval(user, row.pk))
    disable()
    with pytest.raises(ApiError) as refused:
        reply(ApprovalBody(approved=True))
    assert refused.value.code == "tool_unavailable"
    run.refresh_from_db()
    assert run.status == Status.WAITING
    reply(ApprovalBody(approved=False))
    another_worker_does([run])
    ended(run, Status.COMPLETED, text="Done.")

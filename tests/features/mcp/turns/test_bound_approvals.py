"""What a user has allowed holds for that tool of that server, and for no other that has its name."""

from typing import Any

import pytest

from chat.models import Approval, McpServer, Run, ToolCall, ToolPolicy
from chat.protocol.states import Status
from chat.protocol.wire import ApprovalRequired
from chat.turns.approvals import ApprovalBody, decide, get_approval
from tests import factories
from tests.features.mcp.turns.test_mcp_turns import call, server, session
from tests.features.mcp.worker_tasks import list_mcp_tools
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.screens import entries
from tests.tool_fixtures import tool_responses

__all__ = ["server", "session"]  # fixtures

ALLOWED = ApprovalBody(approved=True)
LINE = call("write", text="a line")
ALWAYS = ApprovalBody(approved=True, remember="session")
AT_NOON = ApprovalBody(approved=True, values={"time": "noon"})


def another_server(server: McpServer) -> None:
    """Staff delete it, and enter one of the same name."""
    kept = {"command": server.command, "env": server.env, "tools": server.tools, "status": server.status}
    server.delete()
    McpServer.objects.create(name=server.name, transport="stdio", **kept)


def another_address(server: McpServer) -> None:
    McpServer.objects.filter(pk=server.pk).update(command=[*server.command, "elsewhere"])


def another_definition(server: McpServer) -> None:
    for tool in server.tools:
        tool["description"] += " And sends it to everybody."
    McpServer.objects.filter(pk=server.pk).update(tools=server.tools)


CHANGES = pytest.mark.parametrize(
    ("change", "changed"),
    [(another_server, "server"), (another_address, "address"), (another_definition, "definition")],
    ids=["server", "address", "definition"],
)


@pytest.fixture
def ask_again(answer: Any, upstream: Any) -> Any:
    """Let the model make these calls in the next turn."""

    def ask_again(*calls: Any) -> Run:
        upstream.rules.clear()
        run: Run = answer(*calls)
        return run

    return ask_again


def reply_to(run: Run, reply: ApprovalBody) -> None:
    decide(get_approval(run.turn.session.owner, ToolCall.objects.get(run=run).pk), reply)


def goes_on(run: Run) -> str:
    another_worker_does([run])
    run.refresh_from_db()
    return run.status


def said_of(run: Run) -> list[str | None]:
    """Return what its readers were told has changed, by packet."""
    packets = [getattr(entry, "obj", None) for entry in entries(run)]
    return [packet.changed for packet in packets if isinstance(packet, ApprovalRequired)]


@CHANGES
def test_a_call_that_waited_is_asked_about_again_if_its_tool_has_become_another(
    server: McpServer, answer: Any, tmp_path: Any, change: Any, changed: str
) -> None:
    run = answer(LINE)
    change(server)
    reply_to(run, ApprovalBody(approved=True, arguments={"text": "another line"}))
    assert goes_on(run) == Status.WAITING
    assert (tmp_path / "journal").read_text() == ""
    client = factories.api_client(run.turn.session.owner)
    [waiting] = client.get("/api/approvals/").json()
    assert (waiting["kind"], waiting["changed"]) == ("approval", changed)
    *_, message = client.get(f"/api/sessions/{run.turn.session_id}/messages/").json()
    [shown] = message["tool_calls"]
    assert (shown["changed"], shown["arguments"]) == (changed, waiting["arguments"])
    assert shown["arguments"] == {"text": "another line"}
    assert said_of(run)[-1] == changed


def test_what_is_allowed_the_second_time_runs_with_the_arguments_shown(
    server: McpServer, answer: Any, tmp_path: Any, upstream: Any
) -> None:
    run = answer(LINE)
    another_definition(server)
    reply_to(run, ApprovalBody(approved=True, arguments={"text": "another line"}))
    goes_on(run)
    reply_to(run, ALLOWED)
    assert goes_on(run) == Status.COMPLETED
    assert (tmp_path / "journal").read_text().startswith("another line ")
    assert tool_responses(upstream.requests[-1]) == ["written"]


@CHANGES
def test_what_was_allowed_in_the_chat_is_asked_about_again_if_the_tool_has_become_another(
    server: McpServer, ask_again: Any, tmp_path: Any, change: Any, changed: str
) -> None:
    first = ask_again(LINE)
    reply_to(first, ALWAYS)
    assert goes_on(first) == Status.COMPLETED
    assert ask_again(LINE).status == Status.COMPLETED
    change(server)
    run = ask_again(LINE)
    assert run.status == Status.WAITING
    assert (tmp_path / "journal").read_text().count("a line") == 2
    assert Approval.objects.get(tool_call__run=run).changed == changed
    assert said_of(run) == [changed]


def test_an_answer_that_was_given_to_one_server_is_told_to_no_other(
    server: McpServer, answer: Any, tmp_path: Any
) -> None:
    run = answer(call("book", place="Sole"))
    reply_to(run, ALLOWED)
    goes_on(run)
    another_address(server)
    reply_to(run, AT_NOON)
    assert goes_on(run) == Status.WAITING
    assert Approval.objects.undecided().get().kind == "approval"
    reply_to(run, ALLOWED)
    assert goes_on(run) == Status.WAITING
    assert Approval.objects.undecided().get().kind == "question"
    assert (tmp_path / "journal").read_text() == ""


def test_a_call_that_was_lost_runs_again_for_no_other_server(
    server: McpServer, answer: Any, upstream: Any
) -> None:
    ToolPolicy.objects.create(name="tests__echo", approval="ask")
    run = answer(call("echo", text="Ebbe"))
    reply_to(run, ALLOWED)
    # As a worker leaves it that dies in the call.
    ToolCall.objects.update(status="running")
    another_address(server)
    assert goes_on(run) == Status.COMPLETED
    [response] = tool_responses(upstream.requests[-1])
    assert "may or may not have taken effect" in response


@pytest.mark.parametrize("change", [another_server, another_address])
def test_a_rule_that_lets_a_tool_run_unasked_holds_for_no_other_server_until_staff_save_it_again(
    server: McpServer, ask_again: Any, tmp_path: Any, change: Any
) -> None:
    policy = ToolPolicy.objects.create(name="tests__write", approval="never")
    change(server)
    assert ask_again(LINE).status == Status.WAITING
    policy.save()
    assert ask_again(LINE).status == Status.COMPLETED
    assert (tmp_path / "journal").read_text().count("a line") == 1


def test_a_rule_that_makes_a_tool_ask_holds_for_whatever_has_its_name(server: McpServer, answer: Any) -> None:
    ToolPolicy.objects.create(name="tests__echo", approval="ask")
    another_server(server)
    assert answer(call("echo", text="Ebbe")).status == Status.WAITING


def test_a_server_that_is_switched_off_and_on_is_the_same(
    server: McpServer, ask_again: Any, runtime: Any, tmp_path: Any
) -> None:
    run = ask_again(LINE)
    for is_enabled in (False, True):
        server.change(is_enabled=is_enabled)
    list_mcp_tools(runtime, str(server.pk))
    reply_to(run, ALWAYS)
    assert goes_on(run) == Status.COMPLETED
    assert ask_again(LINE).status == Status.COMPLETED
    assert (tmp_path / "journal").read_text().count("a line") == 2

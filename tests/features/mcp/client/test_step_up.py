"""A server that demands more of a call than its user has signed in for lets the call wait for another sign-in, once."""

from typing import Any

import pytest

from chat.models import McpCredential, McpServer, Run
from chat.protocol.states import Status
from features.mcp.sign_ins import sign_in_states
from tests import factories
from tests.features.mcp.client.client import TIDE, sign_in
from tests.mcp_oauth_server import Issuer
from tests.tool_fixtures import tool_responses

pytestmark = [pytest.mark.e2e]


@pytest.fixture
def waiting(harbour: McpServer, runtime: Any, session: Any, answer: Any, issuer: Issuer) -> Run:
    """For more than the user has signed in for."""
    sign_in(runtime, harbour, session.owner)
    issuer.demanded["tide"] = "tides:read"
    run: Run = answer(TIDE)
    assert run.status == Status.WAITING
    return run


def test_the_call_is_made_once_its_user_has_signed_in_with_what_the_server_demands(
    waiting: Run, harbour: McpServer, runtime: Any, session: Any, upstream: Any
) -> None:
    assert McpCredential.objects.get().wanted_scope == "tides tides:read"
    [listed] = factories.api_client(session.owner).get("/api/approvals/").json()
    assert listed["sign_in"]["again"]
    assert sign_in_states(session.owner, [harbour]) == {harbour: "needs_sign_in"}
    sign_in(runtime, harbour, session.owner)
    assert McpCredential.objects.get().secret["scope"] == "tides tides:read"
    assert sign_in_states(session.owner, [harbour]) == {harbour: "signed_in"}
    assert runtime.run(str(waiting.pk))
    waiting.refresh_from_db()
    assert waiting.status == Status.COMPLETED
    assert tool_responses(upstream.requests[-1]) == ["high at Sole"]


def test_a_user_who_has_been_asked_for_it_and_is_not_given_it_is_not_asked_again(
    waiting: Run, harbour: McpServer, runtime: Any, session: Any, issuer: Issuer, upstream: Any
) -> None:
    issuer.grants_all = False
    sign_in(runtime, harbour, session.owner)
    assert McpCredential.objects.get().secret["scope"] == "tides"
    assert runtime.run(str(waiting.pk))
    waiting.refresh_from_db()
    assert waiting.status == Status.COMPLETED
    assert "refused the call (status 403)" in tool_responses(upstream.requests[-1])[0]
    assert sign_in_states(session.owner, [harbour]) == {harbour: "signed_in"}

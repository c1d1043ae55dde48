"""Two knowledge bases full of canaries, of which alice may read one, and her turns, in which the model searches them."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from chat.models import Run
from chat.protocol.states import Status
from knowledge.models import KnowledgeBase, KnowledgeBaseMember
from tests import factories
from tests.canaries import Leaks
from tests.indexed import add_indexed
from tests.llm_worker.outcomes import ended
from tests.llm_worker.turns.knowledge.restricted.canary_scene import CANARIES, TEXT, find_leaks
from tests.llm_worker.turns.knowledge.searches import call


@pytest.fixture
def staff(alice: Any) -> KnowledgeBase:
    """Alice is a restricted member."""
    base = KnowledgeBase.objects.start(
        factories.create_user("carol"),
        name="Staff",
        summary="zebrasummary",
        topics=["zebratopic"],
        routing_hint="Questions about carriers",
    )
    add_indexed(base, "zebratitle.txt", TEXT, url="https://staff.example/zebratitle")
    base.members.create(user=alice, role="restricted")
    return base


@pytest.fixture
def member(staff: KnowledgeBase, alice: Any) -> Any:
    """Alice's membership; she reads the documents until it changes."""
    member = KnowledgeBaseMember.objects.filter(knowledge_base=staff, user=alice)
    member.update(role="reader")
    return member


@pytest.fixture
def tides(alice: Any) -> KnowledgeBase:
    """Alice owns it."""
    base = KnowledgeBase.objects.start(alice, name="Tides", summary="yaksummary", topics=["yaktopic"])
    add_indexed(base, "yaktitle.txt", "Late deliveries of yaktext by sea cost 62831853 shells.")
    return base


@pytest.fixture
def leaks(client: Any, settings: Any, caplog: pytest.LogCaptureFixture) -> Leaks:
    """Of what Staff holds."""
    settings.LOG_LLM_REQUESTS = True
    caplog.set_level(logging.DEBUG)
    return Leaks(CANARIES)


@pytest.fixture
def everywhere(client: Any, upstream: Any, caplog: pytest.LogCaptureFixture) -> Callable[..., list[str]]:
    """everywhere(leaks, *runs): where a canary was shown, kept or sent."""
    views = factories.view_permissions(but="view_knowledge_base_contents")
    admins = factories.staff_client(*views, name="dave")

    def everywhere(leaks: Leaks, *runs: Run) -> list[str]:
        return [
            *leaks.in_requests(upstream),
            *leaks.in_logs(caplog.records),
            *find_leaks(leaks, client, admins, runs),
        ]

    return everywhere


@pytest.fixture
def talk(client: Any, deliver: Any, upstream: Any) -> Any:
    """Alice asks, the model searches once and answers; returns the run, ended."""

    def talk(session: str, text: str, query: str = "late deliveries", **body: Any) -> Run:
        upstream.reply(call(query=query), contains=text, times=1, after_tools=0)
        upstream.reply({"text": f"About {text} [1]"}, contains=text)
        started = factories.send_turn(client, session, text, **body)
        assert started.status_code == 202, started.json()
        run = Run.objects.get(pk=started.json()["runs"][0]["id"])
        deliver(run).result(60)
        ended(run, Status.COMPLETED, text=f"About {text} [1]")
        return run

    return talk

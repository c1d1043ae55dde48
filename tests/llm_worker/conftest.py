"""Fixtures: a runtime in this process, a scripted model server, and runs to deliver."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils import timezone

from chat.models import Agent, ChatMessage, ModelConfig, Run, Session, Turn
from chat.transcript.tokens import count_tokens
from llm_worker.tools.registry import TOOLS
from tests.llm_worker.scripted_tool import ScriptedTool
from tests.preloaded import Preloaded
from tests.search_server import SearchServer
from tests.upstream import Upstream

if TYPE_CHECKING:
    from llm_worker.attempt.runtime import Runtime


def pytest_asyncio_loop_factories(item: pytest.Item) -> dict[str, Any]:
    """A module's own LOOPS, for what does not go the same way on all of them."""
    return getattr(item.module, "LOOPS", {"asyncio": asyncio.new_event_loop})  # type: ignore[attr-defined]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@pytest.fixture
def runtime(transactional_db: None) -> Iterator["Runtime"]:
    # Here: what it imports takes as long as all pure tests of this folder.
    from llm_worker.attempt.runtime import Runtime

    runtime = Runtime()
    runtime.start()
    yield runtime
    runtime.stop()


@pytest.fixture
def deliver(runtime: "Runtime") -> Any:
    """Delivers a run as a Celery thread would; the future says whether it was ours to take."""
    with ThreadPoolExecutor(20) as threads:
        yield lambda run: threads.submit(runtime.run, str(run.pk))


@pytest.fixture(scope="session")
def preloaded_server() -> Iterator[Preloaded]:
    """Runs tests.mcp_server, whose imports take most of a second."""
    with Preloaded("mcp.server.mcpserver", "anyio._backends._asyncio") as preloaded:
        yield preloaded


@pytest.fixture
def ask(transactional_db: None, upstream: Upstream) -> Callable[..., list[Run]]:
    """Alice asks, in the session she already has if one is given; returns the queued runs, one per model."""

    def ask(
        text: str = "Hello?", *models: str, session: Session | None = None, **fields: object
    ) -> list[Run]:
        session = session or Session.objects.start(_alice())
        parent = session.leaf
        question = ChatMessage.objects.append(parent, role="user", text=text, token_count=count_tokens(text))
        turn = Turn.objects.create(session=session, user_message=question)
        deadline = timezone.now() + timedelta(seconds=settings.RUN_DEADLINE_S)
        runs = []
        for index, name in enumerate(models or ("scripted",)):
            config, _ = ModelConfig.objects.get_or_create(name=name, defaults={"base_url": upstream.base_url})
            answer = ChatMessage.objects.append(question, role="assistant")
            ready = {"asker_id": session.owner_id, "ready_queue": config.queue}
            columns = {"deadline": deadline, **ready, **fields}
            runs.append(
                Run.objects.create(
                    turn=turn, message=answer, model_config=config, model=name, model_index=index, **columns
                )
            )
        question.choose()
        runs[0].message.choose()
        session.point_at(runs[0].message)
        return runs

    return ask


@pytest.fixture
def agent_session(transactional_db: None) -> Callable[..., Session]:
    """A session of Alice's with an agent of her own."""

    def agent_session(**fields: object) -> Session:
        agent = Agent.objects.create(owner=_alice(), **{"name": "Helper", **fields})
        return Session.objects.start(_alice(), agent=agent)

    return agent_session


@pytest.fixture
def answer(ask: Any, deliver: Any, upstream: Upstream, session: Session) -> Callable[..., Run]:
    """The run of a question of `session`, a fixture of the module with the model `plain`, whose model makes these calls."""

    def answer(*calls: Any) -> Run:
        if calls:
            upstream.reply(*calls, times=1)
        upstream.reply({"text": "Done."})
        [run] = ask("Go", "plain", session=session)
        assert deliver(run).result(60)
        run.refresh_from_db()
        return run

    return answer


@pytest.fixture
def searching(settings: Any) -> Iterator[SearchServer]:
    """With a search server; it finds nothing until a test says what."""
    with SearchServer() as server:
        settings.WEB_SEARCH_URL = server.url
        yield server


@pytest.fixture
def scripted_tool() -> Iterator[ScriptedTool]:
    """A tool named `act`, there for this test alone."""
    TOOLS["act"] = tool = ScriptedTool("act")
    yield tool
    del TOOLS["act"]


def _alice() -> object:
    return get_user_model().objects.get_or_create(username="alice")[0]

"""alice's conversation as rows, a scripted model server, and this process's runner of compressions."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from chat.compressions import requests as compression_requests
from chat.infrastructure.redis_client import sync_redis
from chat.models import ChatMessage, Compression, ModelConfig, Run, Session, ToolCall, TriggeredBy, Turn
from chat.transcript.tokens import count_tokens
from tests import factories
from tests.upstream import Upstream

if TYPE_CHECKING:
    from compression.runner import CompressionRunner

# One token in the default encoding, with its space.
WORD = " word"
INSTRUCTIONS = "You write the summary"


@dataclass
class Talk:
    """messages: by name, u1 a1 u2 … The model's window is 3,000, its answers take 500 of it."""

    session: Session
    model: ModelConfig
    messages: dict[str, ChatMessage] = field(default_factory=dict)

    def __getitem__(self, name: str) -> ChatMessage:
        return self.messages[name]

    def turn(
        self, number: int | str, above: ChatMessage | None = None, tokens: int = 140, **more: Any
    ) -> ChatMessage:
        """A finished turn below `above` (the newest message by default); returns its answer."""
        question = self._append(f"u{number}", above or self.tip, "user", tokens)
        turn = Turn.objects.create(session=self.session, user_message=question)
        names = [f"a{number}", *more.get("siblings", [])]
        for index, name in enumerate(names):
            self._answer(name, question, turn, tokens, index)
        self.session.point_at(self[names[0]])
        return self[names[0]]

    def turns(self, count: int, tokens: int = 140) -> ChatMessage:
        """As many more, numbered from 1 on the first time."""
        done = len([name for name in self.messages if name[0] == "u"])
        for number in range(done + 1, done + count + 1):
            tip = self.turn(number, tokens=tokens)
        return tip

    @property
    def tip(self) -> ChatMessage:
        return ChatMessage.objects.get(pk=Session.objects.get(pk=self.session.pk).leaf_id)

    def ask(
        self, leaf: str, by: TriggeredBy = TriggeredBy.AUTO, model: ModelConfig | None = None
    ) -> Compression:
        asked = compression_requests.request_compression(self[leaf], model or self.model, triggered_by=by)
        assert asked
        return asked

    def summaries(self) -> list[ChatMessage]:
        return list(ChatMessage.objects.filter(session=self.session, role="summary").order_by("sent_at"))

    def name_of(self, message: Any) -> str:
        """u1, a1, …"""
        pk = getattr(message, "pk", message)
        return next(name for name, one in self.messages.items() if one.pk == pk)

    def use_tool(self, answer: str, name: str = "web_search", response: str = "secret response") -> None:
        run = self[answer].run
        ToolCall.objects.create(
            run=run, message=self[answer], turn_number=0, tab_index=0, tool_call_id=f"c-{answer}", name=name,
            arguments={"q": "private"}, response=response, status="completed",
        )  # fmt: skip

    def _append(self, name: str, parent: ChatMessage, role: str, tokens: int) -> ChatMessage:
        text = f"says {name}" + WORD * tokens
        made = ChatMessage.objects.append(parent, role=role, text=text, token_count=count_tokens(text))
        self.messages[name] = made
        made.choose()
        return made

    def _answer(self, name: str, question: ChatMessage, turn: Turn, tokens: int, index: int) -> None:
        answer = self._append(name, question, "assistant", tokens)
        Run.objects.create(
            turn=turn, message=answer, model_config=self.model, model=self.model.name, model_index=index,
            deadline=timezone.now() + timedelta(minutes=5), status="completed", ended_at=timezone.now(),
            last_seq=3, announced_at=timezone.now(),
        )  # fmt: skip


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream() as server:
        yield server


@pytest.fixture
def talk(transactional_db: None, upstream: Upstream) -> Iterator[Talk]:
    sync_redis().flushdb()
    model = factories.create_model(
        "tides", base_url=upstream.base_url, context_window=3000, max_output_tokens=500
    )
    yield Talk(Session.objects.start(factories.create_user("alice")), model)
    sync_redis().flushdb()


@pytest.fixture
def runner() -> Iterator["CompressionRunner"]:
    # Here: what it imports takes as long as all pure tests of this folder.
    from compression.runner import CompressionRunner

    runner = CompressionRunner()
    yield runner
    runner.close()


def again(asked: Compression) -> Compression:
    return Compression.objects.get(pk=asked.pk)

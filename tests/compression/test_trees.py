"""Whatever a session's tree has been through: what a summary stands for, where it is used, what its writer is shown."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.compressions import requests as compression_requests
from chat.compressions.summaries import find_summary_for_branch
from chat.models import ChatMessage, Compression, CompressionStatus, Session, TriggeredBy
from compression.prompt import MARKER
from compression.runner import new_summary, start_job, total_usage
from compression.summarise import SummaryRejected, compress_chat_history
from llm_worker.loading.branch import load_branch
from llm_worker.request.context import Budget, build_context
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.request.token_counters import estimate_tokens
from llm_worker.upstream.chat_completion import Completion
from llm_worker.upstream.model_request import Request
from tests.compression.conftest import Talk
from tests.llm_worker.request.test_context_properties import paired

NAME = re.compile(r"says ([ua][\d.]+)")
# What happens to a tree, and to which of its messages (modulo how many there are).
steps = st.lists(
    st.tuples(
        st.sampled_from(["turn", "turn", "turn", "edit", "regenerate", "models", "tools", "choose", "forget", "compress", "compress"]),
        st.integers(0, 1000),
    ),
    min_size=4,
    max_size=16,
)  # fmt: skip


@dataclass
class Scribe:
    """Writes summaries, and keeps what it was shown."""

    asked: list[list[str]] = field(default_factory=list)

    async def complete(self, request: Request) -> Completion:
        self.asked.append([f"{message.letter} {message.text}" for message in request.messages])
        return Completion("In short, of u1 and a1.", "stop")


@dataclass
class Tree:
    talk: Talk
    scribe: Scribe
    numbers: int = 0
    made: int = 0
    used_tools: set[str] = field(default_factory=set)

    def do(self, what: str, which: int) -> None:
        getattr(self, f"_{what}")(which)

    def any_answer(self, which: int) -> str:
        """Its name; after the first turn, if there is none."""
        if not self.talk.messages:
            self._turn()
        answers = [name for name in self.talk.messages if name[0] == "a"]
        return answers[which % len(answers)]

    def _turn(self, _which: int = 0, **more: Any) -> None:
        self.numbers += 1
        self.talk.turn(self.numbers, tokens=5, **more)

    def _models(self, _which: int) -> None:
        self._turn(siblings=[f"a{self.numbers + 1}.1", f"a{self.numbers + 1}.2"])

    def _edit(self, which: int) -> None:
        chosen = self.talk[self.any_answer(which)].parent
        self._turn(above=ChatMessage.objects.get(pk=chosen.parent_id))

    def _regenerate(self, which: int) -> None:
        question = self.talk[self.any_answer(which)].parent
        self.numbers += 1
        name = f"a{self.numbers}"
        self.talk._answer(name, question, question.turns.first(), 5, len(self.talk.messages))
        self.talk.session.point_at(self.talk[name])

    def _tools(self, which: int) -> None:
        name = self.any_answer(which)
        if name not in self.used_tools:
            self.used_tools.add(name)
            self.talk.use_tool(name, response="secret response" if which % 2 else "")

    def _choose(self, which: int) -> None:
        self.talk.session.point_at(self.talk[self.any_answer(which)])

    def _forget(self, _which: int) -> None:
        ChatMessage.objects.filter(pk__in=[one.pk for one in self.talk.summaries()[-1:]]).delete()

    def _compress(self, _which: int) -> None:
        if self.talk.messages:
            self.compress()

    def compress(self) -> None:
        leaf = self.talk.tip
        before = self.everything()
        asked = compression_requests.request_compression(
            leaf, self.talk.model, triggered_by=TriggeredBy.STAFF
        )
        held = Compression.objects.claim(asked.pk, owner=1) if asked else None
        assert held
        shown = len(self.scribe.asked)
        job = start_job(held)
        if job is None:
            assert compression_requests.end_without_summary(held, CompressionStatus.NOTHING)
        else:
            try:
                made = asyncio.run(compress_chat_history(job.request, self.scribe))
                self.made += bool(compression_requests.finish(held, new_summary(job, made), total_usage([])))
            except SummaryRejected as refused:
                compression_requests.end_without_summary(held, CompressionStatus.REFUSED, refused.code)
        assert self.everything() == before, "I9: originals are never touched"
        for request in self.scribe.asked[shown:]:
            self.check_shown(request, leaf)

    def check_shown(self, request: list[str], leaf: ChatMessage) -> None:
        parent = leaf if leaf.role == "user" else leaf.parent
        up_to_parent = names(ChatMessage.objects.branch_to(parent).replies())
        said = [NAME.search(text) for text in request[1:-1] if f"U {MARKER}" != text]
        spoken = [match[1] for match in said if match]
        assert spoken == up_to_parent[len(up_to_parent) - len(spoken) :], "nothing after the parent, in order"
        assert not any(text.startswith(("TC", "TR", "SUM")) for text in request)
        assert "secret" not in " ".join(request)

    def everything(self) -> list[tuple[Any, ...]]:
        """All but summaries."""
        rows = ChatMessage.objects.filter(session=self.talk.session).exclude(role="summary")
        return list(rows.order_by("id").values_list("id", "parent", "latest_child", "role", "text"))

    def check(self) -> None:
        for name, leaf in self.talk.messages.items():
            branch = names(ChatMessage.objects.branch_to(leaf).replies())
            summary = find_summary_for_branch(leaf)
            loaded = load_branch(leaf.pk)
            verbatim = [NAME.search(entry.text)[1] for entry in loaded.entries]
            if summary is None:
                assert verbatim == branch
                continue
            stored = ChatMessage.objects.get(pk=summary.id)
            on_branch = set(ChatMessage.objects.branch_to(leaf).values_list("pk", flat=True))
            assert stored.parent_id in on_branch, "used only where its parent is on the branch"
            covered = names(ChatMessage.objects.branch_to(summary.cutoff).replies())
            assert covered + verbatim == branch, "no row twice, none missing"
            assert loaded.entries[0].role == "user", "the cutoff stands right before a user row"
            assert verbatim.index(self.talk.name_of(stored.parent_id)) >= 0, "the parent stays verbatim"
            if name[0] == "u":
                prompt_parts = PromptParts(summary=summary.text)
                context = build_context(
                    loaded.entries, prompt_parts, budget=Budget(10**6), tokens_of=estimate_tokens
                )
                assert paired(list(context.messages)), "never a call without its response"
        assert ChatMessage.objects.filter(session=self.talk.session, role="root").count() == 1
        assert not ChatMessage.objects.filter(latest_child__role="summary").exists()


def names(rows: Any) -> list[str]:
    return [NAME.search(text)[1] for text in rows.values_list("text", flat=True)]


def grown(talk: Talk, history: list[tuple[str, int]]) -> Tree:
    tree = Tree(Talk(Session.objects.start(talk.session.owner), talk.model), Scribe())
    for what, which in history:
        tree.do(what, which)
    tree.do("compress", 0)
    tree.check()
    return tree


@given(steps)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@pytest.mark.timeout(300)
def test_any_tree(talk: Talk, history: list[tuple[str, int]]) -> None:
    grown(talk, history).talk.session.delete()


def test_a_tree_that_has_seen_everything(talk: Talk) -> None:
    """So that nobody has to believe that the random ones are summarised."""
    again = ["turn", "turn", "tools", "compress", "models", "turn", "compress"]
    tree = grown(
        talk, [(what, n * 7) for n, what in enumerate([*again, "edit", *again, "regenerate", *again])]
    )
    assert tree.made > 4
    assert len(tree.scribe.asked) >= tree.made

"""Loading of a page of a session's tree for the admin: its shape (tree_shape.py) with the displayed rows.

The number of queries does not depend on the tree's size; texts that are not displayed are not loaded.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from django.db.models.functions import Left, Length

from chat.models import (
    Approval,
    ChatMessage,
    Compression,
    EditedAnswer,
    Feedback,
    MessageFile,
    Run,
    Session,
    ToolCall,
    run_of,
)
from chat.transcript.readable_text import readable_text
from web.admin.read_only import visible_text
from web.admin.tree_shape import FoldedBranch, ShownMessage, TreeEntry, TreePage, TreeShape

# Displayed characters of each text; the message's own page shows the rest.
MAX_CHARACTERS: Final = 1500


@dataclass
class CallNode:
    """A tool call with its nested calls."""

    call: ToolCall
    asked: dict[str, Any] | None = None  # the arguments that the model asked for, if the user edited them
    inside: list["CallNode"] = field(default_factory=list)

    @property
    def arguments_line(self) -> str:
        """The arguments in one line."""
        return (
            visible_text(json.dumps(self.call.arguments, ensure_ascii=False)) if self.call.arguments else ""
        )

    @property
    def reasoning(self) -> str:
        """The model's reasoning before the round. All calls of the round store it; only the first one shows it."""
        return "" if self.call.tab_index else self.call.shown_reasoning  # type: ignore[attr-defined]

    @property
    def arguments(self) -> str:
        return visible_text(json.dumps(self.call.arguments, indent=1, ensure_ascii=False))

    @property
    def asked_arguments(self) -> str:
        return visible_text(json.dumps(self.asked, indent=1, ensure_ascii=False))

    @property
    def response(self) -> str:
        return visible_text(self.call.shown_response or "")  # type: ignore[attr-defined]


@dataclass
class BranchNode:
    """A FoldedBranch with its rows. size: the number of its messages. `head` opens the branch if it is not whole."""

    head: UUID
    size: int
    nodes: list["MessageNode"]
    is_whole: bool

    @property
    def excerpt(self) -> str:
        """The beginning of the first message."""
        return self.nodes[0].excerpt if self.nodes else ""


@dataclass
class SummaryNode:
    message: ChatMessage
    covered: int
    made_by: Compression | None


@dataclass
class MessageNode:
    """A message of the open branch with everything that is displayed beside it."""

    message: ChatMessage
    run: Run | None
    edited: EditedAnswer | None
    calls: list[CallNode]
    files: list[str]
    feedback: Feedback | None
    branches: list[BranchNode]
    summaries: list[SummaryNode]

    @property
    def excerpt(self) -> str:
        rounds = ((node.call.turn_number, node.call.text_before) for node in self.calls)
        return readable_text(self.message.shown_text, rounds)  # type: ignore[attr-defined]

    @property
    def is_reasoning_cut(self) -> bool:
        length: int = self.message.reasoning_length  # type: ignore[attr-defined]
        return length > MAX_CHARACTERS

    @property
    def hidden(self) -> int:
        """The number of characters left out."""
        length: int = self.message.length  # type: ignore[attr-defined]
        return max(0, length - MAX_CHARACTERS)


@dataclass(frozen=True)
class SessionTree:
    nodes: list[MessageNode]
    page: TreePage

    @property
    def latest(self) -> int:
        """The number of the last displayed message."""
        return self.page.first + len(self.nodes) - 1


def load_tree(session: Session, at: UUID | None) -> SessionTree:
    """Load one page. at: a message of the branch to open; None: the current branch."""
    columns = ("id", "parent_id", "role", "latest_child_id", "last_summarized_message_id")
    rows = session.messages.order_by("sent_at", "id").values_list(*columns)
    shape = TreeShape(map(TreeEntry._make, rows))
    page = shape.page(at)
    builder = _NodeBuilder(shape, set(_ids(page.shown)))
    return SessionTree([builder.node(one) for one in page.shown], page)


class _NodeBuilder:
    """A builder of nodes. It loads the rows of all displayed messages once."""

    def __init__(self, shape: TreeShape, ids: set[UUID]) -> None:
        self._shape = shape
        messages = ChatMessage.objects.filter(pk__in=ids).select_related("run").defer("text", "reasoning")
        shown = messages.annotate(
            shown_text=Left("text", MAX_CHARACTERS),
            length=Length("text"),
            shown_reasoning=Left("reasoning", MAX_CHARACTERS),
            reasoning_length=Length("reasoning"),
        )
        self._messages = {message.pk: message for message in shown.order_by()}
        self._edited = EditedAnswer.objects.by_message(self._messages.values())
        self._calls = _calls([one.run.pk for one in self._messages.values() if run_of(one)])
        self._files: Mapping[UUID, list[str]] = _group(
            MessageFile.objects.filter(message__in=ids).values_list("message", "file__name")
        )
        self._feedback = {one.message_id: one for one in Feedback.objects.filter(message__in=ids)}
        summaries = [pk for pk, one in self._messages.items() if one.role == "summary"]
        compressions = Compression.objects.filter(summary__in=summaries) if summaries else ()
        self._compressions = {one.summary_id: one for one in compressions}

    def node(self, shown: ShownMessage) -> MessageNode:
        message = self._messages[shown.id]
        return MessageNode(
            message,
            run_of(message),
            self._edited.get(shown.id),
            self._calls.get(shown.id, []),
            self._files.get(shown.id, []),
            self._feedback.get(shown.id),
            [self._branch(folded) for folded in shown.others],
            [self._summary(pk) for pk in shown.summaries],
        )

    def _branch(self, folded: FoldedBranch) -> BranchNode:
        return BranchNode(folded.head, folded.size, [self.node(one) for one in folded.shown], folded.is_whole)

    def _summary(self, pk: UUID) -> SummaryNode:
        return SummaryNode(self._messages[pk], self._shape.covered(pk), self._compressions.get(pk))


def _ids(shown: Iterable[ShownMessage]) -> Iterator[UUID]:
    for one in shown:
        yield one.id
        yield from one.summaries
        for folded in one.others:
            yield from _ids(folded.shown)


def _calls(runs: list[UUID]) -> dict[UUID, list[CallNode]]:
    """Load the calls by message. Nested calls are attached to their parent."""
    if not runs:
        return {}
    calls = ToolCall.objects.filter(run__in=runs).defer(
        "response", "reasoning", "documents", "report_reasoning"
    )
    shown = calls.annotate(
        shown_response=Left("response", MAX_CHARACTERS),
        shown_reasoning=Left("reasoning", MAX_CHARACTERS),
        shown_report_reasoning=Left("report_reasoning", MAX_CHARACTERS),
    )
    edited = Approval.objects.asked_before_edits([call.pk for call in shown])
    nodes = {call.pk: CallNode(call, edited.get(call.pk)) for call in shown}
    top: dict[UUID, list[CallNode]] = defaultdict(list)
    for node in nodes.values():
        parent: Any = node.call.parent_tool_call_id
        if parent is None:
            top[node.call.message_id].append(node)  # type: ignore[index]
        elif parent in nodes:
            nodes[parent].inside.append(node)
    return top


def _group(pairs: Iterable[tuple[UUID, str]]) -> dict[UUID, list[str]]:
    groups: dict[UUID, list[str]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups

"""What is left of the branch when it does not all fit: the newest, whole to the first that does not. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chat.transcript.entries import Entry, TextFile
from llm_worker.request.message import Message, total_tokens
from llm_worker.request.message_renderer import MessageRenderer

# The newest of the forgotten files; a model needs no longer list to ask for one.
MOST_LISTED = 20
NOTICE = "These files of earlier messages are not shown any more, but can be read by their id:"


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """What of `entry` is kept or left out together. cost: 0 where it is charged in any case; files: what it shows."""

    entry: Entry
    messages: tuple[Message, ...]
    cost: int
    files: tuple[TextFile, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedHistory:
    """messages: oldest first.  blocks: those whose place was cut away; they stand in front of the question instead.

    notice: lists the forgotten files; None if there is nothing to list, or not even room for a list.
    cut: the entries of which something is left out, oldest first.  is_cut_within: something of the last is kept.
    """

    messages: list[Message]
    blocks: list[Message]
    notice: Message | None
    omitted_files: tuple[TextFile, ...]
    omitted_entries: Sequence[Entry]
    is_partly_omitted: bool

    @property
    def tokens(self) -> int:
        notice = [self.notice] if self.notice else []
        return total_tokens([*self.messages, *self.blocks, *notice])


@dataclass
class History:
    """The branch before the question. Looks no further back than it has to, and counts nothing twice.

    blocks: of each kind the newest stored one that still holds; it is never lost.
    files: what could be forgotten, newest first.  lists_files: whether the model could read them.
    """

    entries: Sequence[Entry]
    renderer: MessageRenderer
    blocks: Sequence[Message] = ()
    files: Sequence[TextFile] = ()
    lists_files: bool = False
    _seen: list[MessageGroup] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._unseen = self._newest_first()

    def fit(self, room: int) -> FittedHistory:
        """The most that `room` tokens hold, blocks and notice included. Only the blocks may exceed it."""
        used = sum(block.tokens for block in self.blocks)
        taken: list[MessageGroup] = []
        refused: list[MessageGroup] = []
        for group in self._groups():
            if used + group.cost > room:
                refused = [group]
                break
            used += group.cost
            taken.append(group)
        kept, notice, omitted_files = self._noticed(taken, room)
        left_out = next((group.entry for group in (*taken[len(kept) :], *refused)), None)
        is_partly_omitted = bool(kept) and kept[-1].entry is left_out
        messages = [message for group in reversed(kept) for message in group.messages]
        blocks = [block for block in self.blocks if not any(block is message for message in messages)]
        return FittedHistory(
            messages, blocks, notice, omitted_files, self._up_to(left_out), is_partly_omitted
        )

    def _up_to(self, last: Entry | None) -> Sequence[Entry]:
        ends = (place for place, entry in enumerate(self.entries, 1) if entry is last)
        return self.entries[: next(ends, 0)] if last else ()

    def _groups(self) -> Iterator[MessageGroup]:
        yield from self._seen
        for group in self._unseen:
            self._seen.append(group)
            yield group

    def _newest_first(self) -> Iterator[MessageGroup]:
        charged = {block.letter: block for block in self.blocks}
        for entry in reversed(self.entries):
            if entry.role == "assistant":
                for messages in reversed(self.renderer.render_answer(entry)):
                    yield MessageGroup(entry, messages, sum(message.tokens for message in messages))
                continue
            question = self.renderer.render_user(entry)
            yield MessageGroup(entry, (question,), question.tokens)
            if entry.files:
                shown = self.renderer.render_files(entry)
                yield MessageGroup(entry, (shown,), shown.tokens, entry.files)
            for block in reversed(self.renderer.render_blocks(entry)):
                if charged.get(block.letter) == block:
                    yield MessageGroup(entry, (charged.pop(block.letter),), 0)
                else:
                    yield MessageGroup(entry, (block,), block.tokens)

    def _noticed(
        self, taken: list[MessageGroup], room: int
    ) -> tuple[list[MessageGroup], Message | None, tuple[TextFile, ...]]:
        """The newest of `taken` beside which there is room for the list of what is forgotten then, and that list."""
        room -= sum(block.tokens for block in self.blocks) + sum(group.cost for group in taken)
        for length in range(len(taken), -1, -1):
            room += sum(group.cost for group in taken[length : length + 1])
            omitted_files = self._forgotten(taken[:length])
            if not omitted_files or not self.lists_files:
                return taken[:length], None, omitted_files
            notice = self.renderer.render_lines("N", [NOTICE, *map(_line, omitted_files[:MOST_LISTED])])
            if notice.tokens <= room:
                return taken[:length], notice, omitted_files
        return taken, None, self._forgotten(taken)

    def _forgotten(self, taken: Sequence[MessageGroup]) -> tuple[TextFile, ...]:
        shown = {file.id for group in taken for file in group.files}
        return tuple({file.id: file for file in self.files if file.id not in shown}.values())


def _line(file: TextFile) -> str:
    return f"- {' '.join(file.name.split())} (id {file.id}, {file.size_bytes} bytes)"

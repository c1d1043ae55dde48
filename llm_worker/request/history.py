"""What is left of the branch when it does not all fit: the newest, whole to the first that does not. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chat.transcript.entries import Entry, TextFile
from llm_worker.request.message import Message, total
from llm_worker.request.message_renderer import Replay

# The newest of the forgotten files; a model needs no longer list to ask for one.
MOST_LISTED = 20
NOTICE = "These files of earlier messages are not shown any more, but can be read by their id:"


@dataclass(frozen=True, slots=True)
class Group:
    """What of `entry` is kept or left out together. cost: 0 where it is charged in any case; files: what it shows."""

    entry: Entry
    messages: tuple[Message, ...]
    cost: int
    files: tuple[TextFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """messages: oldest first.  blocks: those whose place was cut away; they stand in front of the question instead.

    notice: lists the forgotten files; None if there is nothing to list, or not even room for a list.
    cut: the entries of which something is left out, oldest first.  is_cut_within: something of the last is kept.
    """

    messages: list[Message]
    blocks: list[Message]
    notice: Message | None
    forgotten: tuple[TextFile, ...]
    cut: Sequence[Entry]
    is_cut_within: bool

    @property
    def tokens(self) -> int:
        notice = [self.notice] if self.notice else []
        return total([*self.messages, *self.blocks, *notice])


@dataclass
class History:
    """The branch before the question. Looks no further back than it has to, and counts nothing twice.

    blocks: of each kind the newest stored one that still holds; it is never lost.
    files: what could be forgotten, newest first.  lists_files: whether the model could read them.
    """

    entries: Sequence[Entry]
    replay: Replay
    blocks: Sequence[Message] = ()
    files: Sequence[TextFile] = ()
    lists_files: bool = False
    _seen: list[Group] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._unseen = self._newest_first()

    def fit(self, room: int) -> Kept:
        """The most that `room` tokens hold, blocks and notice included. Only the blocks may exceed it."""
        used = sum(block.tokens for block in self.blocks)
        taken: list[Group] = []
        refused: list[Group] = []
        for group in self._groups():
            if used + group.cost > room:
                refused = [group]
                break
            used += group.cost
            taken.append(group)
        kept, notice, forgotten = self._noticed(taken, room)
        left_out = next((group.entry for group in (*taken[len(kept) :], *refused)), None)
        is_cut_within = bool(kept) and kept[-1].entry is left_out
        messages = [message for group in reversed(kept) for message in group.messages]
        blocks = [block for block in self.blocks if not any(block is message for message in messages)]
        return Kept(messages, blocks, notice, forgotten, self._up_to(left_out), is_cut_within)

    def _up_to(self, last: Entry | None) -> Sequence[Entry]:
        ends = (place for place, entry in enumerate(self.entries, 1) if entry is last)
        return self.entries[: next(ends, 0)] if last else ()

    def _groups(self) -> Iterator[Group]:
        yield from self._seen
        for group in self._unseen:
            self._seen.append(group)
            yield group

    def _newest_first(self) -> Iterator[Group]:
        charged = {block.letter: block for block in self.blocks}
        for entry in reversed(self.entries):
            if entry.role == "assistant":
                for messages in reversed(self.replay.answer(entry)):
                    yield Group(entry, messages, sum(message.tokens for message in messages))
                continue
            question = self.replay.user(entry)
            yield Group(entry, (question,), question.tokens)
            if entry.files:
                shown = self.replay.files(entry)
                yield Group(entry, (shown,), shown.tokens, entry.files)
            for block in reversed(self.replay.blocks(entry)):
                if charged.get(block.letter) == block:
                    yield Group(entry, (charged.pop(block.letter),), 0)
                else:
                    yield Group(entry, (block,), block.tokens)

    def _noticed(
        self, taken: list[Group], room: int
    ) -> tuple[list[Group], Message | None, tuple[TextFile, ...]]:
        """The newest of `taken` beside which there is room for the list of what is forgotten then, and that list."""
        room -= sum(block.tokens for block in self.blocks) + sum(group.cost for group in taken)
        for length in range(len(taken), -1, -1):
            room += sum(group.cost for group in taken[length : length + 1])
            forgotten = self._forgotten(taken[:length])
            if not forgotten or not self.lists_files:
                return taken[:length], None, forgotten
            notice = self.replay.lines("N", [NOTICE, *map(_line, forgotten[:MOST_LISTED])])
            if notice.tokens <= room:
                return taken[:length], notice, forgotten
        return taken, None, self._forgotten(taken)

    def _forgotten(self, taken: Sequence[Group]) -> tuple[TextFile, ...]:
        shown = {file.id for group in taken for file in group.files}
        return tuple({file.id: file for file in self.files if file.id not in shown}.values())


def _line(file: TextFile) -> str:
    return f"- {' '.join(file.name.split())} (id {file.id}, {file.size_bytes} bytes)"

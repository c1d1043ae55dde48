"""What is left of the branch when it does not all fit: the newest, whole to the first that does not. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chat.transcript import Entry, TextFile
from llm_worker.message import Message
from llm_worker.replay import Replay

# The newest of the forgotten files; a model needs no longer list to ask for one.
MOST_LISTED = 20
NOTICE = "These files of earlier messages are not shown any more, but can be read by their id:"


@dataclass(frozen=True, slots=True)
class Group:
    """What is kept or left out together. cost: 0 where it is charged in any case; files: what it shows."""

    messages: tuple[Message, ...]
    cost: int
    files: tuple[TextFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """messages: oldest first.  blocks: those whose place was cut away; they stand in front of the question instead.

    notice: lists the forgotten files; None if there is nothing to list, or not even room for a list.
    tokens: of all of these.  is_cut: something was left out.
    """

    messages: list[Message]
    blocks: list[Message]
    notice: Message | None
    forgotten: tuple[TextFile, ...]
    tokens: int
    is_cut: bool


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
        is_cut = False
        for group in self._groups():
            is_cut = used + group.cost > room
            if is_cut:
                break
            used += group.cost
            taken.append(group)
        notice, forgotten = self._notice(taken)
        while notice and used + notice.tokens > room:
            if taken:
                used -= taken.pop().cost
                notice, forgotten = self._notice(taken)
            else:
                notice = None
        messages = [message for group in reversed(taken) for message in group.messages]
        return Kept(
            messages=messages,
            blocks=[block for block in self.blocks if not any(block is message for message in messages)],
            notice=notice,
            forgotten=forgotten,
            tokens=used + (notice.tokens if notice else 0),
            is_cut=is_cut or bool(forgotten),
        )

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
                    yield Group(messages, sum(message.tokens for message in messages))
                continue
            question = self.replay.user(entry)
            yield Group((question,), question.tokens)
            if entry.files:
                shown = self.replay.files(entry)
                yield Group((shown,), shown.tokens, entry.files)
            for block in reversed(self.replay.blocks(entry)):
                if charged.get(block.letter) == block:
                    yield Group((charged.pop(block.letter),), 0)
                else:
                    yield Group((block,), block.tokens)

    def _notice(self, taken: Sequence[Group]) -> tuple[Message | None, tuple[TextFile, ...]]:
        shown = {file.id for group in taken for file in group.files}
        forgotten = tuple({file.id: file for file in self.files if file.id not in shown}.values())
        if not forgotten or not self.lists_files:
            return None, forgotten
        lines = [_line(file) for file in forgotten[:MOST_LISTED]]
        return self.replay.lines("N", [NOTICE, *lines]), forgotten


def _line(file: TextFile) -> str:
    return f"- {' '.join(file.name.split())} (id {file.id}, {file.size_bytes} bytes)"

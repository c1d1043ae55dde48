"""Selects the part of the branch that fits: the newest entries, up to the first that does not fit. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chat.transcript.entries import Entry, TextFile
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.model_message import Message, total_tokens

# The number of files that the notice lists, newest first.
MAX_LISTED_FILES = 20
NOTICE = "These files of earlier messages are not shown any more, but can be read by their id:"


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages of `entry` that are kept or omitted together.
    cost: tokens, 0 if charged elsewhere.  files: files in them.
    """

    entry: Entry
    messages: tuple[Message, ...]
    cost: int
    files: tuple[TextFile, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedHistory:
    """The part of the history that fits. messages: oldest first.

    blocks: blocks whose message is omitted; they move above the question.
    notice: lists the omitted files; None if there are none, or no room for the list.
    omitted_entries: the entries that are omitted, entirely or in part, oldest first.
    is_partly_omitted: a part of the last omitted entry is kept.
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
    """The branch before the question. Reads only as far back as it has to, and counts nothing twice.

    blocks: the latest valid stored block of each kind; never omitted.
    files: all files that may be omitted, newest first.  lists_files: whether the model can read an omitted file by its
    id.
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
        """Fit as much history as possible into `room` tokens, blocks and notice included.
        Only the blocks may exceed it.
        """
        used = sum(block.tokens for block in self.blocks)
        taken: list[MessageGroup] = []
        refused: list[MessageGroup] = []
        for group in self._groups():
            if used + group.cost > room:
                refused = [group]
                break
            used += group.cost
            taken.append(group)
        kept, notice, omitted_files = self._with_notice(taken, room)
        left_out = next((group.entry for group in (*taken[len(kept) :], *refused)), None)
        is_partly_omitted = bool(kept) and kept[-1].entry is left_out
        messages = [message for group in reversed(kept) for message in group.messages]
        blocks = [block for block in self.blocks if not any(block is message for message in messages)]
        return FittedHistory(
            messages, blocks, notice, omitted_files, self._up_to(left_out), is_partly_omitted
        )

    def fit_with_newest_turn(self, room: int, most: int) -> FittedHistory:
        """Fit as fit() does, but keep as much of the newest turn as fits into `most` tokens, even beyond `room`."""
        fitted = self.fit(room)
        starts = (place for place, entry in enumerate(reversed(self.entries), 1) if entry.role == "user")
        if most <= room or len(fitted.omitted_entries) <= len(self.entries) - next(starts, 0):
            return fitted
        return self.fit(max(room, min(most, self._newest_turn_tokens())))

    def _newest_turn_tokens(self) -> int:
        """Count the tokens of the last question, of what was answered to it, and of the blocks."""
        used, question = sum(block.tokens for block in self.blocks), None
        for group in self._groups():
            if question and group.entry is not question:
                break
            used += group.cost
            question = group.entry if group.entry.role == "user" else None
        return used

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

    def _with_notice(
        self, taken: list[MessageGroup], room: int
    ) -> tuple[list[MessageGroup], Message | None, tuple[TextFile, ...]]:
        """Return the newest groups that leave room for the notice of omitted files, the notice, and these files."""
        room -= sum(block.tokens for block in self.blocks) + sum(group.cost for group in taken)
        for length in range(len(taken), -1, -1):
            room += sum(group.cost for group in taken[length : length + 1])
            omitted_files = self._omitted_files(taken[:length])
            if not omitted_files or not self.lists_files:
                return taken[:length], None, omitted_files
            notice = self.renderer.render_lines("N", [NOTICE, *map(_line, omitted_files[:MAX_LISTED_FILES])])
            if notice.tokens <= room:
                return taken[:length], notice, omitted_files
        return taken, None, self._omitted_files(taken)

    def _omitted_files(self, taken: Sequence[MessageGroup]) -> tuple[TextFile, ...]:
        shown = {file.id for group in taken for file in group.files}
        return tuple({file.id: file for file in self.files if file.id not in shown}.values())


def _line(file: TextFile) -> str:
    return f"- {' '.join(file.name.split())} (id {file.id}, {file.size_bytes} bytes)"

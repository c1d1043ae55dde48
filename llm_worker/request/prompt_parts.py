"""Holds the texts that surround the history of a branch in a request and renders them in their order. Pure."""

from dataclasses import dataclass
from typing import Self

from chat.transcript.entries import Entry, Image, TextFile
from llm_worker.prompts import prompt
from llm_worker.request.history import FittedHistory
from llm_worker.request.message_renderer import BLOCKS, MessageRenderer
from llm_worker.request.model_message import Letter, Message, total_tokens

SUMMARY = "This summarises the beginning of our conversation, which is not shown any more:\n\n{text}"
# Tokens of SUMMARY without the text.
SUMMARY_TOKENS = 18


@dataclass(frozen=True, slots=True)
class PromptParts:
    """The texts around the branch, as the model sees them. An empty text makes no message.

    All but `reminder` are the same in every cycle of a turn. Texts that are stored as blocks in the branch are not
    repeated here; dynamic_context then holds what applies to this turn only.
    """

    system: str = ""
    summary: str = ""
    agent_prompt: str = ""
    project: str = ""
    # The project's text beside documents that are stored as a block or searched. The pictures go with the last of the
    # two texts.
    project_note: str = ""
    project_pictures: tuple[Image, ...] = ()
    dynamic_context: str = ""
    reminder: str = ""
    # The id of the summary's message; empty if unknown.
    summary_id: str = ""
    # Stored token counts, 0 if unknown.
    summary_tokens: int = 0
    project_tokens: int = 0
    # Files of the messages that the summary replaces, newest first.
    summarised_files: tuple[TextFile, ...] = ()
    # Whether a tool that reads files is offered.
    reads_files: bool = False
    sees_images: bool = True
    # Model.source: the model and server whose rounds are sent with the members that they want back.
    source: str = ""


@dataclass(frozen=True, slots=True)
class FixedMessages:
    """The messages that are always sent, without the stored blocks of the history and the tool rounds."""

    head: list[Message]
    blocks: list[Message]
    question: list[Message]
    reminder: list[Message]

    @classmethod
    def around(cls, question: Entry, parts: PromptParts, renderer: MessageRenderer) -> Self:
        standing: list[tuple[Letter, str, int]] = [
            ("S", parts.system, 0),
            ("SUM", parts.summary, parts.summary_tokens),
            ("CA", parts.agent_prompt, 0),
            ("D", parts.dynamic_context, 0),
            ("R", parts.reminder, 0),
        ]
        shown = [renderer.render_text(letter, text, stored) for letter, text, stored in standing if text]
        shown += _project(parts, renderer)
        files = [renderer.render_files(question)] if question.files else []
        return cls(
            head=[message for message in shown if message.letter in ("S", "SUM")],
            blocks=renderer.render_blocks(question)
            + [message for message in shown if message.letter in BLOCKS],
            question=[*files, renderer.render_user(question)],
            reminder=[message for message in shown if message.letter == "R"],
        )

    @property
    def tokens(self) -> int:
        """The tokens without the reminder, which changes between cycles while the kept history must not."""
        return total_tokens([*self.head, *self.blocks, *self.question])

    @property
    def behind(self) -> int:
        return total_tokens(self.reminder)

    def above(self, kept: FittedHistory) -> list[Message]:
        """Return all messages above the tool rounds."""
        blocks = sorted([*kept.blocks, *self.blocks], key=lambda block: BLOCKS.index(block.letter))
        notice = [kept.notice] if kept.notice else []
        return [*self.head, *kept.messages, *blocks, *notice, *self.question]


def _project(parts: PromptParts, renderer: MessageRenderer) -> list[Message]:
    texts = [(parts.project, parts.project_tokens), (parts.project_note, 0)]
    messages = [renderer.render_text("P", text, stored) for text, stored in texts if text]
    if messages and parts.project_pictures:
        messages[-1] = renderer.with_images(messages[-1], parts.project_pictures)
    return messages


def build_reminder(own: str, *, is_last_cycle: bool, has_found: bool, may_open_pages: bool) -> str:
    """Return the reminder, the last message of a request; empty if none is sent. The system prompt must not change.

    own: the agent's reminder.  has_found: tools have found documents in this turn.
    may_open_pages: some of these are pages of the web, and open_url is offered.
    """
    citing = [prompt("cite")] if has_found else []
    if has_found and may_open_pages and not is_last_cycle:
        citing.append(prompt("open_pages"))
    texts = [own.strip(), prompt("out_of_cycles") if is_last_cycle else "", " ".join(citing)]
    return "\n\n".join(filter(None, texts))

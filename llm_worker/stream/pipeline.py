"""The stages between what a model streams and what readers are shown. Pure.

    text ───────▶ Sanitiser ─▶ ThinkSplitter ─▶ TextCalls ─▶ Citations ─▶ text, documents
    reasoning ──▶ Sanitiser ─▶ ───────╰─ reasoning ─────────────────────▶ reasoning

Each stage may hold back the end of a text until it is known what it is; flush() releases it. The emitter opens and
closes blocks, and saves.
"""

from collections.abc import Iterable, Iterator

from chat.transcript.citations import Citations
from chat.transcript.entries import Document
from chat.transcript.readable_text import paragraph_break
from llm_worker.stream.call_assembler import RequestedCall
from llm_worker.stream.sanitiser import Sanitiser
from llm_worker.stream.text_calls import TextCalls
from llm_worker.stream.think_tags import Reasoning, ThinkSplitter

# A piece of the answer or of reasoning, or a document to announce before the text that cites it.
Output = str | Reasoning | Document


class AnswerPipeline:
    """The stages of one run; start() begins an inference. Consume the output of a method before the next call."""

    def __init__(self, citations: Citations) -> None:
        self.citations = citations  # remembers what was cited, over all inferences
        self._text_calls: TextCalls | None = None
        self._has_documents = False
        self._is_untagged = False
        self._renew()

    def start(self, text_calls: TextCalls | None, *, has_documents: bool, is_untagged: bool = False) -> None:
        """Begin an inference.

        text_calls: finds the calls that the model writes as text; None: what looks like a call is text.
        has_documents: whether there is anything to cite; otherwise the text is left as it is.
        is_untagged: the model omits the tag before its reasoning.
        """
        self._think = ThinkSplitter(is_untagged=is_untagged)
        self._is_untagged = is_untagged
        self._text_calls = text_calls
        self._has_documents = has_documents

    def text(self, raw: str) -> Iterable[Output]:
        """Return the output that may be shown after one more piece of the answer."""
        pieces = self._think.feed(self._text.clean(raw))
        return self._read(pieces) if self._text_calls or self._has_documents else pieces

    def reasoning(self, raw: str) -> str:
        """Return the text that may be shown after one more piece of what the server itself marks as reasoning.
        Such a server leaves no tags in the text, which is then held back no longer.
        """
        if self._is_untagged and raw:
            self._is_untagged = False
            self._think.expect_tags()
        return self._reasoning.clean(raw)

    def flush(self) -> Iterator[Output]:
        """Yield what was held back; the text that follows is a new beginning for every stage."""
        yield Reasoning(self._reasoning.flush())
        yield from self.text(self._text.flush())
        yield from self._read(self._think.flush())
        if self._text_calls:
            yield from self._cite(self._text_calls.flush())
        if self._has_documents:
            yield from self.citations.flush()
        self._renew()

    def take_calls(self) -> list[RequestedCall]:
        """Return the calls that were found in the text of this inference, after its last flush()."""
        calls = self._text_calls.calls if self._text_calls else []
        self._text_calls = None
        return calls

    def _renew(self) -> None:
        self._text = Sanitiser()
        self._reasoning = Sanitiser()
        self._think = ThinkSplitter(is_untagged=self._is_untagged)

    def _read(self, pieces: Iterable[str | Reasoning]) -> Iterator[Output]:
        for piece in pieces:
            if isinstance(piece, Reasoning):
                yield piece
            else:
                yield from self._cite(self._text_calls.feed(piece) if self._text_calls else piece)

    def _cite(self, text: str) -> Iterable[Output]:
        return self.citations.feed(text) if self._has_documents else (text,)


class Paragraphs:
    """The texts of a loop as they are shown. are_parted: not in an agent tool, whose report is its last passage alone."""

    def __init__(self, *, are_parted: bool) -> None:
        self._are_parted = are_parted
        self._latest = ""  # the latest text that is not blank, and what was shown since
        self._before = ""  # the same when the passage was opened
        self._is_blank = True  # the passage has no text yet

    def open_passage(self) -> None:
        self._before, self._is_blank = self._latest if self._are_parted else "", True

    def begin(self, text: str) -> str:
        """Return the text as it is shown: at the beginning of a passage, with the line ends that are missing."""
        is_first = self._is_blank and self._before and text.strip()
        return paragraph_break(self._before, text) + text if is_first else text

    def begin_again(self, text: str) -> str:
        """Return the text that replaces all that the passage has shown."""
        self._is_blank = True
        text = self.begin(text)
        self.note(text)
        return text

    def note(self, text: str) -> None:
        """Note a text that was shown."""
        if text.strip():
            self._latest, self._is_blank = text, False
        elif self._latest:
            self._latest += text

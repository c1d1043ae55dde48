"""Puts the files of the session's project into the request as documents: all, or none if they do not fit.

Files that do not fit are searched. For agents with the append-only layout, the documents are stored as a block in the
branch, and again when they change; otherwise they move with the latest message. Reads and writes the database.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, NamedTuple
from uuid import UUID

from chat.loaders.attachments import (
    OtherFile,
    load_other_project_files,
    load_project_files,
    measure_project_files,
)
from chat.models import ModelConfig, PromptBlock, Run
from chat.transcript.entries import Block, Document, Image, TextFile
from chat.transcript.tokens import PROJECT_SHARE, TOKENS_PER_MESSAGE, count_tokens
from llm_worker.loading.branch import Branch
from llm_worker.request.numbered_documents import render_provided


@dataclass(frozen=True)
class OtherProjectFiles:
    """Files besides the texts. pictures: those that the model sees.  hidden: names of the other pictures, and `why`.

    unread: names of files that are still being read.
    """

    pictures: Sequence[OtherFile] = ()
    hidden: Sequence[str] = ()
    why: str = ""
    unread: Sequence[str] = ()

    @property
    def tokens(self) -> int:
        return sum(picture.tokens for picture in self.pictures)

    @property
    def note(self) -> str:
        return self._note([picture.name for picture in self.pictures])

    def read(self) -> tuple[str, tuple[Image, ...]]:
        """Read the pictures. Returns the note, which names unreadable pictures, and the others with their contents."""
        images = [(picture.name, picture.file.as_image()) for picture in self.pictures]
        missing = [name for name, image in images if not image.url]
        note = self._note([name for name, image in images if image.url])
        gone = _listed("Its content cannot be read", missing)
        return " ".join(filter(None, [note, gone])), tuple(image for _, image in images if image.url)

    def _note(self, names: Sequence[str]) -> str:
        lines = (
            _listed("Pictures of this chat's project, in this order", names),
            _listed(f"Pictures of this chat's project that are not shown, {self.why}", self.hidden),
            _listed("Files of this chat's project that are not readable yet", self.unread),
        )
        return " ".join(filter(None, lines))


def choose_pictures(files: Sequence[OtherFile], room: Fraction, model: ModelConfig) -> OtherProjectFiles:
    """Choose all pictures or none. room: their tokens must be fewer."""
    pictures = [file for file in files if file.is_picture]
    unread = [file.name for file in files if not file.is_picture]
    names = [picture.name for picture in pictures]
    if not model.supports_vision:
        return OtherProjectFiles(hidden=names, why="as this model cannot see images", unread=unread)
    if sum(picture.tokens for picture in pictures) < room:
        return OtherProjectFiles(pictures, unread=unread)
    return OtherProjectFiles(hidden=names, why="as they are too large for this model", unread=unread)


def _listed(what: str, names: Sequence[str]) -> str:
    return f"{what}: {', '.join(names)}." if names else ""


# In place of the documents, for a model without room for them and without tools: it would guess without knowing it.
NOT_SHOWN: Final = (
    "The files of this chat's project are not shown to you: they are too long, and you have no tool to search them. "
    "Say so if the question may be about them."
)


class ProjectFiles(NamedTuple):
    """The files of a project. whole: all readable texts, if they fit.  are_searched: there are texts, which do not fit.

    others: its pictures, and files that are still being read.
    """

    whole: Sequence[TextFile] = ()
    are_searched: bool = False
    others: OtherProjectFiles = OtherProjectFiles()


@dataclass(frozen=True)
class ProjectContext:
    """The project in a request. branch: with its block if it is stored there; without, if this model does not see it.

    documents: with their numbers in the request.  text, tokens: for PromptParts; empty if stored in the branch.
    note: sentences that `text` does not contain.
    """

    branch: Branch
    documents: Sequence[Document] = ()
    text: str = ""
    tokens: int = 0
    note: str = ""
    pictures: tuple[Image, ...] = ()

    def with_note(self, note: str) -> "ProjectContext":
        return replace(self, note=" ".join(filter(None, [note, self.note])))

    @property
    def highest_number(self) -> int:
        return max(self.branch.highest_number, *(document.number for document in self.documents), 0)


def load_project(project: UUID, history_window: int, model: ModelConfig) -> ProjectFiles:
    """Load all texts or none, by the history window without the project. They are loaded only if they fit.

    Pictures use the room that the texts leave, all of them or none.
    """
    measured = measure_project_files(project, model.tokenizer)
    room = PROJECT_SHARE * history_window
    is_whole = measured.tokens < room
    others = OtherProjectFiles()
    if measured.others:
        found = load_other_project_files(project)
        others = choose_pictures(found, room - measured.tokens if is_whole else room, model)
    if is_whole:
        return ProjectFiles(load_project_files(project, model.tokenizer), others=others)
    return ProjectFiles(are_searched=measured.files > 0, others=others)


def estimate_project_tokens(files: Sequence[TextFile], note: str = "") -> int:
    """Estimate the tokens of their message: the stored counts, and one per character that JSON and the note add."""
    text = render_provided(_numbered(files, range(1, len(files) + 1)), note)
    contents = sum(len(file.document.contents) for file in files)
    return sum(file.token_count for file in files) + len(text) - contents + TOKENS_PER_MESSAGE


def build_project_context(
    run: Run, project: ProjectFiles, branch: Branch, *, in_the_branch: bool
) -> ProjectContext:
    """Build the context of the project. in_the_branch: whether the texts are stored as a block in the branch.

    Pictures and the note are never stored: they differ by model.
    """
    note, pictures = project.others.read()
    if not project.whole:
        return ProjectContext(branch.without_blocks("P"), note=note, pictures=pictures)
    if in_the_branch:
        stored = _stored_context(run, project.whole, branch)
        return replace(stored, note=note, pictures=pictures)
    documents = _numbered_after(branch, project.whole)
    are_counted = all(file.token_count for file in project.whole)
    text = render_provided(documents, note)
    tokens = estimate_project_tokens(project.whole, note) - TOKENS_PER_MESSAGE if are_counted else 0
    return ProjectContext(branch, documents, text, tokens, pictures=pictures)


def _stored_context(run: Run, files: Sequence[TextFile], branch: Branch) -> ProjectContext:
    """Use the documents as they are stored in the branch, or store them there again if they changed."""
    text, numbers = branch.project
    if len(numbers) == len(files):
        stored = _numbered(files, numbers)
        if render_provided(stored) == text:
            return ProjectContext(branch, stored)
    documents = _numbered_after(branch, files)
    return ProjectContext(branch.with_block(_store(run, documents)), documents)


def _numbered_after(branch: Branch, files: Sequence[TextFile]) -> list[Document]:
    first = branch.highest_number + 1
    return _numbered(files, range(first, first + len(files)))


def _numbered(files: Sequence[TextFile], numbers: Sequence[int]) -> list[Document]:
    return [replace(file.document, number=number) for file, number in zip(files, numbers, strict=True)]


def _store(run: Run, documents: Sequence[Document]) -> Block:
    """Store a block above the message that is answered. Idempotent: several models of one turn store the same."""
    text = render_provided(documents)
    tokens = count_tokens(text)
    records = [
        {"number": one.number, "document_id": one.document_id, "title": one.title} for one in documents
    ]
    PromptBlock.objects.store(
        [
            PromptBlock(
                message_id=run.turn.user_message_id,
                kind="P",
                text=text,
                token_count=tokens,
                documents=records,
            )
        ]
    )
    return Block("P", text, tokens)

"""The session's project in a request: all of its files as documents, or none. Reads and writes the database.

For agents whose context only grows they are stored in the branch, once and again when they change; otherwise they
move along with the newest message.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chat.loaders.attachments import load_project_files
from chat.models import ModelConfig, PromptBlock, Run
from chat.transcript.entries import Block, Document, TextFile
from chat.transcript.tokens import count_tokens
from llm_worker.loading.branch import Branch
from llm_worker.request.context import request_budget
from llm_worker.request.documents import render

# Of a request's budget: a project whose files take less is in every request as a whole.
PROJECT_SHARE = 0.6


@dataclass(frozen=True)
class ProjectContext:
    """branch: with the block, where it is stored there, and without one where this model is not shown it.

    documents: with the numbers they have in the request.  text: for the framing; empty where it stands in the branch.
    """

    branch: Branch
    documents: Sequence[Document] = ()
    text: str = ""

    @property
    def highest_number(self) -> int:
        return max(self.branch.highest_number, *(document.number for document in self.documents), 0)


def build_project_context(
    run: Run, config: ModelConfig, branch: Branch, *, in_the_branch: bool
) -> ProjectContext:
    """in_the_branch: whether its place there is kept, once it has one."""
    session = run.turn.session
    files = _whole(load_project_files(session.project_id), config) if session.project_id else []
    if not files:
        return ProjectContext(branch.without_blocks("P"))
    text, numbers = branch.project
    if in_the_branch and len(numbers) == len(files):
        stored = _numbered(files, numbers)
        if render(stored) == text:
            return ProjectContext(branch, stored)
    first = branch.highest_number + 1
    documents = _numbered(files, range(first, first + len(files)))
    if not in_the_branch:
        return ProjectContext(branch, documents, render(documents))
    return ProjectContext(branch.with_block(_store(run, documents)), documents)


def _whole(files: Sequence[TextFile], config: ModelConfig) -> Sequence[TextFile]:
    """All of them, or none if they would fill the window."""
    budget = request_budget(config.context_window, config.max_output_tokens)
    fits = sum(file.token_count for file in files) < PROJECT_SHARE * budget.tokens
    return files if fits else []


def _numbered(files: Sequence[TextFile], numbers: Sequence[int]) -> list[Document]:
    return [replace(file.document, number=number) for file, number in zip(files, numbers, strict=True)]


def _store(run: Run, documents: Sequence[Document]) -> Block:
    """Above the message that is answered. Several models of one turn store the same."""
    text = render(documents)
    tokens = count_tokens(text)
    records = [
        {"number": one.number, "document_id": one.document_id, "title": one.title} for one in documents
    ]
    PromptBlock.objects.put(
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

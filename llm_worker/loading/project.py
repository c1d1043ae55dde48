"""Puts the files of the session's project into the request as documents: all of them, or none.

For agents with the append-only layout they are stored as a block in the branch, and again when they change;
otherwise they move with the latest message. Reads and writes the database.
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

# Share of the request budget: a project whose files need less is included as a whole.
PROJECT_SHARE = 0.6


@dataclass(frozen=True)
class ProjectContext:
    """branch: with the project block if it is stored there, without one if this model does not see the project.

    documents: with their numbers in the request.  text: for PromptParts; empty if it is stored in the branch.
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
    """in_the_branch: whether the project is stored as a block in the branch."""
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
    """All files, or none if they exceed PROJECT_SHARE of the budget."""
    budget = request_budget(config.context_window, config.max_output_tokens)
    fits = sum(file.token_count for file in files) < PROJECT_SHARE * budget.tokens
    return files if fits else []


def _numbered(files: Sequence[TextFile], numbers: Sequence[int]) -> list[Document]:
    return [replace(file.document, number=number) for file, number in zip(files, numbers, strict=True)]


def _store(run: Run, documents: Sequence[Document]) -> Block:
    """Store a block above the message that is answered. Idempotent: several models of one turn store the same."""
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

"""Files that are sent with a message: loads them, refuses unreadable ones, and attaches them with numbers."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final
from uuid import UUID

from chat.models import ChatMessage, MessageFile, ModelConfig, Session
from chat.models.model_config import tokens_for_model, tokens_of_file
from chat.protocol.errors import ApiError
from knowledge.models import File, FileKind, FileStatus

# The share of a request's tokens for pictures of the pages of a message's files.
PAGE_PICTURES_SHARE: Final = Fraction(1, 4)


def load_readable(session: Session, file_ids: Sequence[UUID]) -> list[File]:
    """Return the owner's files with these ids, in this order. Raises ApiError if one is missing or not ready."""
    if not file_ids:
        return []
    own = File.objects.visible_to(session.owner_id).defer("text")
    by_id = {file.pk: file for file in own.filter(pk__in=file_ids)}
    if set(by_id) != set(file_ids):
        raise ApiError("file_not_found", field="files")
    files = [by_id[pk] for pk in file_ids]
    for file in files:
        if file.status == FileStatus.FAILED:
            raise ApiError("file_failed", field="files", file=str(file.pk), error=file.error_code)
        if file.status == FileStatus.PROCESSING:
            raise ApiError("file_processing", field="files", file=str(file.pk))
    return files


def check_fit(files: Sequence[File], models: Sequence[ModelConfig]) -> None:
    """Raise ApiError if a single file exceeds a request to one of the models; the error names the smallest such model.

    Files that are too large only together, or with prompts and tools, end the run with `context_too_long`.
    """
    if not files:
        return
    chosen = ModelConfig.objects.filter(pk__in=[model.pk for model in models])  # with their windows
    for model in sorted(chosen, key=lambda model: model.request_tokens):
        tokens, largest = max(
            ((tokens_for_model(file, model), file) for file in files), key=lambda counted: counted[0]
        )
        if tokens > model.request_tokens:
            raise _too_large(largest, tokens, model)


def _too_large(file: File, tokens: int, model: ModelConfig) -> ApiError:
    limit = model.request_tokens
    return ApiError(
        "attachments_too_large",
        f"{file.name} has {tokens} tokens; {model.name} takes at most {limit}.",
        field="files",
        model=model.name,
        file=str(file.pk),
        token_count=tokens,
        limit=limit,
    )


def attach(question: ChatMessage, files: Sequence[File], models: Sequence[ModelConfig]) -> None:
    """Attach `files` to a stored message. Documents are numbered after those of its branch. Call it in a transaction.

    models: the models that answer the message.
    """
    if not files:
        return
    number = MessageFile.objects.highest_number(question)
    rows = []
    for position, file in enumerate([*files, *_page_pictures(files, models)]):
        is_document = file.kind != FileKind.IMAGE
        number += is_document
        rows.append(
            MessageFile(
                message=question, file=file, position=position, number=number if is_document else None
            )
        )
    MessageFile.objects.bulk_create(rows)


def _page_pictures(files: Sequence[File], models: Sequence[ModelConfig]) -> list[File]:
    """Return pictures of the pages without text, in the order of page numbers, up to PAGE_PICTURES_SHARE of a request.

    The request is that of the smallest of `models` with vision or, if none has it, of all offered models with vision.
    """
    pictures = [
        picture for file in files if file.reading.shown_pages for picture in file.current_page_pictures()
    ]
    if not pictures:
        return []
    seeing = [model for model in models if model.supports_vision]
    seeing = seeing or [model for model in ModelConfig.objects.offered() if model.supports_vision]
    room = min((model.request_tokens for model in seeing), default=0) * PAGE_PICTURES_SHARE
    shown = []
    for picture in sorted(pictures, key=lambda one: one.page or 0):
        room -= tokens_of_file(picture)
        if room < 0:
            break
        shown.append(picture)
    return shown

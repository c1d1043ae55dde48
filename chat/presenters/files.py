"""Files as clients see them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from msgspec import UNSET, UnsetType

from chat.models import ModelConfig
from chat.models.model_config import fits_model, tokens_of_file
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, choice, doc, with_members
from chat.protocol.errors import file_error_message
from knowledge.models import File, FileKind, FileStatus
from knowledge.texts.reading import Reading


class FileErrorAnswer(Answer):
    code: str
    message: str


if TYPE_CHECKING:
    _ReadMembers = Answer
else:
    _ReadMembers = with_members(Answer, Reading, are_optional=True)


class FileAnswer(_ReadMembers, kw_only=True):
    id: UUID
    name: str
    content_type: str
    size: Annotated[int, doc("Bytes of the content; of a picture once it is ready, without metadata.")]
    status: Annotated[str, choice(FileStatus)]
    token_count: Annotated[
        int, doc("Of the extracted text, in cl100k_base; of a picture, what models that see it are charged.")
    ]
    kind: Annotated[str, choice(FileKind)]
    project: UUID | None
    created_at: Moment
    width: Annotated[int | UnsetType, doc("Of a picture that is ready, in pixels.")] = UNSET
    height: int | UnsetType = UNSET
    has_thumbnail: Annotated[bool | UnsetType, doc("Of a picture.")] = UNSET
    fits: Annotated[
        dict[str, bool] | UnsetType,
        doc(
            "Once it is ready: by model, whether it fits into a request, counted in the model's own encoding if that is known."
        ),
    ] = UNSET
    error: FileErrorAnswer | UnsetType = UNSET


class IndexingAnswer(Answer):
    chunks: Annotated[int, doc("Those that searches find.")]
    waiting: Annotated[int, doc("Those of them that are found by words alone until they have a vector.")]


def present_file(file: File, models: Iterable[ModelConfig] | None = None) -> JSONObject:
    return describe_file(file, models).json()


def describe_file(
    file: File, models: Iterable[ModelConfig] | None = None, kind: type[FileAnswer] = FileAnswer
) -> FileAnswer:
    """Describe a file; a file that is ready says which models it fits.
    models: the models that may be asked, or None to load them. kind: FileAnswer, or the frame that extends it.
    """
    has_pixels = file.kind == FileKind.IMAGE and bool(file.width_px)
    is_ready = file.status == FileStatus.READY
    return kind.from_row(
        file,
        size=file.size_bytes,
        token_count=tokens_of_file(file),
        project=file.project_id,
        width=file.width_px if has_pixels else UNSET,
        height=file.height_px if has_pixels else UNSET,
        has_thumbnail=has_thumbnail(file),
        **file.reading.counted(),
        fits=_fits(file, models) if is_ready else UNSET,
        error=describe_file_error(file) if file.status == FileStatus.FAILED else UNSET,
    )


def has_thumbnail(file: File) -> bool | UnsetType:
    """Return whether a picture has a thumbnail; UNSET for other files."""
    if file.kind != FileKind.IMAGE:
        return UNSET
    return file.status == FileStatus.READY and bool(file.thumbnail)


def describe_file_error(file: File) -> FileErrorAnswer:
    """Describe the error of a file that failed."""
    return FileErrorAnswer(code=file.error_code, message=file_error_message(file.error_code))


def _fits(file: File, models: Iterable[ModelConfig] | None) -> dict[str, bool]:
    offered = ModelConfig.objects.offered() if models is None else models
    return {model.name: fits_model(file, model) for model in offered}

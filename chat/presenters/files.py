"""Files as clients see them."""

from collections.abc import Iterable

from chat.models import ModelConfig
from chat.models.file_tokens import fits_model, tokens_of_file
from chat.presenters.json_values import JSONObject, id_or_none, isoformat_utc
from chat.protocol.file_errors import file_error_message
from knowledge.models import File, FileKind, FileStatus


def present_file(file: File, models: Iterable[ModelConfig] | None = None) -> JSONObject:
    """models: those that may be asked, or None to load them; a file that is ready says which of them it fits."""
    shape: JSONObject = {
        "id": str(file.pk),
        "name": file.name,
        "content_type": file.content_type,
        "size": file.size_bytes,
        "status": file.status,
        "token_count": tokens_of_file(file),
        "kind": file.kind,
        "project": id_or_none(file.project_id),
        "created_at": isoformat_utc(file.created_at),
    }
    if file.kind == FileKind.IMAGE and file.width_px:
        shape |= {"width": file.width_px, "height": file.height_px}
    shape |= present_thumbnail(file)
    if file.status == FileStatus.READY:
        offered = ModelConfig.objects.offered() if models is None else models
        if file.unread_pages:
            shape["unread_pages"] = file.unread_pages
            shape["shown_pages"] = file.shown_pages
        shape["fits"] = {model.name: fits_model(file, model) for model in offered}
    if file.status == FileStatus.FAILED:
        shape["error"] = {"code": file.error_code, "message": file_error_message(file.error_code)}
    return shape


def present_thumbnail(file: File) -> JSONObject:
    """Of a picture, whether it has a thumbnail; nothing of other files."""
    if file.kind != FileKind.IMAGE:
        return {}
    return {"has_thumbnail": file.status == FileStatus.READY and bool(file.thumbnail)}

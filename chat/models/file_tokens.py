"""The size of a file in a request to a model, in the tokens in which the model's budget is counted."""

from collections.abc import Mapping

from chat.models.model_config import ModelConfig
from chat.transcript.picture_tokens import picture_tokens
from knowledge.models import File, FileKind


def tokens_of_file(file: File) -> int:
    """Return a file's tokens in the default encoding; for a picture, those that models which see it are charged."""
    if file.kind != FileKind.IMAGE:
        return file.token_count
    return picture_tokens(file.width_px, file.height_px) if file.width_px and file.height_px else 0


def tokens_for_model(file: File, model: ModelConfig) -> int:
    """Return the tokens of a file for the model; 0 for a picture it does not see, as a line stands in its place."""
    if file.kind == FileKind.IMAGE:
        return tokens_of_file(file) if model.supports_vision else 0
    counts: Mapping[str, int] = file.tokens_by_encoding
    return counts.get(model.tokenizer, file.token_count)


def fits_model(file: File, model: ModelConfig) -> bool:
    """Return whether a request to the model can hold the file alone."""
    return tokens_for_model(file, model) <= model.request_tokens

"""What a file needs of a request to a model, in the tokens in which the model's budget is counted."""

from collections.abc import Mapping

from chat.models.model_config import ModelConfig
from chat.transcript.picture_tokens import picture_tokens
from knowledge.models import File, FileKind


def tokens_of_file(file: File) -> int:
    """In the default encoding; of a picture, what models that see it are charged."""
    if file.kind != FileKind.IMAGE:
        return file.token_count
    return picture_tokens(file.width_px, file.height_px) if file.width_px and file.height_px else 0


def tokens_for_model(file: File, model: ModelConfig) -> int:
    """Of a picture that the model does not see, none: a line stands in its place."""
    if file.kind == FileKind.IMAGE:
        return tokens_of_file(file) if model.supports_vision else 0
    counts: Mapping[str, int] = file.tokens_by_encoding
    return counts.get(model.tokenizer, file.token_count)


def fits_model(file: File, model: ModelConfig) -> bool:
    """Whether a request to the model can hold the file, alone."""
    return tokens_for_model(file, model) <= model.request_tokens

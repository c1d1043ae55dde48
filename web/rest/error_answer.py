"""The shape of errors of the API and the socket (errors.py creates them)."""

from typing import Annotated, Final
from uuid import UUID

from msgspec import UNSET, UnsetType

from chat.protocol.answer import Answer, Moment, choice, doc
from web.rest.errors import ERROR_CODES

CODES: Final = [code for code, _ in ERROR_CODES]
# drf-spectacular describes them once, for the set of values.
_MEANINGS: Final = "\n".join(f"* `{code}` - {message}" for code, message in ERROR_CODES)


class ErrorMembers(Answer, kw_only=True):
    code: Annotated[str, choice(CODES, _MEANINGS)]
    message: str
    field: Annotated[str | UnsetType, doc("What of the request is wrong, as a path of names.")] = UNSET
    limit: Annotated[
        str | int | UnsetType,
        doc(
            "What a limit is called, or how much it allows. Of `body_too_large`, bytes or values; of `message_too_long`, characters; of "
            "`daily_limit_reached`, its code in `usage/limits/`; of attachments, the tokens that fit; of `file_too_large`, bytes."
        ),
    ] = UNSET
    size: Annotated[
        int | UnsetType,
        doc("Of `message_too_long`: the text's characters; of `invalid_range`: the file's bytes."),
    ] = UNSET
    max: Annotated[
        float | UnsetType | None, doc("Of a quota: what may be kept; of a daily limit: what may be used.")
    ] = UNSET
    used: Annotated[float | UnsetType, doc("Of a daily limit: what is used.")] = UNSET
    resets_at: Annotated[Moment | UnsetType | None, doc("Of a daily limit: when it starts again at 0.")] = (
        UNSET
    )
    model: Annotated[str | UnsetType, doc("Of `attachments_too_large`: the model that they do not fit.")] = (
        UNSET
    )
    token_count: Annotated[int | UnsetType, doc("Of `attachments_too_large`: their tokens.")] = UNSET
    file: Annotated[UUID | UnsetType, doc("The file that cannot be used.")] = UNSET
    content_type: Annotated[str | UnsetType, doc("Of `file_type_mismatch`: what the content is.")] = UNSET
    error: Annotated[str | UnsetType, doc("Of `file_failed`: why the file could not be read.")] = UNSET
    line: Annotated[
        int | UnsetType, doc("Of `invalid_json` in an export of another product: the line, from 1.")
    ] = UNSET


class ErrorAnswer(ErrorMembers, kw_only=True):
    request_id: str

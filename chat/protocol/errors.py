"""ApiError: an error answer with a code from one table, for REST and the websocket alike. Pure.

Clients branch on the codes, people read the messages. Renaming a code breaks clients.
"""

from typing import Any, Final

REFUSALS: Final[dict[str, tuple[int, str]]] = {
    # What was sent
    "invalid_json": (400, "The body is not valid JSON."),
    "json_too_deep": (400, "The JSON is nested too deeply."),
    "invalid_encoding": (400, "The body is not valid UTF-8."),
    "invalid_characters": (400, "NUL characters and lone surrogates are not accepted."),
    "invalid_type": (400, "The value has the wrong type."),
    "invalid_value": (400, "The value is not accepted."),
    "invalid_id": (400, "This is not an id."),
    "invalid_pagination": (400, "The page does not exist or its size is not accepted."),
    "invalid_cursor": (400, "The cursor is not valid."),
    "unknown_type": (400, "There is no such command."),
    "unsupported_frame": (400, "Binary frames are not accepted."),
    "unknown_field": (400, "There is no such field."),
    "field_required": (400, "The field is required."),
    "body_too_large": (413, "The body is too large."),
    # Who asked
    "not_authenticated": (401, "Log in first."),
    "invalid_credentials": (401, "The user name or the password is wrong."),
    "permission_denied": (403, "You may not do this."),
    "csrf_failed": (403, "The CSRF check failed. Reload the page."),
    "rate_limited": (429, "Too many attempts. Try again later."),
    # What it was about
    "not_found": (404, "There is nothing here."),
    "session_not_found": (404, "There is no such session."),
    "message_not_found": (404, "There is no such message."),
    "parent_not_found": (404, "There is no such parent message."),
    "turn_not_found": (404, "There is no such turn."),
    "run_not_found": (404, "There is no such run."),
    "file_not_found": (404, "There is no such file."),
    "file_processing": (409, "A file is still being read. Try again in a moment."),
    "file_failed": (422, "A file could not be read. Leave it out."),
    "token_not_found": (404, "There is no such token."),
    "share_not_found": (404, "There is no such link."),
    "agent_not_found": (404, "There is no such agent."),
    "project_not_found": (404, "There is no such project."),
    "knowledge_base_not_found": (404, "There is no such knowledge base."),
    # Turns
    "message_empty": (400, "The message has no visible text."),
    "message_too_long": (413, "The message is too long."),
    "models_invalid": (400, "Name one to four different models that exist."),
    "tool_unknown": (400, "There is no such tool."),
    "role_order": (409, "User messages and answers alternate; this message cannot take that place."),
    "parent_in_progress": (409, "The parent message is still being answered."),
    "turn_in_progress": (409, "The latest message is still being answered."),
    "not_waiting": (409, "Only the newest question can be taken back, and only while it waits."),
    "idempotency_mismatch": (409, "This client_message_id was used for another request."),
    "too_many_runs": (429, "Too many answers are being written for you. Try again later."),
    "too_many_shares": (409, "This chat has too many links. Revoke some first."),
    "queue_full": (429, "Too many answers are waiting. Try again later."),
    "stream_unavailable": (503, "Answers cannot be delivered at the moment. Try again later."),
}


class ApiError(Exception):
    """Ends a request with an error answer; nothing was changed.

    field: the name of the offending field, if there is one. details: further members of the error body.
    """

    def __init__(self, code: str, message: str = "", *, field: str | None = None, **details: Any) -> None:
        self.code = code
        self.status, default = REFUSALS[code]
        self.message = message or default
        self.field = field
        self.details = details
        super().__init__(code)

"""The errors that clients are told: of requests (ApiError), of files, of runs, and what a model server said. Pure.

Clients branch on the codes, people read the messages. Renaming a code breaks clients, and
rows that hold the code of a file or a run.
"""

from typing import Any, Final, NamedTuple

from chat.protocol.wire import Error

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
    "request_timeout": (408, "The request did not arrive in time."),
    "headers_too_large": (431, "The headers of the request are too large."),
    "too_many_connections": (429, "Your address has too many open connections. Close some first."),
    "too_many_uploads": (503, "Too much is being received at the moment. Try again later."),
    # Who asked
    "not_authenticated": (401, "Log in first."),
    "invalid_credentials": (401, "The user name or the password is wrong."),
    "permission_denied": (403, "You may not do this."),
    "token_read_only": (403, "This token may only read."),
    "token_out_of_scope": (403, "This token is for the routes of other programs below /v1/."),
    "csrf_failed": (403, "The CSRF check failed. Reload the page."),
    "rate_limited": (429, "Too many attempts. Try again later."),
    "login_busy": (503, "Too many people are logging in. Try again in a moment."),
    # What it was about
    "not_found": (404, "There is nothing here."),
    "session_not_found": (404, "There is no such session."),
    "temporary_session": (409, "This chat is temporary. Keep it first."),
    "message_not_found": (404, "There is no such message."),
    "parent_not_found": (404, "There is no such parent message."),
    "turn_not_found": (404, "There is no such turn."),
    "run_not_found": (404, "There is no such run."),
    "tool_call_not_found": (404, "No such tool call asks for your approval."),
    "file_not_found": (404, "There is no such file."),
    "file_empty": (400, "The file is empty."),
    "file_too_large": (413, "The file is too large."),
    "file_type_mismatch": (415, "The content of the file is not what its name says."),
    "too_many_files": (409, "You have stored too many files. Delete some first."),
    "too_many_waiting_files": (429, "Too many files are waiting to be read. Try again later."),
    "file_storage_unavailable": (503, "Files cannot be stored at the moment. Try again later."),
    "invalid_multipart": (400, "The body is not a valid form with one file."),
    "invalid_range": (416, "The file does not have this range."),
    "file_processing": (409, "A file is still being read. Try again in a moment."),
    "attachments_too_large": (413, "A file is too large for a model that was chosen."),
    "file_failed": (422, "A file could not be read. Leave it out."),
    "token_not_found": (404, "There is no such token."),
    "tag_not_found": (404, "None of your chats has this tag."),
    "share_not_found": (404, "There is no such link."),
    "agent_not_found": (404, "There is no such agent."),
    "prompt_not_found": (404, "There is no such prompt."),
    "webhook_not_found": (404, "There is no such webhook."),
    "provider_not_found": (404, "There is no such provider."),
    "project_not_found": (404, "There is no such project."),
    "knowledge_base_not_found": (404, "There is no such knowledge base."),
    "document_not_found": (404, "There is no such document."),
    "member_not_found": (404, "There is no such member."),
    "user_not_found": (404, "There is no such user."),
    # Members of knowledge bases
    "not_allowed": (403, "Your role in this knowledge base does not allow this."),
    "already_member": (409, "This user is a member already."),
    "too_many_invitations": (429, "This user has not accepted as many of your knowledge bases as may wait."),
    "too_many_shared_agents": (429, "As many of your agents are shared with this user as may be."),
    "last_owner": (409, "A knowledge base counts for an owner. Let another owner accept that first."),
    "owner_without_room": (
        409,
        "No other owner has room for what the knowledge base holds. Make a member with room one first.",
    ),
    # Providers of models
    "mcp_server_not_found": (404, "There is no such MCP server."),
    "mcp_server_name_taken": (409, "There is an MCP server of this name."),
    "mcp_command_refused": (400, "MCP_COMMANDS does not name this program."),
    "mcp_url_refused": (400, "No MCP server is reached at this address."),
    "mcp_variable_refused": (
        400,
        "Only environment variables that begin with MCP_ are given to MCP servers.",
    ),
    "mcp_server_without_sign_in": (409, "Nobody signs in to this MCP server."),
    "mcp_resource_not_found": (404, "The MCP server lists no such resource."),
    "mcp_prompt_not_found": (404, "The MCP server lists no such prompt."),
    "mcp_request_not_found": (404, "There is no such request to an MCP server."),
    "mcp_server_unavailable": (409, "The MCP server cannot be reached at the moment."),
    "mcp_server_refused": (409, "The MCP server has refused it."),
    "mcp_sign_in_needed": (409, "Sign in to the MCP server first."),
    "not_signed_in": (409, "You have not signed in to the server yet."),
    "too_many_mcp_servers": (409, "There are as many MCP servers as there may be. Delete one first."),
    "encryption_unavailable": (
        409,
        "Keys cannot be stored: set SECRETS_KEYS for web and the llm workers, to what `openssl rand -base64 32` prints.",
    ),
    "provider_address_invalid": (400, "This is not the address of a model server."),
    "provider_key_required": (400, "The stored key is not sent to another server. Enter the key again."),
    "provider_name_taken": (409, "There is a provider of this name."),
    "model_name_taken": (409, "There is another model of this name."),
    # Quotas; the body has `max`
    "too_many_providers": (409, "There are as many providers as there may be. Delete one first."),
    "too_many_models": (409, "The provider has as many models as it may have."),
    "too_many_sessions": (409, "You have as many chats as you may have. Delete one first."),
    "too_many_projects": (409, "You have as many projects as you may have. Delete one first."),
    "too_many_agents": (409, "You have as many agents as you may have. Delete one first."),
    "too_many_tags": (409, "You have as many different tags as you may have. Delete one first."),
    "too_many_prompts": (409, "You have as many prompts as you may have. Delete one first."),
    "too_many_webhooks": (409, "You have as many webhooks as you may have. Delete one first."),
    "too_many_tokens": (409, "You have as many tokens as you may have. Delete one first."),
    "too_many_knowledge_bases": (
        409,
        "You have as many knowledge bases as you may have. Delete one first.",
    ),
    "too_many_documents": (409, "The knowledge base has as many documents as it may have. Delete one first."),
    "too_many_chunks": (
        409,
        "There is no room for more texts that are searched. Delete some documents first.",
    ),
    "storage_full": (409, "There is no room for more of your texts and files. Delete some chats first."),
    "too_many_sockets": (429, "You have too many connections open. Close one first."),
    "too_many_answers": (409, "This question has as many answers as it may have."),
    # Turns
    "message_empty": (400, "The message has no visible text."),
    "message_too_long": (413, "The message is too long."),
    "models_invalid": (400, "Name one to four different models that exist."),
    "option_unsupported": (400, "A model cannot have this option."),
    "tool_unknown": (400, "There is no such tool."),
    "tool_not_configured": (400, "The tool is not set up on this server."),
    "role_order": (409, "User messages and answers alternate; this message cannot take that place."),
    "session_not_empty": (409, "The chat holds messages."),
    "parent_in_progress": (409, "The parent message is still being answered."),
    "answer_in_progress": (
        409,
        "An answer up to there is still being written. Fork the chat when it is complete.",
    ),
    "turn_in_progress": (409, "The latest message is still being answered."),
    "not_continuable": (
        409,
        "Only an answer with a text and no replies that was cut at the output limit, stopped or broken off can go on.",
    ),
    "run_limit_reached": (409, "The answer has used all that one answer may use."),
    "not_waiting": (409, "This question does not wait any more: it cannot be changed or taken back."),
    "already_decided": (409, "This call is decided already, or its answer has ended."),
    "tool_unavailable": (409, "This tool is not available any more. Refuse the call, or stop the answer."),
    "arguments_invalid": (400, "The tool does not take these arguments."),
    "answer_invalid": (400, "The answer does not fit the question."),
    "idempotency_mismatch": (409, "This client_message_id was used for another request."),
    "too_many_runs": (429, "Too many answers are being written for you. Try again later."),
    "daily_limit_reached": (429, "You have used what you may use today."),
    "too_many_shares": (409, "This chat has too many links. Revoke some first."),
    "queue_full": (429, "Too many answers are waiting. Try again later."),
    "stream_unavailable": (503, "Answers cannot be delivered at the moment. Try again later."),
}


class ApiError(Exception):
    """Ends a request with an error answer; nothing was changed.

    field: the name of the offending field, if there is one. retry_after_s: when to try again, where that is known.
    details: further members of the error body.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        *,
        field: str | None = None,
        retry_after_s: int | None = None,
        **details: Any,
    ) -> None:
        self.code = code
        self.status, default = REFUSALS[code]
        self.message = message or default
        self.field = field
        self.retry_after_s = retry_after_s
        self.details = details
        super().__init__(code)


FILE_ERRORS: Final[dict[str, str]] = {
    "file_type_unsupported": "Files of this type cannot be read.",
    "file_missing": "The content of the file is gone. Upload it again.",
    "content_missing": "The file was imported without its content. Upload it again.",
    "file_unreadable": "The file could not be read.",
    "document_corrupt": "The document is damaged, or is not what its name says.",
    "document_encrypted": "The document is protected by a password.",
    "document_limits": "The document is too large to be read.",
    "document_unsafe": "The document contains XML constructs that are not accepted.",
    "archive_limits": "The archive unpacks to too much, or holds further archives.",
    "archive_unsafe": "The archive holds names that lead outside of it.",
    "image_corrupt": "The picture is damaged.",
    "image_limits": "The picture has too many pixels.",
    "storage_full": "There is no room for the text of the file. Delete some chats or files first.",
    "too_many_chunks": "There is no room for more texts that are searched.",
    "url_scheme_blocked": "Only addresses that begin with http:// or https:// are read.",
    "url_address_blocked": "This address is not read: it does not lead to a public server, or has a port or a user name.",
    "url_unreachable": "The server of the address does not answer.",
    "too_many_redirects": "The address leads to others too often.",
    "response_too_large": "What the address leads to is too large.",
    "content_type_unsupported": "What the address leads to is not a text.",
    "http_error": "The server of the address answered with an error.",
    "timeout": "The server of the address took too long.",
    "tls_error": "The connection to the server of the address is not secure.",
}


def file_error_message(code: str) -> str:
    return FILE_ERRORS.get(code, FILE_ERRORS["file_unreadable"])


RUN_ERRORS: Final[dict[str, tuple[str, bool]]] = {
    "context_too_long": (
        "The conversation is too long for the model. Shorten it, or use a larger model.",
        False,
    ),
    "prompt_too_long": (
        "The prompts of the agent, the project and the chat are too long for the model. Shorten them, or use a larger model.",
        False,
    ),
    "tools_too_long": (
        "The descriptions of the chosen tools are too long for the model. Choose fewer tools, or use a larger model.",
        False,
    ),
    "empty_response": ("The model returned an empty answer.", True),
    "output_limit_reached": ("The model reached its output limit before the answer began.", True),
    "model_refusal": ("The model declined to answer.", False),
    "model_not_configured": ("The model is not available any more.", False),
    "tool_unknown": ("The model cannot use the requested tool.", False),
    "tool_not_configured": ("The requested tool is not set up on this server.", False),
    "option_unsupported": ("The model cannot have an option that was chosen.", False),
    "upstream_option_rejected": ("The model server refused an option that was chosen.", False),
    "upstream_auth": ("The model server refused the credentials.", False),
    "upstream_quota": ("The budget at the model server is used up.", False),
    "model_not_found": ("The model server does not have this model.", False),
    "content_filtered": ("The model server's content filter rejected the request.", False),
    "upstream_rejected": ("The model server rejected the request.", False),
    "upstream_rate_limited": ("The model server is busy.", True),
    "upstream_unavailable": ("The model server failed or is overloaded.", True),
    "upstream_unreachable": ("The model server could not be reached.", True),
    "upstream_timeout": ("The model server did not answer in time.", True),
    "upstream_interrupted": ("The model server broke off in the middle of the answer.", True),
    "upstream_malformed": ("The model server sent something that is not a chat completion.", True),
    "run_limit_reached": ("The answer used all that one answer may use before it had a text.", False),
    "deadline_exceeded": ("The answer took longer than allowed.", True),
    "worker_lost": ("The answer was interrupted too often.", True),
    "internal_error": ("Something went wrong on our side.", True),
}


def run_error(code: str, subject: str = "") -> Error:
    """Build the error of this code. subject: the name of what is wrong, if there is one."""
    message, retryable = RUN_ERRORS[code]
    if subject:
        message = f"{message.removesuffix('.')}: {subject}."
    return Error(code=code, message=message, retryable=retryable)


PROVIDER_ERRORS: Final[dict[str, str]] = {
    "address_refused": "The address belongs to no model server.",
    "redirected": "The server sends requests to another address. Enter that one.",
    "no_model_list": "The server has no list of models at this address. Usually the address ends in /v1.",
    "not_json": "The server answers, but not in JSON. Usually the address ends in /v1.",
    "not_openai": "The server answers, but not as OpenAI-compatible servers do.",
    "list_too_long": "The list of models is too long.",
    "key_unreadable": "The key cannot be decrypted any more. Enter it again.",
    "encryption_unavailable": "SECRETS_KEYS is not set for the llm workers.",
}
CHECK_ERRORS: Final = frozenset({*PROVIDER_ERRORS, *RUN_ERRORS})


MAX_CODE_CHARACTERS: Final = 100
MAX_MESSAGE_CHARACTERS: Final = 2_000


class UpstreamError(NamedTuple):
    """For staff; redacted and capped (llm_worker/upstream/redaction.py).

    status: of HTTP, None without a response.  code: the server's own, or its error's type; may be empty.
    message: may be our own, where the server said nothing.
    """

    status: int | None = None
    code: str = ""
    message: str = ""


NO_UPSTREAM_ERROR: Final = UpstreamError()

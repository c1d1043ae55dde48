"""Names in the OpenAPI document for sets of values that several fields have, or whose fields have equal names."""

from typing import Final

ENUM_NAMES: Final = {
    "ErrorCode": "web.rest.error_answer.CODES",
    "ApprovalKind": "chat.models.approval.Kind.values",
    "KindEnum": "knowledge.models.FileKind.values",
    "FileStatus": "knowledge.models.FileStatus.values",
    "McpServerStatus": "chat.models.mcp_server.McpStatus.values",
    "McpRequestKind": "chat.models.mcp_request.McpRequestKind.values",
    "McpRequestStatus": "chat.models.mcp_request.McpRequestStatus.values",
    "MessageRole": "chat.models.Role.values",
    "MemberRole": "knowledge.models.MemberRole.values",
    "RunStatus": "web.rest.answer_schemas.RUN_STATUSES",
    "ToolCallStatus": "chat.models.tool_call.ToolCallStatus.values",
}

"""What the OpenAPI document calls sets of values that several fields have, or whose fields are called alike."""

from typing import Final

ENUM_NAMES: Final = {
    "ErrorCode": "web.rest.errors.ERROR_CODES",
    "Tool": "web.rest.fields.TOOLS",
    "ApprovalKind": "web.rest.approvals.KINDS",
    "KindEnum": "web.rest.file_schemas.FILE_KINDS",
    "FileStatus": "web.rest.file_schemas.FILE_STATUSES",
    "McpServerStatus": "web.rest.mcp_servers.STATUSES",
    "McpRequestKind": "web.rest.mcp_attachments.KINDS",
    "McpRequestStatus": "web.rest.mcp_attachments.STATUSES",
    "MessageRole": "web.rest.response_schemas.ROLES",
    "MemberRole": "web.rest.knowledge_base_schemas.MEMBER_ROLES",
    "RunStatus": "web.rest.response_schemas.STATUSES",
    "ToolCallStatus": "web.rest.response_schemas.CALL_STATUSES",
}

"""The tables; each model groups its factories, mutators, queries and properties.

Models do not publish events, enqueue tasks or format responses.
"""

from chat.models.account_deletion import AccountDeletion
from chat.models.agent import Agent
from chat.models.approval import Approval
from chat.models.cited_document import CitedDocument
from chat.models.compression import Compression, CompressionStatus, TriggeredBy
from chat.models.daily_use import DailyUse, DefaultLimits, GroupLimits, PendingUse
from chat.models.edited_answer import EditedAnswer
from chat.models.invitation import Invitation
from chat.models.leadership import Leadership
from chat.models.login import Login
from chat.models.login_limit import LoginLimit
from chat.models.mcp_catalog import McpCatalog, McpToolList
from chat.models.mcp_request import McpRequest
from chat.models.mcp_server import McpServer
from chat.models.mcp_sign_in import McpCredential, McpRevocation, McpSignIn
from chat.models.message import ChatMessage, Feedback, MessageFile
from chat.models.model_config import ModelConfig
from chat.models.preferences import Preferences
from chat.models.prompt_block import PromptBlock
from chat.models.provider import Provider
from chat.models.role import Role
from chat.models.run import Run, run_of
from chat.models.run_setup import PromptVersion, RunSetup
from chat.models.sent_request import SentRequest
from chat.models.session import Session, SessionEvent
from chat.models.share import Share, SharedPage
from chat.models.side_request import SideRequest
from chat.models.stored_bytes import StoredBytes
from chat.models.suggestion import Suggestion
from chat.models.system_prompt import SystemPrompt
from chat.models.tip_snapshot import TipSnapshot
from chat.models.token_scope import Scope, TokenScope, TokenUse
from chat.models.tool_call import ToolCall, ToolCallImage
from chat.models.tool_policy import ToolPolicy
from chat.models.turn import Turn

__all__ = [
    "AccountDeletion",
    "Agent",
    "Approval",
    "ChatMessage",
    "CitedDocument",
    "Compression",
    "CompressionStatus",
    "DailyUse",
    "DefaultLimits",
    "EditedAnswer",
    "Feedback",
    "GroupLimits",
    "Invitation",
    "Leadership",
    "Login",
    "LoginLimit",
    "McpCatalog",
    "McpCredential",
    "McpRequest",
    "McpRevocation",
    "McpServer",
    "McpSignIn",
    "McpToolList",
    "MessageFile",
    "ModelConfig",
    "PendingUse",
    "Preferences",
    "PromptBlock",
    "PromptVersion",
    "Provider",
    "Role",
    "Run",
    "RunSetup",
    "Scope",
    "SentRequest",
    "Session",
    "SessionEvent",
    "Share",
    "SharedPage",
    "SideRequest",
    "StoredBytes",
    "Suggestion",
    "SystemPrompt",
    "TipSnapshot",
    "TokenScope",
    "TokenUse",
    "ToolCall",
    "ToolCallImage",
    "ToolPolicy",
    "TriggeredBy",
    "Turn",
    "run_of",
]

"""The tables; each model groups its factories, mutators, queries and properties.

Models do not publish events, enqueue tasks or format responses.
"""

from chat.models.account import AccountDeletion, Invitation, Login, LoginLimit, Preferences
from chat.models.agent import Agent
from chat.models.approval import Approval, ToolPolicy
from chat.models.compression import Compression, CompressionStatus, TriggeredBy
from chat.models.lease import Leadership
from chat.models.mcp_attachments import McpCatalog, McpRequest, McpToolList
from chat.models.mcp_server import McpServer
from chat.models.mcp_sign_in import McpCredential, McpRevocation, McpSignIn
from chat.models.message import ChatMessage, Feedback, MessageFile
from chat.models.message_additions import CitedDocument, EditedAnswer, PromptBlock
from chat.models.model_config import ModelConfig
from chat.models.model_requests import SentRequest, SideRequest
from chat.models.provider import Provider
from chat.models.role import Role
from chat.models.run import Run, run_of
from chat.models.run_setup import PromptVersion, RunSetup
from chat.models.session import Session, SessionEvent
from chat.models.share import Share, SharedPage
from chat.models.staff_texts import Suggestion, SystemPrompt
from chat.models.tip_snapshot import TipSnapshot
from chat.models.token_scope import Scope, TokenScope, TokenUse
from chat.models.tool_call import ToolCall, ToolCallImage
from chat.models.turn import Turn
from chat.models.usage import DailyUse, DefaultLimits, GroupLimits, PendingUse, StoredBytes

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

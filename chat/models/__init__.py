"""The tables, one model per file; each model groups its factories, mutators, queries and properties.

Models do not publish events, enqueue tasks or format responses.
"""

from chat.models.agent import Agent
from chat.models.cited_document import CitedDocument
from chat.models.compression import Compression, CompressionStatus, TriggeredBy
from chat.models.feedback import Feedback
from chat.models.message import ChatMessage
from chat.models.message_file import MessageFile
from chat.models.model_config import ModelConfig
from chat.models.prompt_block import PromptBlock
from chat.models.role import Role
from chat.models.run import Run, run_of
from chat.models.sent_request import SentRequest
from chat.models.session import Session, SessionEvent
from chat.models.share import Share
from chat.models.system_prompt import SystemPrompt
from chat.models.tip_snapshot import TipSnapshot
from chat.models.tool_call import ToolCall
from chat.models.turn import Turn

__all__ = [
    "Agent",
    "ChatMessage",
    "CitedDocument",
    "Compression",
    "CompressionStatus",
    "Feedback",
    "MessageFile",
    "ModelConfig",
    "PromptBlock",
    "Role",
    "Run",
    "SentRequest",
    "Session",
    "SessionEvent",
    "Share",
    "SystemPrompt",
    "TipSnapshot",
    "ToolCall",
    "TriggeredBy",
    "Turn",
    "run_of",
]

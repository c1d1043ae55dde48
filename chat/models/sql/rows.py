"""The columns of whole rows, for statements that read a model's instance: one NamedTuple for each table.

The fields are the model's attributes in the model's order (tests/chat/models/test_rows.py compares them).
"""

from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.statements import JSONText, select_list


class SessionRow(NamedTuple):
    id: UUID
    owner_id: int
    title: str
    has_provisional_title: bool
    agent_id: UUID | None
    project_id: UUID | None
    leaf_id: UUID | None
    latest_event: int
    seen_event: int
    answered_event: int
    created_at: datetime
    updated_at: datetime
    stored_bytes: int
    is_measured: bool
    settings: JSONText | None
    has_picked_bases: bool
    has_own_models: bool
    is_pinned: bool
    is_archived: bool
    deleted_at: datetime | None
    purge_at: datetime | None
    temporary_until: datetime | None
    part_of: UUID | None
    tags: list[str]
    models: list[str]


class TurnRow(NamedTuple):
    id: UUID
    session_id: UUID
    user_message_id: UUID
    after_id: UUID | None
    created_at: datetime
    ended_at: datetime | None
    additional_context: str
    is_context_instructing: bool
    knowledge_bases: list[UUID] | None
    earlier_knowledge_bases: list[UUID] | None
    origin_id: UUID | None
    request_id: str
    api_token: UUID | None
    caller_tools: JSONText | None
    given_rounds: int


class ModelConfigRow(NamedTuple):
    id: int
    dialect: list[str]
    refused_tools: list[str]
    max_tools: int | None
    dialect_source: str
    redirects_to: str
    redirect_source: str
    max_requests: int | None
    name: str
    base_url: str
    api_key_env: str
    context_window: int
    max_output_tokens: int | None
    supports_vision: bool
    supports_tools: bool
    supports_prefill: bool
    supports_tool_choice_none: bool
    supports_prompt_cache_key: bool
    requires_alternating_roles: bool
    unsupported_options: list[str]
    queue: str
    tokenizer: str
    token_factor: float
    token_samples: int
    prompt_price: Decimal | None
    cached_price: Decimal | None
    completion_price: Decimal | None
    provider_id: UUID | None
    upstream_name: str
    is_default: bool
    is_demo: bool
    enabled: bool


class MessagePlace(NamedTuple):
    """Where a message stands in the tree; the rest of it is loaded when it is used."""

    id: UUID
    session_id: UUID
    parent_id: UUID | None
    role: str


# Columns of a table `session`, `turn`, `model` or `message`.
SESSION: Final = select_list(SessionRow, "session", has_provisional_title="has_makeshift_title")
TURN: Final = select_list(TurnRow, "turn")
MODEL_CONFIG: Final = select_list(ModelConfigRow, "model")
MESSAGE_PLACE: Final = select_list(MessagePlace, "message")

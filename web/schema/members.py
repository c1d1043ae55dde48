"""Members that several bodies of requests have."""

from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

from django.conf import settings
from msgspec import Meta

from chat.models.mcp_server import McpServer
from chat.presenters.tools import choosable_tools
from chat.protocol import mcp_names as names
from chat.protocol.errors import ApiError
from chat.protocol.member_types import doc
from chat.protocol.strict_json import UNSTORABLE_PATTERN
from chat.turns.request import (
    MAX_KNOWLEDGE_BASES,
    MAX_MODELS,
    are_models,
    has_visible_text,
)
from web.schema.body import rule

MAX_USER_NAME: Final = 150
TOOLS: Final = sorted(choosable_tools())
# Stands for invisible_text_pattern() until the document is written, since that takes a tenth of a second.
INVISIBLE: Final = "invisible"
# One of our tools, or one of an MCP server; a choice may also be all tools of a server.
_TOOL: Final[dict[str, Any]] = {
    "anyOf": [{"enum": TOOLS}, {"pattern": names.CHOICE, "maxLength": names.MAX_TOOL_NAME}]
}


def matches_none(*patterns: str) -> dict[str, Any]:
    """Return the keyword of JSON Schema for a text that can be stored and matches none of the patterns."""
    return {"not": {"anyOf": [{"pattern": pattern} for pattern in (UNSTORABLE_PATTERN, *patterns)]}}


def _check_visible(text: str, code: str = "invalid_value") -> str:
    if not has_visible_text(text):
        raise ApiError(code)
    return text


def _check_models(least: int) -> Meta:
    def check(models: list[str]) -> list[str]:
        if not are_models(models) or len(models) < least:
            raise ApiError("models_invalid")
        return models

    keywords = {"minItems": least, "maxItems": MAX_MODELS, "uniqueItems": True}
    return rule(check, keywords, null="models_invalid")


def _check_tool(name: str) -> str:
    if name not in TOOLS and not names.is_server_tool(name):
        raise ApiError("tool_unknown")
    return name


def _check_tools(tools: list[str]) -> list[str]:
    others = set(tools).difference(TOOLS)
    servers = {names.server_of(name) for name in others}
    if not all(map(names.is_server_tool, others)) or not McpServer.objects.all_exist(servers):
        raise ApiError("tool_unknown")
    return list(dict.fromkeys(tools))


def _remove_repeated(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


# Of a list: a repeated value counts once.
DISTINCT: Final = rule(_remove_repeated)
# With visible text.
Visible = Annotated[str, rule(_check_visible, matches_none(INVISIBLE))]
MessageText = Annotated[
    str,
    rule(partial(_check_visible, code="message_empty"), matches_none(INVISIBLE)),
    doc(
        f"At most {settings.MAX_MESSAGE_CHARACTERS} characters; a longer one is answered 413, with its `size`."
    ),
]
# Not empty.
Text = Annotated[str, Meta(min_length=1)]
# Ids of knowledge bases. Whether the user is a member is checked when they are used.
KnowledgeBases = Annotated[list[UUID], Meta(max_length=MAX_KNOWLEDGE_BASES), DISTINCT]
# Whether the user exists is checked when the name is used.
UserName = Annotated[Visible, Meta(max_length=MAX_USER_NAME)]
_ModelName = Annotated[str, Meta(max_length=200)]
# Distinct names of models, at most as many as may answer together. Whether they exist is checked when they are used.
Models = Annotated[list[_ModelName], _check_models(0)]
SomeModels = Annotated[list[_ModelName], _check_models(1)]
# The name of a tool. Whether the chat has the tool is checked when it is used.
Tool = Annotated[str, rule(_check_tool, _TOOL)]
# Names of tools; a repeated name counts once. Any tool of an existing server may be named, since the tools that a server
# lists change.
Tools = Annotated[list[Annotated[str, Meta(extra_json_schema=_TOOL)]], rule(_check_tools)]

"""What a server lists, as rows store it: within bounds; tools also named for models."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from chat.protocol.server_tool_names import offered_names
from chat.protocol.strict_json import is_storable, measured_storable
from llm_worker.stream.sanitiser import clean

if TYPE_CHECKING:
    from mcp_types import Prompt, PromptArgument, Resource

    from features.mcp.client.listing_pages import Catalog

MAX_URI: Final = 2_000
MAX_NAME: Final = 200
MAX_DESCRIPTION: Final = 1_000
MAX_TOOL_DESCRIPTION: Final = 4_000
MAX_ARGUMENTS: Final = 20
MAX_SIZE: Final = 2**53


def describe_catalog(catalog: "Catalog") -> dict[str, list[dict[str, Any]]]:
    """Return the fields of McpCatalog: `resources` and `prompts`, each item once, in the server's order."""
    return {
        "resources": _once(map(_describe_resource, catalog.resources), "uri"),
        "prompts": _once(map(_describe_prompt, catalog.prompts), "name"),
    }


def _once(described: Iterable[dict[str, Any] | None], key: str) -> list[dict[str, Any]]:
    return list({item[key]: item for item in described if item}.values())


def _describe_resource(resource: "Resource") -> dict[str, Any] | None:
    uri, size = str(resource.uri), resource.size
    if not _is_kept(uri, MAX_URI):
        return None
    return {
        "uri": uri,
        "name": _shortened(resource.title or resource.name or uri, MAX_NAME),
        "description": _shortened(resource.description or "", MAX_DESCRIPTION),
        "content_type": _shortened(resource.mime_type or "", MAX_NAME),
        "size": size if size is not None and 0 <= size <= MAX_SIZE else None,
    }


def _describe_prompt(prompt: "Prompt") -> dict[str, Any] | None:
    arguments = prompt.arguments or []
    are_kept = len(arguments) <= MAX_ARGUMENTS and all(
        _is_kept(argument.name, MAX_NAME) for argument in arguments
    )
    if not (are_kept and _is_kept(prompt.name, MAX_NAME)):
        return None
    return {
        "name": prompt.name,
        "title": _shortened(prompt.title or prompt.name, MAX_NAME),
        "description": _shortened(prompt.description or "", MAX_DESCRIPTION),
        "arguments": list(map(_describe_argument, arguments)),
    }


def _describe_argument(argument: "PromptArgument") -> dict[str, Any]:
    return {
        "name": argument.name,
        "title": _shortened(argument.title or argument.name, MAX_NAME),
        "description": _shortened(argument.description or "", MAX_DESCRIPTION),
        "required": bool(argument.required),
    }


def _is_kept(name: str, longest: int) -> bool:
    """Return whether the server can be asked for this name: it is neither empty nor too long, and can be stored."""
    return 0 < len(name) <= longest and is_storable(name)


def _shortened(text: str, longest: int) -> str:
    return clean(text)[:longest]


# Characters of JSON, of one tool and, with their descriptions, of all. Each run that chooses the server reads them and
# sends them to its model.
MAX_SCHEMA: Final = 32_000
MAX_SCHEMAS: Final = 500_000


def stored_tools(
    server: str, tools: Sequence[dict[str, Any]], chosen: Collection[str] = ()
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return tools as McpServer.tools has them, sorted by name; and the reasons of those that are left out, by name.

    tools: without their names for models.  chosen: the server's own names of the tools that come first where there is
    no room for all.
    """
    left_out = {
        clean(tool["tool"]): "its name has characters that cannot be stored"
        for tool in tools
        if clean(tool["tool"]) != tool["tool"]
    }
    tools = [tool for tool in tools if clean(tool["tool"]) == tool["tool"]]
    names = offered_names(server, (tool["tool"] for tool in tools))
    by_name = {names[tool["tool"]]: tool for tool in tools}
    stored, size = [], 0
    for name in sorted(by_name, key=lambda name: (by_name[name]["tool"] not in chosen, name)):
        tool = by_name[name]
        described = clean(tool["description"])[:MAX_TOOL_DESCRIPTION]
        length = _length(tool, described)
        if reason := _reason(tool, length, size):
            left_out[tool["tool"][:MAX_NAME]] = reason
        else:
            stored.append({**tool, "name": name, "description": described})
            size += length
    return sorted(stored, key=lambda tool: str(tool["name"])), left_out


def _reason(tool: dict[str, Any], length: int, size: int) -> str:
    """Return why a tool is left out; empty: it is not. size: of the tools that are stored before it."""
    if len(tool["tool"]) > MAX_NAME:
        return "its name is too long"
    if not length:
        return "its schema is too long, or cannot be stored"
    return "there is no room for its schema" if size + length > MAX_SCHEMAS else ""


def _length(tool: dict[str, Any], described: str) -> int:
    """Return the characters of the tool as JSON and of its description; 0: it is too long, or no JSON that can be stored."""
    parts = [tool["parameters"], tool.get("operation")]
    stored, length = measured_storable(parts) or (None, 0)
    return length + len(described) if stored == parts and length <= MAX_SCHEMA else 0

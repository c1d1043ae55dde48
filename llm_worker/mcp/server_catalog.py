"""Describes the resources and prompts of a server as rows store them: within bounds, without what cannot be stored."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from chat.protocol.strict_json import is_storable
from llm_worker.stream.sanitiser import clean

if TYPE_CHECKING:
    from mcp_types import Prompt, PromptArgument, Resource

    from llm_worker.mcp.listing_pages import Catalog

MAX_URI: Final = 2_000
MAX_NAME: Final = 200
MAX_DESCRIPTION: Final = 1_000
MAX_ARGUMENTS: Final = 20
MAX_SIZE: Final = 2**53


def describe_catalog(catalog: "Catalog") -> dict[str, list[dict[str, Any]]]:
    """Return the fields of McpCatalog: `resources` and `prompts`, each item once, in the server's order."""
    return {
        "resources": _once(map(_describe_resource, catalog.resources), "uri"),
        "prompts": _once(map(_describe_prompt, catalog.prompts), "name"),
    }


def _once(described: Iterable[dict[str, Any] | None], key: str) -> list[dict[str, Any]]:
    return list({one[key]: one for one in described if one}.values())


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
    are_kept = len(arguments) <= MAX_ARGUMENTS and all(_is_kept(one.name, MAX_NAME) for one in arguments)
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

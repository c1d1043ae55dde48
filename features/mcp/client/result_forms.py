"""Normalises the results of servers, member by member: the SDK refuses a whole result for one member that is odd. Pure.

What is understood stays, and what nobody reads here (icons, output schemas, annotations of blocks) is left out. The
members of all results are normalised in each: their names do not collide, and the SDK ignores those that a result does
not have.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final
from urllib.parse import unquote

from features.mcp.client.tool_schemas import normal_parameters

# In `_meta` of a list of tools: the names of all tools that the server lists, each with the reason why it is left out.
LISTED_TOOLS: Final = "turnwire/listed-tools"
# Of a list in a result; no honest server has as many, and each member takes time on the loop of all runs.
MAX_MEMBERS: Final = 2_000
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
# What an initialize result without a revision is of: the first revision of the HTTP transport (2025-06-18, Transports).
_OLDEST: Final = "2025-03-26"
_DATA_URL: Final = re.compile(r"\s*data:([^;,]*)[^,]{0,100},")
_MEDIA: Final = ("image", "audio")
Object = Mapping[str, Any]


def normal_result(result: Object) -> dict[str, Any]:
    """Return the result with all members that some revision demands."""
    normal = {**result, **{name: form(result.get(name)) for name, form in _FORMS.items()}}
    # A result that is no object is wrapped, as the SDKs of servers do.
    structured = result.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        normal["structuredContent"] = {"result": structured}
    if "instructions" in normal and not isinstance(normal["instructions"], str):
        del normal["instructions"]
    tools = list(map(_tool, _list(result.get("tools"))))
    normal["tools"] = [tool for _, tool in tools if isinstance(tool, dict)]
    reasons = {name: tool if isinstance(tool, str) else "" for name, tool in tools}
    normal["_meta"] = {**_object(result.get("_meta")), LISTED_TOOLS: reasons}
    normal["resultType"] = _result_type(result)
    return normal


def _result_type(result: Object) -> str:
    kind = result.get("resultType")
    is_call = "content" in result or "structuredContent" in result
    return kind if isinstance(kind, str) and (kind == "input_required" or not is_call) else "complete"


def _tool(tool: Any) -> tuple[str, dict[str, Any] | str]:
    """Return the name of a tool, and its normal form, or the reason why it is left out."""
    name = _object(tool).get("name")
    if not (isinstance(name, str) and name):
        return "a tool without a name", "it cannot be called"
    parameters = normal_parameters(tool.get("inputSchema"))
    if parameters is None:
        return name, "its schema is not that of an object"
    hints = _object(tool.get("annotations"))
    return name, {
        **_texts(tool, "name", "title", "description"),
        "inputSchema": parameters,
        "annotations": {hint: hints[hint] for hint in _HINTS if isinstance(hints.get(hint), bool)},
    }


def _resources(value: Any) -> list[dict[str, Any]]:
    return [
        {"name": resource["uri"], **_described(resource, "uri")}
        for resource in _objects(value)
        if isinstance(resource.get("uri"), str)
    ]


def _described(item: Object, *names: str) -> dict[str, Any]:
    size = item.get("size")
    is_size = isinstance(size, int) and not isinstance(size, bool)
    texts = _texts(item, "name", "title", "description", "mimeType", *names)
    return {**texts, **({"size": size} if is_size else {})}


def _prompts(value: Any) -> list[dict[str, Any]]:
    return [
        {**_described(prompt), "arguments": [
            {**_described(argument), "required": argument.get("required") is True}
            for argument in _objects(prompt.get("arguments"))
            if isinstance(argument.get("name"), str)
        ]}
        for prompt in _objects(value)
        if isinstance(prompt.get("name"), str)
    ]  # fmt: skip


def _messages(value: Any) -> list[dict[str, Any]]:
    """Return the messages of a prompt, each with one block."""
    return [
        {"role": "assistant" if message.get("role") == "assistant" else "user", "content": block}
        for message in _objects(value)
        for block in _blocks(message.get("content"))
    ]


def _blocks(value: Any) -> list[dict[str, Any]]:
    """Return the blocks of a result: those that are not understood as their JSON, empty ones not at all."""
    blocks = value if isinstance(value, list) else [value]
    normal = [normal for block in blocks[:MAX_MEMBERS] if (normal := _block(block)) is not None]
    if len(blocks) > MAX_MEMBERS:
        normal.append({"type": "text", "text": f"(Cut off: the result has {len(blocks)} blocks.)"})
    return normal


def _block(block: Any) -> dict[str, Any] | None:
    if block is None or (
        isinstance(block, dict) and block.get("type") == "text" and block.get("text") is None
    ):
        return None
    kind = block.get("type") if isinstance(block, dict) else None
    form = _BLOCKS.get(kind) if isinstance(kind, str) else None
    normal = form(block) if form else None
    return normal or {"type": "text", "text": _text(block)}


def _text_block(block: Object) -> dict[str, Any]:
    return {"type": "text", "text": _text(block["text"])} if "text" in block else {}


def _medium(block: Object) -> dict[str, Any]:
    data = block.get("data")
    if not isinstance(data, str):
        return {}
    content_type = _texts(block, "mimeType").get("mimeType") or _type_of_data_url(data) or "unknown type"
    return {"type": block["type"], "data": _base64(data), "mimeType": content_type}


def _link(block: Object) -> dict[str, Any]:
    return (
        {"name": block["uri"], **_described(block, "uri", "type")}
        if isinstance(block.get("uri"), str)
        else {}
    )


def _embedded(block: Object) -> dict[str, Any]:
    contents = _contents([block.get("resource")])
    return {"type": "resource", "resource": contents[0]} if contents else {}


def _contents(value: Any) -> list[dict[str, Any]]:
    """Return the contents of resources, without those that have none."""
    contents: list[dict[str, Any]] = []
    for resource in _objects(value):
        texts = {"uri": "", **_texts(resource, "uri", "mimeType")}
        if isinstance(blob := resource.get("blob"), str):
            contents.append({**texts, "blob": _base64(blob)})
        elif resource.get("text") is not None:
            contents.append({**texts, "text": _text(resource["text"])})
    return contents


def _capabilities(value: Any) -> dict[str, Any]:
    """Return the capabilities that are read here. Servers that leave them out are asked for their tools all the same."""
    announced = value if isinstance(value, dict) else {}
    return {
        name: {flag: is_set for flag, is_set in _object(announced[name]).items() if isinstance(is_set, bool)}
        for name in ("tools", "resources", "prompts")
        if announced.get(name) not in (None, False)
    }


def _base64(text: str) -> str:
    """Return base64 in the standard form: without white space and the head of a data URL, with padding."""
    text = text[head.end() :] if (head := _DATA_URL.match(text)) else text
    text = unquote(text) if "%" in text else text
    text = re.sub(r"\s+", "", text).replace("-", "+").replace("_", "/").rstrip("=")
    return text + "=" * (-len(text) % 4)


def _type_of_data_url(text: str) -> str:
    head = _DATA_URL.match(text)
    return head[1] if head else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _texts(item: Object, *names: str) -> dict[str, str]:
    return {name: item[name] for name in names if isinstance(item.get(name), str)}


def _list(value: Any) -> list[Any]:
    return value[:MAX_MEMBERS] if isinstance(value, list) else []


def _object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> Iterable[Object]:
    return (item for item in _list(value) if isinstance(item, dict))


_BLOCKS: Final[Mapping[str, Callable[[Object], dict[str, Any]]]] = {
    "text": _text_block,
    **dict.fromkeys(_MEDIA, _medium),
    "resource_link": _link,
    "resource": _embedded,
}
_FORMS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "resources": _resources,
    "prompts": _prompts,
    "content": _blocks,
    "contents": _contents,
    "messages": _messages,
    "isError": lambda value: value in (True, "true"),
    "capabilities": _capabilities,
    "protocolVersion": lambda value: value if isinstance(value, str) else _OLDEST,
    "serverInfo": lambda value: {"name": "", "version": "", **_texts(_object(value), "name", "version")},
    "nextCursor": lambda value: value if isinstance(value, str) else None,
    # Without hints a list is not cached.
    "ttlMs": lambda value: value if isinstance(value, int) and value > 0 else 0,
    "cacheScope": lambda value: "public" if value == "public" else "private",
}

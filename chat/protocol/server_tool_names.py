"""The names under which models are offered the tools of MCP servers, `server__tool`. Pure.

The APIs of models accept letters, digits, `_` and `-`, 64 of them; servers may use more.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import Final

SEPARATOR: Final = "__"
ALL: Final = "*"
MAX_SERVER_NAME: Final = 30
MAX_TOOL_NAME: Final = 64
# Without the separator, and not ending with a part of it: the first separator of a name ends its server.
SERVER_NAME: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_|$))*"
CHOICE: Final = rf"^{SERVER_NAME}__(?:\*|[A-Za-z0-9_-]+)$"
_CHOICE: Final = re.compile(CHOICE)
_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]")


def is_server_name(name: str) -> bool:
    return len(name) <= MAX_SERVER_NAME and re.fullmatch(SERVER_NAME, name) is not None


def is_server_tool(name: str) -> bool:
    """Return whether the name is that of a tool of a server, or stands for all tools of one (`server__*`)."""
    return len(name) <= MAX_TOOL_NAME and _CHOICE.match(name) is not None


def all_of(server: str) -> str:
    return f"{server}{SEPARATOR}{ALL}"


def server_of(name: str) -> str:
    """Return the name of the server that a tool or a choice of tools belongs to."""
    return name.partition(SEPARATOR)[0]


def is_chosen(name: str, choices: Collection[str]) -> bool:
    return name in choices or all_of(server_of(name)) in choices


def offered_names(server: str, tools: Iterable[str]) -> dict[str, str]:
    """Return the names that models call tools by, by the server's own names.

    A tool's name depends on no order and stays the same while the tools whose names are spelled alike do: where a
    spelling had to be changed, and is not the only one of its kind, or is too long, a digest of the server's own name
    ends it.
    """
    own = list(dict.fromkeys(tools))
    spelled = {tool: f"{server}{SEPARATOR}{_REFUSED.sub('_', tool)}" for tool in own}
    alike = Counter(spelled.values())
    return {
        tool: name if _fits(name) and (alike[name] == 1 or _is_exact(name, tool)) else with_digest(name, tool)
        for tool, name in spelled.items()
    }


def _fits(name: str) -> bool:
    return len(name) <= MAX_TOOL_NAME


def _is_exact(name: str, tool: str) -> bool:
    return name.endswith(f"{SEPARATOR}{tool}")


def with_digest(name: str, own: str) -> str:
    """Return a name that ends with a digest of another, whose spelling it has lost, in MAX_TOOL_NAME characters."""
    digest = sha256(own.encode(errors="replace")).hexdigest()[:8]
    return f"{name[: MAX_TOOL_NAME - len(digest) - 1]}_{digest}"

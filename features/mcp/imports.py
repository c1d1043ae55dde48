"""Parses the file in which desktop clients list MCP servers, `{"mcpServers": {name: …}}`, into fields of rows. Pure."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext as _

from chat.models.mcp_server import Transport
from chat.protocol.server_tool_names import MAX_SERVER_NAME

# The syntax of clients for a value from the environment.
_VARIABLE: Final = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_HTTP: Final = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})


class ImportRefused(Exception):
    """The file cannot be imported. The message is for users."""


def read_servers(text: str) -> list[dict[str, Any]]:
    """Parse the file, and return the fields of each server. Raises ImportRefused."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise ImportRefused(_("This is not JSON.")) from None
    listed = read.get("mcpServers", read.get("servers")) if isinstance(read, dict) else None
    if not (isinstance(listed, dict) and listed and all(isinstance(one, dict) for one in listed.values())):
        raise ImportRefused(_('Servers are expected below "mcpServers".'))
    return [_fields(name, one) for name, one in listed.items()]


def _fields(name: str, one: Mapping[str, Any]) -> dict[str, Any]:
    spelled = re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_-]+", "-", name)).strip("-_")[:MAX_SERVER_NAME]
    common = {"name": spelled, "is_enabled": not one.get("disabled", False)}
    if "url" in one:
        kind = one.get("type", one.get("transport", "http"))
        if not (isinstance(kind, str) and kind in _HTTP):
            raise ImportRefused(
                _("%(name)s: the transport %(kind)s is not supported.") % {"name": name, "kind": kind}
            )
        headers = _variables(name, one.get("headers", {}))
        return {**common, "transport": Transport.HTTP.value, "url": str(one["url"]), "headers": headers}
    args = one.get("args", [])
    if not (isinstance(one.get("command"), str) and isinstance(args, list)):
        raise ImportRefused(_("%(name)s: there is neither a command nor a url.") % {"name": name})
    command = [one["command"], *map(str, args)]
    env = _variables(name, one.get("env", {}))
    return {**common, "transport": Transport.STDIO.value, "command": command, "env": env}


def _variables(server: str, given: Any) -> dict[str, str]:
    """Return the environment variable of each entry.
    Raises ImportRefused for a plain value: values must not be stored."""
    found: dict[str, str] = {}
    for name, value in given.items() if isinstance(given, dict) else ():
        match = _VARIABLE.fullmatch(str(value))
        if match is None:
            message = _(
                "%(server)s: %(name)s has a value. Give it to the workers in an environment variable, and write ${VARIABLE} here."
            )
            raise ImportRefused(message % {"server": server, "name": name})
        found[str(name)] = match[1] or match[2]
    return found

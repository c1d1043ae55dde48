"""Builds the request of an operation from a model's arguments. Pure.

OpenAPI 3.1: Parameter Object, Style Values; Encoding Object for forms. It leaves open how lists and objects inside an
object of style `deepObject` are sent: as PHP, Rails and Stripe read them, `a[b][]=1` and `a[b][0][c]=1`.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from features.mcp.client.configuration import CallFailed
from features.mcp.client.openapi.api_bodies import FORM
from features.mcp.client.openapi.api_operations import BODY, Place
from knowledge.fetching.guarded_client import GuardedRequest

_SEPARATORS: Final = {"spaceDelimited": " ", "pipeDelimited": "|"}
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_UPWARD: Final = frozenset({".", ".."})


def build_request(operation: Mapping[str, Any], arguments: Mapping[str, Any]) -> GuardedRequest:
    """Build the request of a call. `operation`: of a listed tool. Raises CallFailed for values that cannot be sent."""
    url = str(operation["url"])
    query: list[tuple[str, str]] = []
    headers = {"Accept": "application/json, text/*;q=0.9, */*;q=0.5"}
    for place in (Place(*one) for one in operation["places"]):
        value = arguments.get(place.argument)
        if place.where == "path":
            url = url.replace(f"{{{place.name}}}", _in_path(place, value))
        elif value is None:
            continue
        elif place.where == "query":
            query += _in_query(place, value)
        else:
            headers[place.name] = _in_header(place, value)
    body = None
    if operation["content_type"] and BODY in arguments:
        body = _body(operation, arguments[BODY]).encode("utf-8", "replace")
        headers["Content-Type"] = operation["content_type"]
    return GuardedRequest(with_query(url, query), operation["method"], headers, body)


def with_query(url: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return the address with more parameters of its query."""
    address, mark, fragment = url.partition("#")
    query = _encoded(pairs)
    joint = "&" if "?" in address else "?"
    return f"{address}{joint}{query}{mark}{fragment}" if query else url


def _body(operation: Mapping[str, Any], value: Any) -> str:
    """Encode the body as JSON or as a form. Raises CallFailed for a form that is no object."""
    if operation["content_type"] != FORM:
        return json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict):
        raise CallFailed("The body has to be an object: it is sent as a form.")
    styles = {name: (style, explode) for name, style, explode in operation.get("fields", ())}
    pairs: list[tuple[str, str]] = []
    for name, one in value.items():
        # What the document says nothing about: lists by repeated names, objects as JSON.
        style, explode = styles.get(name, ("json" if isinstance(one, dict) else "form", True))
        if one is not None:
            pairs += _in_query(Place(name, "query", name, style, explode), one)
    return _encoded(pairs)


def _in_path(place: Place, value: Any) -> str:
    """Encode a value for the path. Raises CallFailed if it is empty or leads upward.
    A server may decode what is encoded before it walks the path.
    """
    text = _joined(place, value)
    if not text or _UPWARD & set(re.split(r"[/\\]", text)):
        raise CallFailed(f"This cannot be the value of {place.argument}.")
    return _quoted(text)


def _in_header(place: Place, value: Any) -> str:
    text = _joined(place, value)
    if _CONTROL.search(text):
        raise CallFailed(f"This cannot be the value of {place.argument}.")
    return text


def _in_query(place: Place, value: Any) -> Iterator[tuple[str, str]]:
    if place.style == "deepObject" and isinstance(value, (dict, list)):
        yield from _deep(place.name, value)
    elif place.style == "form" and place.explode and isinstance(value, dict):
        yield from ((name, _text(one)) for name, one in value.items())
    elif place.style != "json" and place.explode and isinstance(value, list):
        yield from ((place.name, _text(one)) for one in value)
    else:
        yield place.name, _joined(place, value)


def _deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for inner, one in value.items():
            yield from _deep(f"{name}[{inner}]", one)
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _deep(f"{name}[{index}]" if isinstance(one, (dict, list)) else f"{name}[]", one)
    else:
        yield name, _text(value)


def _joined(place: Place, value: Any) -> str:
    if place.style == "json":
        return json.dumps(value, ensure_ascii=False)
    separator = _SEPARATORS.get(place.style, ",")
    if isinstance(value, list):
        return separator.join(map(_text, value))
    if isinstance(value, dict):
        between = "=" if place.explode else separator
        return separator.join(f"{name}{between}{_text(one)}" for name, one in value.items())
    return _text(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _encoded(pairs: Iterable[tuple[str, str]]) -> str:
    return "&".join(f"{_quoted(name)}={_quoted(text)}" for name, text in pairs)


def _quoted(text: str) -> str:
    return quote(text, safe="", errors="replace")

"""The AsyncAPI document as a judge: are the server's frames as described, and what are valid commands?"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from jsonschema import Draft202012Validator, FormatChecker

from web.socket.asyncapi import build_document

DOCUMENT: Final[dict[str, Any]] = build_document()
MESSAGES: Final[dict[str, Any]] = DOCUMENT["components"]["messages"]


def payload(message: Mapping[str, Any]) -> dict[str, Any]:
    return resolve(message["payload"])


def resolve(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema that a reference names."""
    if "$ref" not in schema:
        return dict(schema)
    found: Any = DOCUMENT
    for part in schema["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return resolve(found)


@cache
def kinds(operation: str) -> dict[str, dict[str, Any]]:
    """The payloads of an operation's messages, by type."""
    names = [ref["$ref"].rpartition("/")[2] for ref in DOCUMENT["operations"][operation]["messages"]]
    payloads = [payload(MESSAGES[name]) for name in names]
    return {one["properties"]["type"]["const"]: one for one in payloads}


def commands() -> dict[str, dict[str, Any]]:
    return kinds("command")


@cache
def replies() -> frozenset[str]:
    return frozenset(kinds("reply"))


@cache
def _from_server() -> dict[str, Draft202012Validator]:
    components = _closed(DOCUMENT["components"])
    described = {**kinds("reply"), **kinds("push"), **kinds("push_of_the_list")}
    return {
        kind: Draft202012Validator(
            {**_closed(schema), "components": components}, format_checker=FormatChecker()
        )
        for kind, schema in described.items()
    }


def faults(frame: Any) -> list[str]:
    """What of an object from the server is not as described; a member that is not described is a fault."""
    if not isinstance(frame, dict) or frame.get("type") not in _from_server():
        return [f"no such message: {str(frame)[:200]}"]
    return _spell(frame["type"], _from_server()[frame["type"]], frame)


def _spell(name: str, validator: Draft202012Validator, value: Any) -> list[str]:
    return [f"{name}: {error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]


def faults_of(name: str, value: Any) -> list[str]:
    """What of a value is not as the message of this name is described; those of several types have more members."""
    return _spell(name, _message_validator(name), value)


@cache
def _message_validator(name: str) -> Draft202012Validator:
    schema = payload(MESSAGES[name])
    if "const" in schema["properties"]["type"]:
        schema = _closed(schema)
    return Draft202012Validator(
        {**schema, "components": _closed(DOCUMENT["components"])}, format_checker=FormatChecker()
    )


def is_valid_command(command: Any) -> bool:
    kind = command.get("type") if isinstance(command, dict) else None
    return isinstance(kind, str) and kind in commands() and _command_validator(kind).is_valid(command)


@cache
def _command_validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(
        {**commands()[kind], "components": DOCUMENT["components"]}, format_checker=FormatChecker()
    )


def _closed(schema: Any) -> Any:
    """The schema with no members allowed but those that it names; objects without any are left open."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(one) for name, one in schema.items()}
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed


def ids_in(schema: Mapping[str, Any]) -> Iterator[str]:
    """The members of a command that name rows."""
    for name, member in schema["properties"].items():
        found = resolve(member)
        if found.get("format") == "uuid" or resolve(found.get("items", {})).get("format") == "uuid":
            yield name

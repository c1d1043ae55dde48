"""The AsyncAPI document: asyncapi.yaml, with the messages from the Structs of commands and of frames to clients.

Features with a websocket of their own add its Channel (settings.SOCKET_CHANNELS).
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

import yaml
from django.conf import settings
from django.http import HttpResponse
from django.utils.module_loading import import_string
from drf_spectacular.utils import extend_schema
from msgspec import Struct
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from chat.events import frames
from chat.presenters.messages import MessageAnswer
from chat.protocol import errors, wire
from chat.protocol.states import Status
from chat.transcript.finish import CUT
from web.rest.api_view import StrictAPIView
from web.rest.errors import CODES
from web.rest.openapi import complete_bodies, describe, objects
from web.rest.operators import MayReadContract
from web.socket import replies
from web.socket.commands import COMMANDS

_SCHEMAS: Final = "#/components/schemas/"


class Channel(NamedTuple):
    """A websocket. head: a file in YAML, with all but the messages. structs: of the messages, by operation."""

    head: Path
    structs: Mapping[str, tuple[type[Struct], ...]]


_STRUCTS: Final[Mapping[str, tuple[type[Struct], ...]]] = {
    "command": tuple(COMMANDS.values()),
    "reply": (
        replies.Subscribed,
        replies.Unsubscribed,
        replies.Accepted,
        replies.Stopping,
        replies.SessionsWatched,
        replies.Pong,
        replies.ErrorFrame,
    ),
    "push": (
        frames.TurnStarted,
        frames.RunContinuedFrame,
        frames.OverallStop,
        frames.CompressionFrame,
        frames.SessionFrame,
        frames.Resync,
        wire.Packet,
        wire.Reset,
        wire.Snapshot,
        frames.Queued,
        frames.Heartbeat,
    ),
    "push_of_the_list": (
        frames.SessionChanged,
        frames.SessionDeleted,
        frames.SessionsResync,
        frames.ProjectChanged,
        frames.ProjectDeleted,
        frames.TagChanged,
        frames.KnowledgeBaseChanged,
        frames.KnowledgeBaseDeleted,
    ),
    "push_of_files": (frames.FileFrame, frames.ModelsChanged),
}
SOCKET: Final = Channel(Path(__file__).parent / "asyncapi.yaml", _STRUCTS)
# Sets of values that have a schema of their own.
_NAMED: Final = {
    "ErrorCode": CODES,
    "Status": [str(status) for status in Status],
    "StopReason": list(get_args(wire.StopReason)),
}


class AsyncApiView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [MayReadContract]

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:  # noqa: ARG002
        return HttpResponse(_rendered(), content_type="application/yaml")


@cache
def _rendered() -> str:
    return yaml.safe_dump(build_document(), sort_keys=False, allow_unicode=True, width=120)


def build_document(channels: Sequence[Channel] = ()) -> dict[str, Any]:
    """Return the document of these channels, the first of which is SOCKET; without any, of all."""
    channels = channels or [SOCKET, *map(import_string, settings.SOCKET_CHANNELS)]
    document, *others = map(_describe_channel, channels)
    for other in others:
        for section in ("servers", "channels", "operations"):
            document[section] |= other[section]
        document["components"]["messages"] |= other["components"]["messages"]
    document["info"]["version"] = settings.VERSION
    document["components"]["schemas"] = _describe_schemas(channels)
    return document


def _describe_channel(channel: Channel) -> dict[str, Any]:
    """Return the head of a channel, with the messages."""
    document: dict[str, Any] = yaml.safe_load(channel.head.read_text(encoding="utf-8"))
    [(name, described)] = document["channels"].items()
    address = f"#/channels/{name}"
    messages: dict[str, Any] = {}
    for operation_name, operation in document["operations"].items():
        structs = {_message_name(struct): struct for struct in channel.structs[operation_name]}
        messages |= {message: _describe_message(struct) for message, struct in structs.items()}
        operation["messages"] = [{"$ref": f"{address}/messages/{message}"} for message in structs]
        operation["channel"] = {"$ref": address}
    described["messages"] = {message: {"$ref": f"#/components/messages/{message}"} for message in messages}
    document["components"] = {"messages": messages}
    return document


def _describe_schemas(channels: Sequence[Channel]) -> dict[str, Any]:
    structs = (struct for channel in channels for group in channel.structs.values() for struct in group)
    schemas = describe([*structs, MessageAnswer])
    complete_bodies(schemas)
    echoed = {name: schemas["Pong"]["properties"][name] for name in ("id", "request_id")}
    for command in COMMANDS.values():
        schemas[command.__name__]["properties"] |= echoed
    # The protocol, where Snapshot stands, knows no messages.
    schemas["Snapshot"]["properties"]["message"] = {"$ref": f"{_SCHEMAS}{MessageAnswer.__name__}"}
    # Events that were recorded by an earlier release lack members.
    schemas["SessionFrame"]["required"] = ["n", "session", "type"]
    schemas["Error"]["properties"]["code"]["examples"] = sorted(errors.RUN_ERRORS)
    schemas["Stop"]["properties"]["finish_reason"]["enum"] = [*CUT]
    # A placement is sent with its defaults.
    schemas["Placement"]["required"] = sorted(schemas["Placement"]["properties"])
    for body in get_args(wire.AnyPacketBody):
        for member in schemas[body.__name__]["properties"].values():
            _drop_null(member)
    for part in objects(schemas):
        # In AsyncAPI a value of the named member would be the name of a schema.
        part.pop("discriminator", None)
    for schema in schemas.values():
        for name, member in schema.get("properties", {}).items():
            if name == "type" and len(member.get("enum", ())) == 1:
                schema["properties"][name] = {"const": member["enum"][0]}
            _name_values(member)
    return schemas | {name: {"enum": values} for name, values in _NAMED.items()}


def _drop_null(member: dict[str, Any]) -> None:
    """Packets leave null members out."""
    if isinstance(kinds := member.get("type"), list):
        [member["type"]] = [kind for kind in kinds if kind != "null"]
    for schema in member.pop("oneOf", ()):
        if schema != {"type": "null"}:
            member |= schema


def _name_values(member: dict[str, Any]) -> None:
    """Refer to a set of values that has a name, instead of repeating the values."""
    for name, values in _NAMED.items():
        if set(member.get("enum", ())) == set(values):
            del member["enum"]
            member.pop("type", None)
            member["$ref"] = f"{_SCHEMAS}{name}"


def _message_name(struct: type[Struct]) -> str:
    """Return the tag of the Struct, or its name in snake case where there is no tag, or another message has the same."""
    tag = struct.__struct_config__.tag
    if tag in (None, "error"):
        return re.sub(r"\B(?=[A-Z])", "_", struct.__name__).lower()
    return str(tag)


def _describe_message(struct: type[Struct]) -> dict[str, Any]:
    return {
        "name": str(struct.__struct_config__.tag or _message_name(struct)),
        "summary": " ".join((struct.__doc__ or "").split()),
        "payload": {"$ref": f"{_SCHEMAS}{struct.__name__}"},
    }

"""The ids of calls as the server of a request accepts them. Pure.

Ids are stored in an alphabet and a length that most servers accept (stream/call_assembler.py). The server that gave a
call is sent its own id again; some servers accept only ids of nine letters and digits.
"""

import re
import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count
from typing import Any, Final

from chat.transcript import dialect
from chat.transcript.entries import Call
from llm_worker.request.model_message import LanguageModelInput, Message

# A longer id of the server is sent back only if the server insists: such ids hold a signature, and other servers of the
# same name refuse them.
ID_CHARACTERS: Final = 40
# Any other id of a model is replaced before it is stored, since it is sent to servers that accept no other characters, and one
# that a program tells of another provider's call when it is sent.
OWN_ID: Final = re.compile(rf"[a-zA-Z0-9_-]{{1,{ID_CHARACTERS}}}")
# Key among a call's further members (Message.members): the id that its server gave, if another id is stored.
SERVER_ID: Final = "id"
_SHORT: Final = re.compile(r"[a-zA-Z0-9]{9}")
_ALPHABET: Final = string.digits + string.ascii_letters
# "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9",
# "Tool call IDs should be alphanumeric strings with length 9!"
_REFUSES_LENGTH: Final = re.compile(r"tool.?call.?ids?\b.{0,200}\blength (?:of )?9\b", re.DOTALL)
_MISSES_ITS_OWN: Final = re.compile(
    r"thought.?signature|tool.?call.?id.{0,80}(?:not found|not exist|unknown|invalid|mismatch|not match)"
    r"|no tool (?:call|output) found",
    re.DOTALL,
)


def with_accepted_ids(messages: LanguageModelInput, traits: Collection[str]) -> Sequence[Message]:
    """Return the messages with ids that the server accepts.
    A call and its response have the same id, and different ids stay different.
    """
    is_short = dialect.SHORT_CALL_IDS in traits
    short = _short_ids(call.id for message in messages for call in message.calls) if is_short else {}
    accepted: list[Message] = []
    ids: Mapping[str, str] = {}
    for message in messages:
        if message.calls:
            ids = short or _server_ids(message, is_any_length=dialect.SERVER_CALL_IDS in traits)
            calls = tuple(replace(call, id=ids.get(call.id, call.id)) for call in message.calls)
            accepted.append(replace(message, calls=calls, members=_renamed(message.members, ids)))
        elif message.tool_call_id in ids:
            accepted.append(replace(message, tool_call_id=ids[message.tool_call_id]))
        else:
            accepted.append(message)
    return accepted


def refused_ids(said: str, messages: LanguageModelInput) -> str:
    """Return the trait by which the server refuses the ids of these messages; empty if it does not.
    said: in lower case.
    """
    calls = [(message, call) for message in messages for call in message.calls]
    if calls and _REFUSES_LENGTH.search(said):
        return dialect.SHORT_CALL_IDS
    has_longer = any(len(_server_id(message, call) or call.id) > ID_CHARACTERS for message, call in calls)
    return dialect.SERVER_CALL_IDS if has_longer and _MISSES_ITS_OWN.search(said) else ""


def _server_ids(message: Message, *, is_any_length: bool) -> dict[str, str]:
    """Map the stored ids of the calls to the ids that the server of this request gave, or accepts."""
    given = {call.id: _server_id(message, call) for call in message.calls}
    return {
        **{own: f"call_{_digest(own)}" for own in given if not (is_any_length or OWN_ID.fullmatch(own))},
        **{
            own: sent for own, sent in given.items() if sent and (is_any_length or len(sent) <= ID_CHARACTERS)
        },
    }


def _server_id(message: Message, call: Call) -> str:
    members: Mapping[str, Any] = message.members.get("tool_calls", {}).get(call.id, {})
    return str(members.get(SERVER_ID, ""))


def _renamed(members: Mapping[str, Any], ids: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the members of the message, with those of its calls under their new ids."""
    if "tool_calls" not in members:
        return members
    return {
        **members,
        "tool_calls": {ids.get(own, own): of_call for own, of_call in members["tool_calls"].items()},
    }


def _short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Map each id to nine letters and digits.
    Ids are shortened in the order in which they appear, so that later requests repeat those of earlier ones.
    """
    known = dict.fromkeys(ids, "")
    taken = {own for own in known if _SHORT.fullmatch(own)}
    for own in known:
        known[own] = own if own in taken else _short_id(own, taken)
        taken.add(known[own])
    return known


def _short_id(own: str, taken: Collection[str]) -> str:
    attempts = (_digest(f"{attempt}/{own}") for attempt in count())
    return next(short for short in attempts if short not in taken)


def _digest(text: str) -> str:
    number, base = int.from_bytes(sha256(text.encode()).digest()), len(_ALPHABET)
    return "".join(_ALPHABET[number // base**place % base] for place in range(9))

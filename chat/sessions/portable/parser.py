"""Parses the JSON file of a session strictly, and checks that its messages are one tree. Pure.

The database has the same constraints; these errors name the place in the file.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import structs

from chat.protocol.errors import ApiError
from chat.sessions.portable.format import (
    MAX_ALL_CALLS,
    MAX_ALL_FILES,
    MAX_CALLS,
    MAX_NESTING,
    MAX_PATH,
    Call,
    File,
    Message,
    Portable,
    placed_files,
)

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Tolerates clocks of other hosts that are ahead.
LATEST_AHEAD: Final = timedelta(days=1)
_PARENTS: Final = {"user": ("root", "assistant"), "assistant": ("user",), "summary": ("user",)}
_QUESTION_MEMBERS: Final = ("files", "additional_context")
_RUN_MEMBERS: Final = ("tool_calls",)
_ANSWER_MEMBERS: Final = (*_RUN_MEMBERS, "citations", "feedback", "run", "edited")


def check_tree(messages: Sequence[Message], now: datetime) -> None:
    """Check all rules. Raises ApiError with the path of the member, such as `messages.7.parent`."""
    if not messages or messages[0].role != "root":
        _refuse("messages.0.role", "The first message is the root.")
    _check_amounts(messages)
    places: set[tuple[int | None, int, int]] = set()
    for number, message in enumerate(messages):
        _check_place(messages, number)
        _check_moments(message, number, now)
        _check_members(message, number)
        if message.run:
            place = (message.parent, message.run.turn, message.run.model_index)
            if place in places:
                _refuse(f"messages.{number}.run.model_index", "There is one answer per turn and model.")
            places.add(place)
    _check_origins(messages)
    _check_entries(messages)
    for number in range(len(messages)):
        _check_edited(messages, number)
        _check_pointers(messages, number)
    summaries = [one for one in messages if one.role == "summary"]
    _check_distinct(((one.parent, one.last_summarized_message) for one in summaries), "messages")


def _check_amounts(messages: Sequence[Message]) -> None:
    """Check the length of branches, and the numbers of tool calls of answers and of files and calls of all messages."""
    depths: list[int] = []
    calls = 0
    for number, message in enumerate(messages):
        at = f"messages.{number}"
        above = message.parent
        depths.append(depths[above] + 1 if above is not None and above < number else 0)
        if depths[-1] > MAX_PATH:
            _refuse(f"{at}.parent", f"A branch has at most {MAX_PATH} messages.")
        own_calls = _count_calls(message.tool_calls, f"{at}.tool_calls")
        if own_calls > MAX_CALLS:
            _refuse(f"{at}.tool_calls", f"An answer has at most {MAX_CALLS} tool calls.")
        calls += own_calls
        if calls > MAX_ALL_CALLS:
            _refuse(f"{at}.tool_calls", f"A session has at most {MAX_ALL_CALLS} tool calls.")
    for number, placed in enumerate(placed_files(messages)):
        if number == MAX_ALL_FILES:
            _refuse(placed.at.rpartition(".")[0], f"A session has at most {MAX_ALL_FILES} files and images.")


def _count_calls(calls: Sequence[Call], at: str, depth: int = 1) -> int:
    if calls and depth > MAX_NESTING:
        _refuse(at, f"Tool calls are nested at most {MAX_NESTING} deep.")
    inside = (
        _count_calls(call.children, f"{at}.{index}.children", depth + 1) for index, call in enumerate(calls)
    )
    return len(calls) + sum(inside)


def _check_origins(messages: Sequence[Message]) -> None:
    """Check that a retry stands in the columns of an earlier turn of its question, which is not a retry itself."""
    runs = [(number, message.parent, message.run) for number, message in enumerate(messages) if message.run]
    origins = {(parent, run.turn): run.origin for _, parent, run in runs}
    for number, parent, run in runs:
        if run.origin != origins[parent, run.turn] or (
            run.origin is not None
            and (run.origin >= run.turn or origins.get((parent, run.origin), run.origin) is not None)
        ):
            _refuse(f"messages.{number}.run.origin", "A retry stands in the columns of an earlier turn.")


def _check_entries(messages: Sequence[Message]) -> None:
    """Check that each content has a digest, and is described in the same way wherever it is attached."""
    described: dict[str, tuple[File, bool]] = {}
    for at, file, is_image in placed_files(messages):
        if file.entry is None:
            continue
        if file.sha256 is None and not file.is_missing:
            _refuse(f"{at}.sha256", "A content has a digest.")
        same = (structs.replace(file, number=None), is_image)
        if described.setdefault(file.entry, same) != same:
            _refuse(f"{at}.entry", "Another file has this entry.")


def _check_place(messages: Sequence[Message], number: int) -> None:
    message, at = messages[number], f"messages.{number}"
    if message.id != number:
        _refuse(f"{at}.id", "Messages are numbered from 0 in their order.")
    if message.role == "root":
        if number or message.parent is not None or message.text or message.reasoning:
            _refuse(f"{at}.role", "There is one root; it comes first and is empty.")
    elif message.parent is None or message.parent >= number:
        _refuse(f"{at}.parent", "A message comes after its parent.")
    elif messages[message.parent].role not in _PARENTS[message.role]:
        _refuse(f"{at}.role", "User messages and answers alternate.")


def _check_edited(messages: Sequence[Message], number: int) -> None:
    message, at = messages[number], f"messages.{number}.edited"
    if message.edited is None:
        return
    if message.run:
        _refuse(at, "An answer that was edited has no run.")
    original = message.edited.original
    if original is None:
        return
    is_other = original < len(messages) and original != number
    if not is_other or (messages[original].parent, messages[original].role) != (message.parent, message.role):
        _refuse(f"{at}.original", "What was edited is another answer to the same question.")


def _check_moments(message: Message, number: int, now: datetime) -> None:
    run = message.run
    for name, moment in (
        ("sent_at", message.sent_at),
        ("run.created_at", run and run.created_at),
        ("run.ended_at", run and run.ended_at),
    ):
        if moment and not (EARLIEST <= moment <= now + LATEST_AHEAD and _is_stored(moment)):
            _refuse(f"messages.{number}.{name}", "The time is not plausible.")


def _is_stored(moment: datetime) -> bool:
    """Return whether Postgres accepts the time zone."""
    return abs(moment.utcoffset() or timedelta(0)) < timedelta(hours=16)


def _check_members(message: Message, number: int) -> None:
    at = f"messages.{number}"
    if message.run and message.run.error and message.run.status != "failed":
        _refuse(f"{at}.run.error", "Only a failed run has an error.")
    for name in _ANSWER_MEMBERS if message.role != "assistant" else _RUN_MEMBERS if not message.run else ():
        if getattr(message, name):
            _refuse(f"{at}.{name}", "This message cannot have it.")
    for name in _QUESTION_MEMBERS if message.role != "user" else ():
        if getattr(message, name):
            _refuse(f"{at}.{name}", "Only a user message has it.")
    if message.feedback and message.feedback.is_positive is None and not message.feedback.text:
        _refuse(f"{at}.feedback", "Give is_positive, text or both.")
    _check_distinct((one.number for one in message.citations), f"{at}.citations")
    _check_distinct((one.number for one in message.files if one.number), f"{at}.files")
    _check_distinct((one.entry for one in message.files if one.entry), f"{at}.files")
    _check_calls(message.tool_calls, f"{at}.tool_calls")


def _check_calls(calls: Sequence[Call], at: str) -> None:
    _check_distinct(((call.turn_number, call.tab_index) for call in calls), at)
    for index, call in enumerate(calls):
        _check_calls(call.children, f"{at}.{index}.children")


def _check_distinct(values: Iterable[object], at: str) -> None:
    listed = list(values)
    if len(set(listed)) != len(listed):
        _refuse(at, "A number or an entry is given twice.")


def _check_pointers(messages: Sequence[Message], number: int) -> None:
    """Check that latest_child is a reply to the message, and a summary's cutoff at or above its parent."""
    message, at = messages[number], f"messages.{number}"
    child = message.latest_child
    if child is not None and not (
        child < len(messages) and messages[child].parent == number and messages[child].role != "summary"
    ):
        _refuse(f"{at}.latest_child", "This is not a reply to the message.")
    cutoff = message.last_summarized_message
    if (cutoff is not None) != (message.role == "summary"):
        _refuse(f"{at}.last_summarized_message", "A summary says up to where it goes, and nothing else does.")
    if cutoff is not None and not _is_above(messages, cutoff, message.parent):
        _refuse(f"{at}.last_summarized_message", "A summary covers what stands above it.")


def _is_above(messages: Sequence[Message], wanted: int, start: int | None) -> bool:
    """Return whether `wanted` is a user message or answer on the path from the root to `start`, inclusive."""
    here = start
    while here is not None and here > wanted:
        here = messages[here].parent
    return here == wanted and messages[here].role in ("user", "assistant")


def _refuse(field: str, message: str) -> None:
    raise ApiError("invalid_value", message, field=field)


_PATH: Final = re.compile(r" - at `\$(.*)`$")
_INDEX: Final = re.compile(r"\[(\d+)\]")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `(.*?)`", re.DOTALL)
_MISSING: Final = re.compile(r"^Object missing required field `(.*?)`", re.DOTALL)
# A wrong type reads "Expected `int`, got `str`"; a wrong value of the right type reads "Expected `int` >= 0".
_TYPE: Final = re.compile(r"^Expected .*, got `")


def parse(data: Mapping[str, Any], now: datetime) -> Portable:
    """Parse the decoded JSON. The result fulfils all constraints of the database. Raises ApiError."""
    try:
        portable = msgspec.convert(data, Portable)
    except msgspec.ValidationError as error:
        raise _api_error(str(error)) from None
    check_tree(portable.messages, now)
    return portable


def _api_error(message: str) -> ApiError:
    """Convert a message of msgspec to an ApiError."""
    path = _PATH.search(message)
    place = _INDEX.sub(r".\1", path[1]).replace("[...]", "").strip(".") if path else ""
    for code, pattern in (("unknown_field", _UNKNOWN), ("field_required", _MISSING)):
        if found := pattern.search(message):
            return ApiError(code, field=f"{place}.{found[1][:100]}".strip("."))
    return ApiError("invalid_type" if _TYPE.search(message) else "invalid_value", field=place or None)

"""SessionSettings: how turns of a session are answered, as its owner has set it. Pure.

A new setting is a member here. It is stored, copied with forks, exported, and sent as a member of the session.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final
from uuid import UUID

from msgspec import Struct

from chat.protocol.member_types import at_most, choice, doc

MAX_PROMPT_CHARACTERS: Final = 100_000
MAX_REMINDER_CHARACTERS: Final = 10_000


class WhileAnswering(StrEnum):
    """What a new turn does when the tip of the branch is still being answered."""

    REJECT = "reject"
    ENQUEUE = "enqueue"
    INTERRUPT = "interrupt"


class SessionSettings(Struct, kw_only=True, omit_defaults=True):
    """The settings as they are stored. Members that a later version has stored are ignored.

    tools: in addition to the agent's.
    options: run options of turns that set no others; over the agent's (run_options.py). Null as a value: the model's own.
    knowledge_bases: the bases searched beside the agent's, in their order; one may have been deleted since.
    """

    while_answering: Annotated[str, choice(WhileAnswering)] = WhileAnswering.ENQUEUE.value
    tools: list[str] = []
    reminder: Annotated[str, at_most(MAX_REMINDER_CHARACTERS)] = ""
    prompt: Annotated[
        str,
        at_most(MAX_PROMPT_CHARACTERS),
        doc("Stands beside the agent's prompt or the project's instructions."),
    ] = ""
    options: Annotated[dict[str, Any], doc("As they were sent.")] = {}
    knowledge_bases: list[UUID] = []


def split_settings(fields: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings among the fields of a session, and the other fields."""
    others = dict(fields)
    return {name: others.pop(name) for name in SessionSettings.__struct_fields__ if name in others}, others

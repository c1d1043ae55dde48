"""AnswerSetup: the agent, prompts, tools and options that an attempt answers with, as values. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from msgspec import json


@dataclass(frozen=True)
class AnswerSetup:
    """The setup of an attempt.

    prompts: everything that is the same in all requests of this agent on this model (the texts of its prompts, the
    schemas of its tools).  options: settings of this attempt alone.  Both are JSON objects.
    agent, agent_name: as they were then; None and empty without an agent.
    """

    prompts: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    agent: UUID | None = None
    agent_name: str = ""

    @cached_property
    def content(self) -> str:
        """The prompts as canonical JSON."""
        return canonical_json(self.prompts)

    @cached_property
    def version(self) -> str:
        """The digest of the content: equal for equal prompts, in every process and release."""
        return digest(self.content)


def canonical_json(value: Any) -> str:
    """Encode a value as JSON: equal values give the same text, with sorted keys and no white space."""
    return json.encode(value, order="sorted").decode()


def digest(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()

"""AnswerSetup: what an attempt answers with, as values: agent, prompts and tools, and options. Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from msgspec import json


@dataclass(frozen=True)
class AnswerSetup:
    """prompts: everything that is the same in all requests of this agent on this model (the texts of its prompts, the
    schemas of its tools).  options: what held for this attempt alone.  Both are JSON objects.

    agent, agent_name: as they were then; none without an agent.
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
    """The same text for equal values: keys sorted, no white space."""
    return json.encode(value, order="sorted").decode()


def digest(text: str) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()

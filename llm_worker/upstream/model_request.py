"""Which model is asked, and what one request to it holds. Values only: sending them is llm.py's. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llm_worker.request.message import LanguageModelInput

ToolChoice = Literal["auto", "none", "required"]


@dataclass(frozen=True)
class Model:
    """Which model answers, and where it is served."""

    name: str
    base_url: str
    api_key: str = ""
    max_output_tokens: int = 4096
    takes_prompt_cache_key: bool = False
    # Whether tools may stay in a request that must not use them; without them its prefix would be another one.
    takes_tool_choice_none: bool = True

    def __repr__(self) -> str:
        return f"Model({self.name!r} at {self.base_url!r})"  # never the key


@dataclass(frozen=True)
class Request:
    """One inference. cache_key: what requests with a common prefix share (the session's id).

    tools: their schemas as servers take them, sorted by name.
    """

    model: Model
    messages: LanguageModelInput
    cache_key: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: ToolChoice = "auto"

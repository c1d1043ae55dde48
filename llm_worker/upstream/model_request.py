"""The values of one request: the model, where it is served, and what is sent. llm.py sends them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from llm_worker.request.message import LanguageModelInput

ToolChoice = Literal["auto", "none", "required"]


@dataclass(frozen=True)
class Model:
    """A model, its server and its limits."""

    name: str
    base_url: str
    api_key: str = ""
    max_output_tokens: int = 4096
    takes_prompt_cache_key: bool = False
    # Whether tools may stay in a request that must not call them; leaving them out would change the cached prefix.
    takes_tool_choice_none: bool = True

    def __repr__(self) -> str:
        return f"Model({self.name!r} at {self.base_url!r})"  # never the key


@dataclass(frozen=True)
class Request:
    """One inference. cache_key: equal for requests with a common prefix (the session's id).

    tools: their schemas as in the API, sorted by name.
    """

    model: Model
    messages: LanguageModelInput
    cache_key: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: ToolChoice = "auto"

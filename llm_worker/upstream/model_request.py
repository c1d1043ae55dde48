"""The values of one request: the model, where it is served, and what is sent. llm.py sends them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from chat.transcript.answer_settings import RunOptions
from chat.transcript.dialect import ALTERNATING_ROLES, source_of
from llm_worker.request.alternation import alternate_roles
from llm_worker.request.model_message import LanguageModelInput
from llm_worker.upstream.redaction import redact

ToolChoice = Literal["auto", "none", "required"]


@dataclass(frozen=True)
class Model:
    """A model, its server and its limits. name: as the server calls it.

    max_output_tokens: None is not sent; the server's limit applies.  is_guarded: staff have entered the server on the
    page; its key follows no redirect, and no name may lead to the addresses that guarded_resolver.py refuses.
    """

    name: str
    base_url: str
    api_key: str = ""
    is_guarded: bool = False
    max_output_tokens: int | None = None
    takes_prompt_cache_key: bool = False
    # Whether a partial answer at the end of a request is continued.
    takes_prefill: bool = True
    # Whether tools may stay in a request that must not call them; leaving them out would change the cached prefix.
    takes_tool_choice_none: bool = True
    requires_alternating_roles: bool = False
    # Requests that its server takes at once; None: any number.
    max_requests: int | None = None
    # Traits of its server (chat.transcript.dialect).
    dialect: frozenset[str] = frozenset()
    # Where its server redirected the latest request to, according to its row.
    redirects_to: str = ""
    # The id of its row; None for a server that is only checked.
    row: int | None = None

    @property
    def source(self) -> str:
        return source_of(self.name, self.base_url)

    def answering_within(self, tokens: int) -> Self:
        """Return the model with a limit of `tokens` per answer, unless its own limit is lower."""
        return replace(self, max_output_tokens=min(self.max_output_tokens or tokens, tokens))

    def __repr__(self) -> str:
        # Never the key, which some people put into the address.
        return f"Model({self.name!r} at {redact(self.base_url, [self.api_key], limit=200)!r})"


@dataclass(frozen=True)
class Request:
    """One inference. cache_key: equal for requests with a common prefix (the session's id).

    tools: their schemas as in the API, sorted by name.  callers: the names of the caller's, which are never left out.
    options: of the run; the output limit is the model's.
    shown: the messages as logs and the admin show them, where these must not show what is sent; the answer is then not
    shown either.  retries_timeouts: whether another attempt is made if the server is silent.

    gives_way: to requests of runs, where the server takes few at once.  limit_s: seconds for the whole answer, retries
    included, once the server takes the request; None: no limit.
    """

    model: Model
    messages: LanguageModelInput
    cache_key: str = ""
    tools: Sequence[Mapping[str, Any]] = ()
    callers: frozenset[str] = frozenset()
    tool_choice: ToolChoice = "auto"
    options: RunOptions = field(default_factory=dict)
    shown: LanguageModelInput | None = None
    retries_timeouts: bool = True
    gives_way: bool = False
    limit_s: float | None = None

    @property
    def is_protected(self) -> bool:
        """Whether neither what is sent nor what comes back may be logged or kept."""
        return self.shown is not None

    @property
    def shown_messages(self) -> LanguageModelInput:
        """The messages as logs and the admin show them."""
        return self.messages if self.shown is None else self.shown

    @property
    def sent_messages(self) -> LanguageModelInput:
        """The messages as this model's server accepts them."""
        is_strict = self.model.requires_alternating_roles or ALTERNATING_ROLES in self.model.dialect
        return alternate_roles(self.messages) if is_strict else self.messages

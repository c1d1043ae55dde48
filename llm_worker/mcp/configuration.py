"""Configuration: how a server is reached, as a value that connections are kept by; and what becomes of calls. Does not use the SDK."""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from chat.transcript.forms import Question
from chat.transcript.questions import AddressQuestion, Answered

# Of one call: a server that is never content asks no more.
MAX_QUESTIONS: Final = 8
# Of what a model is told of an answer.
MAX_RESULT_CHARACTERS: Final = 100_000
MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
SIGN_IN_NEEDED: Final = "The user has to sign in to the server."
MORE_RIGHTS_NEEDED: Final = "The user has to sign in to the server again, with more rights."
TOO_LARGE: Final = f"The server sent a message of more than {MAX_MESSAGE_BYTES // 1024 // 1024} MiB."


class ServerUnavailable(Exception):
    """A server cannot be used, and was asked nothing; the message is one sentence, also for models.

    detail: for staff alone, such as what its error output says.  needs_sign_in: it refuses those it does not know.
    is_local: the reason is this process, not the server.
    """

    def __init__(
        self, problem: str, detail: str = "", *, needs_sign_in: bool = False, is_local: bool = False
    ) -> None:
        super().__init__(problem)
        self.detail = detail
        self.needs_sign_in = needs_sign_in
        self.is_local = is_local

    def again(self) -> "ServerUnavailable":
        """The same, to be raised once more."""
        return ServerUnavailable(
            str(self), self.detail, needs_sign_in=self.needs_sign_in, is_local=self.is_local
        )


class CallFailed(Exception):
    """The server refused the call. The message is for the model."""


class CallLost(Exception):
    """The connection ended before the answer: the call may or may not have taken effect. The message is for the model."""


class Asked(Exception):
    """The server asks the user of the call something, and has done nothing yet. To be called again with the answer."""

    def __init__(self, question: Question | AddressQuestion) -> None:
        super().__init__(question.message)
        self.question = question


class Answer(NamedTuple):
    """text: for the model.  is_error: the tool says that it failed.  structured: the same as JSON; None: it has none, or too much.
    images: their contents, not parsed."""

    text: str
    is_error: bool = False
    structured: Mapping[str, Any] | None = None
    images: tuple[bytes, ...] = ()


# Done, of how much (None: unknown), and what the server says of it.
Progress = Callable[[float, float | None, str], Awaitable[None]]


class Caller(NamedTuple):
    """Whom a call is made for. key: the call's, the same if it is made again.  answers: to what its server has asked; None: nobody
    can be asked."""

    key: str
    progress: Progress
    answers: tuple[Answered, ...] | None = None


class Configuration(NamedTuple):
    """Of one revision of a row. url: also where headers are sent alone, for one described by OpenAPI.  env, headers: names, with the environment variables that have their values.
    credential: the row of what a user has signed in with; empty: none.
    """

    server: str
    revision: str
    name: str
    command: tuple[str, ...]
    url: str
    env: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    credential: str = ""


class Tokens(Protocol):
    """What calls with credentials are made with."""

    async def token(self, credential: str, refused: str = "") -> str:
        """One that is accepted now. refused: the one that the server has just refused. Raises ServerUnavailable."""

    async def demand(self, credential: str, scope: str) -> bool:
        """Whether the user should sign in again, with this scope as well, which the server demands: not if they have been asked for it."""


class NoTokens:
    """Of a process that keeps no credentials."""

    async def token(self, credential: str, refused: str = "") -> str:  # noqa: ARG002
        return ""

    async def demand(self, credential: str, scope: str) -> bool:  # noqa: ARG002
        return False


def values_of(variables: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Raises ServerUnavailable for a variable that this process does not have."""
    missing = [variable for _, variable in variables if variable not in os.environ]
    if missing:
        raise ServerUnavailable(
            "The server is not set up.", f"The workers have no environment variable {missing[0]}."
        )
    return {name: os.environ[variable] for name, variable in variables}


def cut_result(text: str) -> str:
    """What a model is told of a result."""
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    return f"{text[:MAX_RESULT_CHARACTERS]}\n\n(Cut off: the result has {len(text)} characters.)"

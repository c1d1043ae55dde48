"""Configuration: how a server is reached, as the key of its connections; and the outcomes of calls. Uses no SDK."""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from chat.transcript.questions import AddressQuestion, Answered, Question

# Of one call, so that a server cannot ask for ever.
MAX_QUESTIONS: Final = 8
# Of the text of an answer for the model.
MAX_RESULT_CHARACTERS: Final = 100_000
MAX_MESSAGE_BYTES: Final = 4 * 1024 * 1024
SIGN_IN_NEEDED: Final = "The user has to sign in to the server."
MORE_RIGHTS_NEEDED: Final = "The user has to sign in to the server again, with more rights."
# The beginning of the SDK's message about an answer that it cannot read; ours of answers over stdio have it too.
UNREADABLE: Final = "Failed to parse"
TOO_LARGE: Final = f"The server sent a message of more than {MAX_MESSAGE_BYTES // 1024 // 1024} MiB."


class ServerUnavailable(Exception):
    """A server cannot be used, and has not executed anything. The message is one sentence, also for models.

    detail: for staff alone, such as the server's error output.  needs_sign_in: the user has to sign in (again).
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
        """Return a copy, to be raised once more."""
        return ServerUnavailable(
            str(self), self.detail, needs_sign_in=self.needs_sign_in, is_local=self.is_local
        )


class CallFailed(Exception):
    """The server refused the call. The message is for the model."""


class CallLost(Exception):
    """The connection ended before the answer: the call may have taken effect or not. The message is for the model."""


class Asked(Exception):
    """The server asks the call's user a question, and has done nothing yet. The call is made again with the answer."""

    def __init__(self, question: Question | AddressQuestion) -> None:
        super().__init__(question.message)
        self.question = question


class Answer(NamedTuple):
    """The answer to a call. text: for the model.  is_error: the tool reports a failure.
    structured: the answer as JSON; None: there is none, or it is too long.  images: their contents, not parsed.
    """

    text: str
    is_error: bool = False
    structured: Mapping[str, Any] | None = None
    images: tuple[bytes, ...] = ()


# The progress, its total (None: unknown), and the server's message.
Progress = Callable[[float, float | None, str], Awaitable[None]]


class Caller(NamedTuple):
    """Whom a call is made for. key: identifies the call; the same if it is made again.
    answers: to the questions that the server has asked; None: nobody can be asked.
    """

    key: str
    progress: Progress
    answers: tuple[Answered, ...] | None = None


class Configuration(NamedTuple):
    """How a server is reached, by one revision of its row.

    url: with OpenAPI, headers and query are sent to its origin alone.  env, headers, query: names, each with the
    environment variable that has the value.  credential: the row of the credential that a user has signed in with; empty: none.
    sends_structured: whether models read the structured content that the text of an answer leaves out.
    """

    server: str
    revision: str
    name: str
    command: tuple[str, ...]
    url: str
    env: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    query: tuple[tuple[str, str], ...] = ()
    credential: str = ""
    sends_structured: bool = True


class RegisteredClient(NamedTuple):
    """The client that staff have registered by hand. issuer: the only one that gets the id and the secret.
    secret: empty for a client that has none.
    """

    issuer: str
    client_id: str
    secret: str = ""


class Tokens(Protocol):
    """The source of the access tokens that calls with credentials are made with."""

    async def token(self, credential: str, refused: str = "") -> str:
        """Return a token that is valid now. Raises ServerUnavailable.
        refused: the token that the server has just refused.
        """

    async def demand(self, credential: str, scope: str) -> bool:
        """Note a scope that the server demands. Return whether the user should sign in again with it.
        False: the user has been asked for this scope before.
        """


class NoTokens:
    """The tokens of a process that has no credentials."""

    async def token(self, credential: str, refused: str = "") -> str:  # noqa: ARG002
        return ""

    async def demand(self, credential: str, scope: str) -> bool:  # noqa: ARG002
        return False


def values_of(variables: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Return the values of variables. Raises ServerUnavailable for a variable that this process does not have."""
    missing = [variable for _, variable in variables if variable not in os.environ]
    if missing:
        raise ServerUnavailable(
            "The server is not set up.", f"The workers have no environment variable {missing[0]}."
        )
    return {name: os.environ[variable] for name, variable in variables}


def value_of(variable: str) -> str:
    """Return the value of a variable. Raises ServerUnavailable if this process does not have it, or it is empty."""
    value = values_of(((variable, variable),))[variable]
    if value:
        return value
    raise ServerUnavailable("The server is not set up.", f"The environment variable {variable} is empty.")


def cut_result(text: str) -> str:
    """Cut a result off at MAX_RESULT_CHARACTERS, with a note to the model."""
    if len(text) <= MAX_RESULT_CHARACTERS:
        return text
    return f"{text[:MAX_RESULT_CHARACTERS]}\n\n(Cut off: the result has {len(text)} characters.)"

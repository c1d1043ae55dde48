"""Answers the questions that a server asks its user during a call (elicitation of MCP). Uses the SDK's types.

No call stays open while its user thinks: the call is ended, and made again with the answer when there is one. A server
of the newer protocol (2026-07-28) demands just that. A server of the older protocol, which waits for the answer in the
call, is told that the question was dismissed, upon which it is to do nothing (modelcontextprotocol.io, 2025-11-25,
Elicitation).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from mcp import MCPError, UrlElicitationRequiredError
from mcp_types import (
    INVALID_REQUEST,
    URL_ELICITATION_REQUIRED,
    ElicitRequestFormParams,
    ElicitResult,
    ErrorData,
)

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import storable
from chat.transcript.questions import (
    AddressQuestion,
    Answered,
    FormInvalid,
    Question,
    read_address,
    read_form,
)
from features.mcp.client.configuration import MAX_QUESTIONS, CallFailed

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext
    from mcp_types import ElicitRequestParams

MAX_MESSAGE_CHARACTERS: Final = 2_000
ServerQuestion = Question | AddressQuestion
_DISMISSED: Final = ElicitResult(action="cancel")
_USER_IS_ASKED: Final = ErrorData(code=INVALID_REQUEST, message="The user is being asked.")


class CallQuestions:
    """The server's questions during one call. answers: to its earlier questions; None: nobody can be asked.

    asked: the question that the user has to be asked now; None: there is none.
    """

    def __init__(self, answers: Sequence[Answered] | None) -> None:
        self.asked: ServerQuestion | None = None
        self._can_ask = answers is not None and len(answers) < MAX_QUESTIONS
        self._answers = list(answers or ())

    def answer(self, question: ServerQuestion) -> ElicitResult | None:
        """Return the answer to a question; None: the user has to be asked.
        Each answer is used once: a server that asks the same again wants another answer.
        """
        for at, answered in enumerate(self._answers):
            if answered.question == question:
                del self._answers[at]
                if answered.values is None:
                    return ElicitResult(action="decline")
                is_form = isinstance(question, Question)
                return ElicitResult(action="accept", content=dict(answered.values) if is_form else None)
        if not self._can_ask:
            return _DISMISSED
        self.asked = self.asked or question
        return None

    def ask_for_address(self, error: BaseException | None) -> None:
        """Ask the user to visit the address that the error demands before the call is made again, if it demands one.
        Raises CallFailed if the user has declined.
        """
        demanded = _demanded(error)
        if any(answered.question in demanded and answered.values is None for answered in self._answers):
            raise CallFailed("The user has declined to visit the address that the server requires.")
        if demanded and self._can_ask:
            before = [answered.question for answered in self._answers]
            # If the user says that they have visited all of them, ask for the first one again.
            self.asked = next((question for question in demanded if question not in before), demanded[0])


# Of the call that this task makes. With the newer protocol, the SDK's callback runs in this task; with the older one,
# in a task of the connection.
_current: ContextVar[CallQuestions | None] = ContextVar("questions of an MCP call", default=None)


class Asking:
    """Answers the questions of one server. is_modern: whether its connection uses the newer protocol."""

    def __init__(self) -> None:
        self.is_modern = False
        self._open: list[CallQuestions] = []

    @contextmanager
    def during(self, questions: CallQuestions) -> Iterator[None]:
        """Use these questions and answers while a call runs."""
        self._open.append(questions)
        token = _current.set(questions)
        try:
            yield
        finally:
            _current.reset(token)
            self._open.remove(questions)

    async def receive(
        self,
        context: "ClientRequestContext",  # noqa: ARG002
        params: "ElicitRequestParams",
    ) -> ElicitResult | ErrorData:
        """Answer a question of the server. This is the SDK's callback."""
        questions, question = self._asker(), _question(params)
        if questions is None or question is None:
            return _DISMISSED
        answer = questions.answer(question)
        if answer is not None:
            return answer
        return _USER_IS_ASKED if self.is_modern else _DISMISSED

    def _asker(self) -> CallQuestions | None:
        """Return the questions of the call that asks; None: it is not known.
        The older protocol does not say which call asks; with several, none is taken for another.
        """
        return _current.get() or (self._open[0] if len(self._open) == 1 else None)


def _question(params: "ElicitRequestParams") -> ServerQuestion | None:
    """Read a question; None: the user cannot be asked it."""
    try:
        message = storable(params.message)[:MAX_MESSAGE_CHARACTERS]
        if isinstance(params, ElicitRequestFormParams):
            return Question(message, read_form(storable(dict(params.requested_schema))))
        url = read_address(storable(params.url))
    except (FormInvalid, ApiError):
        return None
    return AddressQuestion(message, url) if url else None


def _demanded(error: BaseException | None) -> list[ServerQuestion]:
    """Return the questions of the error URLElicitationRequired (revision 2025-11-25); empty for other errors."""
    if not (isinstance(error, MCPError) and error.error.code == URL_ELICITATION_REQUIRED):
        return []
    try:
        asked = UrlElicitationRequiredError.from_error(error.error).elicitations
    except (ValueError, TypeError, AttributeError):
        return []
    return [question for params in asked if (question := _question(params))]

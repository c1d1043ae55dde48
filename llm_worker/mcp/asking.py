"""Asking: what servers ask of a call's user while they work on the call (elicitation). Uses the SDK's types.

No call stays open while its user thinks: it is ended, and made again with the answer when there is one. A server of the newer
protocol (2026-07-28) demands just that; one of the older, which waits for the answer in the call, is told that the question was
dismissed, upon which it is to do nothing (modelcontextprotocol.io, 2025-11-25, Elicitation).
"""

from collections.abc import Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from mcp_types import INVALID_REQUEST, ElicitRequestFormParams, ElicitResult, ErrorData

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import storable
from chat.transcript.forms import Answered, FormInvalid, Question, read_form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.client.session import ClientRequestContext
    from mcp_types import ElicitRequestParams

MAX_MESSAGE_CHARACTERS: Final = 2_000
# Of one call: a server that is never content asks no more.
MAX_QUESTIONS: Final = 8
_DISMISSED: Final = ElicitResult(action="cancel")
_WAITS: Final = ErrorData(code=INVALID_REQUEST, message="The user is being asked.")


class CallQuestions:
    """The questions of one call. answers: to those that it asked before; None: nobody can be asked.

    asked: what has to be asked now, if anything.
    """

    def __init__(self, answers: Sequence[Answered] | None) -> None:
        self.asked: Question | None = None
        self._can_ask = answers is not None and len(answers) < MAX_QUESTIONS
        self._answers = list(answers or ())

    def answer(self, question: Question) -> ElicitResult | None:
        """Each answer once: a server that asks the same again wants another one. None: the user has to be asked."""
        for at, answered in enumerate(self._answers):
            if answered.question == question:
                del self._answers[at]
                accepts = answered.values is not None
                return ElicitResult(action="accept" if accepts else "decline", content=_content(answered))
        if not self._can_ask:
            return _DISMISSED
        self.asked = self.asked or question
        return None


class Asking:
    """Of one connection, whose calls may run side by side. is_modern: of the newer protocol."""

    def __init__(self) -> None:
        self.is_modern = False
        self._open: list[CallQuestions] = []
        self._current: ContextVar[CallQuestions | None] = ContextVar("mcp call", default=None)

    @contextmanager
    def during(self, questions: CallQuestions) -> "Iterator[None]":
        self._open.append(questions)
        token = self._current.set(questions)
        try:
            yield
        finally:
            self._current.reset(token)
            self._open.remove(questions)

    async def receive(
        self,
        context: "ClientRequestContext",  # noqa: ARG002
        params: "ElicitRequestParams",
    ) -> ElicitResult | ErrorData:
        """The SDK's callback for what a server asks."""
        questions, question = self._asker(), _question(params)
        if questions is None or question is None:
            return _DISMISSED
        answer = questions.answer(question)
        if answer is not None:
            return answer
        return _WAITS if self.is_modern else _DISMISSED

    def _asker(self) -> CallQuestions | None:
        """The call that asks. The older protocol does not say which; of several, none is taken for another."""
        if current := self._current.get():
            return current
        return self._open[0] if len(self._open) == 1 else None


def _question(params: "ElicitRequestParams") -> Question | None:
    """None: it is none that a form can ask, such as to go to an address."""
    if not isinstance(params, ElicitRequestFormParams):
        return None
    try:
        form = read_form(storable(dict(params.requested_schema)))
    except (FormInvalid, ApiError):
        return None
    return Question(storable(params.message)[:MAX_MESSAGE_CHARACTERS], form)


def _content(answered: Answered) -> dict[str, Any] | None:
    return dict(answered.values) if answered.values is not None else None

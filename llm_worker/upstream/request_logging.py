"""Logs requests and responses of models as LLM_REQUEST and LLM_RESPONSE when LOG_LLM_REQUESTS is on.

Never logs a key: keys are sent in a header, and only bodies are logged. For protected requests (Request.shown) neither
the request's content nor the answer is logged.
"""

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings

from chat.infrastructure import log_context
from chat.transcript.usage import TokenUsage
from llm_worker.request.model_message import to_api_messages
from llm_worker.upstream.chat_completion import Completion
from llm_worker.upstream.deltas import Delta, Finished, ModelFailed, ReasoningDelta, TextDelta
from llm_worker.upstream.model_request import Request
from llm_worker.upstream.redaction import describe

logger = logging.getLogger(__name__)
# Independent of the worker's log level: the setting alone decides.
logger.setLevel(logging.INFO)


# Pictures and files inside a text; their type and size are logged instead.
_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*);base64,([A-Za-z0-9+/=_-]{64,})")


def log_request(request: Request, body: Mapping[str, Any]) -> None:
    """Log a request. body: as sent, with the model's name."""
    if settings.LOG_LLM_REQUESTS:
        shown = {"messages": to_api_messages(request.shown_messages)} if request.is_protected else {}
        _write("LLM_REQUEST", {**body, **shown})


def log_completion(request: Request, completion: Completion) -> None:
    if settings.LOG_LLM_REQUESTS:
        said = asdict(completion) | {"tool_calls": [], "usage": completion.usage._asdict()}
        if request.is_protected:
            said["text"] = describe(completion.text)
        _write("LLM_RESPONSE", {"model": request.model.name, **said})


def log_skipped(request: Request, skipped: Mapping[str, int]) -> None:
    """Tell staff which members of a stream were not understood. Names alone: never what they hold."""
    if skipped:
        logger.warning("%r sent what is not understood: %s", request.model, dict(skipped))


def log_failure(request: Request, code: str, status: int | None = None) -> None:
    """Log an attempt that gave no answer, but nothing that the server said: it may quote what it was sent.

    code: of the failure.  status: of the server's response; None: there was none.
    """
    if settings.LOG_LLM_REQUESTS:
        error = {"code": code, "status": status}
        _write(
            "LLM_RESPONSE", {"model": request.model.name, **_summary([]), "tool_calls": [], "error": error}
        )


class ResponseLog:
    """Collects the deltas of one inference and logs the whole answer; does nothing if the setting is off."""

    def __init__(self) -> None:
        self._is_wanted = settings.LOG_LLM_REQUESTS
        self._deltas: list[Delta] = []
        self._error: dict[str, Any] = {}

    def fail(self, failure: ModelFailed) -> None:
        self._error = {"error": {"code": failure.code, "status": failure.status}}

    def take(self, deltas: Iterable[Delta]) -> None:
        if self._is_wanted:
            self._deltas += deltas

    def write(self, model: str, calls: Iterable[tuple[str, str, str]]) -> None:
        """Log the answer at the end of an inference, after success or failure. calls: id, name, arguments of each."""
        if self._is_wanted:
            asked = [{"id": pk, "name": name, "arguments": arguments} for pk, name, arguments in calls]
            _write(
                "LLM_RESPONSE", {"model": model, **_summary(self._deltas), "tool_calls": asked, **self._error}
            )


def _write(event: str, content: Mapping[str, Any]) -> None:
    """Log one JSON object: the event, the ids of the run, and the content."""
    logger.info({"event": event, **log_context.current(), **_without_data(content)})


def _without_data(value: Any) -> Any:
    match value:
        case str():
            return _DATA_URL.sub(_describe_data, value) if "data:" in value else value
        case Mapping():
            return {name: _without_data(one) for name, one in value.items()}
        case list() | tuple():
            return [_without_data(one) for one in value]
        case _:
            return value


def _describe_data(match: re.Match[str]) -> str:
    return f"data:{match[1]};base64,({len(match[2])} characters left out)"


def _summary(deltas: list[Delta]) -> dict[str, Any]:
    usages = [delta for delta in deltas if isinstance(delta, TokenUsage)]
    reasons = [delta.reason for delta in deltas if isinstance(delta, Finished)]
    reasoning = "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta))
    return {
        "text": "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)),
        **({"reasoning": reasoning} if reasoning else {}),
        "finish_reason": reasons[-1] if reasons else None,
        "usage": usages[-1]._asdict() if usages else None,
    }

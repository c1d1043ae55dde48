"""Logs requests and responses of models as LLM_REQUEST and LLM_RESPONSE when LOG_LLM_REQUESTS is on.

Never logs a key: keys are sent in a header, and only bodies are logged.
"""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings

from chat.transcript.token_usage import TokenUsage
from llm_worker.upstream.completion import Completion
from llm_worker.upstream.deltas import Delta, Finished, ReasoningDelta, TextDelta

logger = logging.getLogger(__name__)
# Independent of the worker's log level: the setting alone decides.
logger.setLevel(logging.INFO)


def log_request(body: Mapping[str, Any]) -> None:
    if settings.LOG_LLM_REQUESTS:
        logger.info("LLM_REQUEST %s", json.dumps(body, ensure_ascii=False))


def log_completion(completion: Completion) -> None:
    if settings.LOG_LLM_REQUESTS:
        said = asdict(completion) | {"usage": completion.usage._asdict()}
        logger.info("LLM_RESPONSE %s", json.dumps(said, ensure_ascii=False))


class ResponseLog:
    """Collects the deltas of one inference and logs the whole answer; does nothing if the setting is off."""

    def __init__(self) -> None:
        self._is_wanted = settings.LOG_LLM_REQUESTS
        self._deltas: list[Delta] = []

    def take(self, deltas: Iterable[Delta]) -> None:
        if self._is_wanted:
            self._deltas += deltas

    def write(self) -> None:
        """Called at the end of the inference, after success or failure."""
        if self._is_wanted:
            logger.info("LLM_RESPONSE %s", json.dumps(_summary(self._deltas), ensure_ascii=False))


def _summary(deltas: list[Delta]) -> dict[str, Any]:
    usages = [delta for delta in deltas if isinstance(delta, TokenUsage)]
    return {
        "text": "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)),
        "reasoning": "".join(delta.text for delta in deltas if isinstance(delta, ReasoningDelta)),
        "finish": [delta.reason for delta in deltas if isinstance(delta, Finished)],
        "usage": usages[-1]._asdict() if usages else None,
    }

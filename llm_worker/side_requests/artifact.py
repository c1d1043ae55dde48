"""Artifact: all that the model of a restricted run reads of documents, as a secondary model writes it. Pure."""

import json
import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from llm_worker.stream.sanitiser import clean
from llm_worker.stream.think_tags import without_reasoning

DECISIONS: Final = ("answer", "refuse")
CONFIDENCES: Final = ("high", "medium", "low")
# The summary of every refusal that is not the secondary model's own.
REFUSED: Final = "No safe summary of the documents is available for this question."
REFUSED_GUIDANCE: Final = (
    "Tell the user that the knowledge bases cannot be used for this answer. Do not guess what they hold."
)
# A response that holds more is cut: list items, and characters of each text.
MOST_ITEMS: Final = 24
MOST_CHARACTERS: Final = 4_000

# From the first brace in a code fence to the last one.
_FENCED: Final = re.compile(r"```[ \t]*\w*\s*(\{.*\})\s*```", re.DOTALL)


class Failure(StrEnum):
    """Why there is no artifact of the secondary model's own, for logs and, but for those of UNTOLD, as its `reason`."""

    NO_MODEL = "no_model"
    TIMEOUT = "timeout"
    MODEL_ERROR = "model_error"
    MALFORMED = "malformed"
    UNKNOWN_DECISION = "unknown_decision"
    REPEATS_DOCUMENTS = "repeats_documents"
    SEARCH_FAILED = "search_failed"
    ACCESS_CHANGED = "access_changed"


NO_HITS: Final = "no_hits"
# Told apart from a malformed reply, these would tell something of the documents: that they hold a number, for example.
UNTOLD: Final = frozenset({Failure.UNKNOWN_DECISION, Failure.REPEATS_DOCUMENTS})


class UnusableReply(Exception):
    """The reply of a secondary model is no artifact. failure: why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.value)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Artifact:
    """The eight fields in their order in the response."""

    decision: str
    reason: str
    summary: str = ""
    observations: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    recommended_actions: tuple[str, ...] = ()
    answer_guidance: str = ""
    confidence: str = "low"

    def render(self) -> str:
        """The response of the tool: one JSON object, with the lists that it has where access is full, empty."""
        return json.dumps(asdict(self) | {"results": [], "sources": []}, ensure_ascii=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of it, in their order in the response."""
        return (
            self.decision,
            self.reason,
            self.summary,
            *self.observations,
            *self.risks,
            *self.recommended_actions,
            self.answer_guidance,
            self.confidence,
        )


FIELDS: Final = frozenset(Artifact.__dataclass_fields__)


def refusal(failure: Failure) -> Artifact:
    """The same for every failure but its reason, and for all that is wrong with a reply, so that nothing of the documents
    can be told from it."""
    told = Failure.MALFORMED if failure in UNTOLD else failure
    return Artifact("refuse", told.value, REFUSED, answer_guidance=REFUSED_GUIDANCE)


def no_hits() -> Artifact:
    """Of bases without any text, whatever was asked."""
    return Artifact("refuse", NO_HITS)


def parse_artifact(reply: str) -> Artifact:
    """The artifact in a reply, which may stand in a code fence. Raises UnusableReply."""
    read = _read_object(without_reasoning(reply).strip())
    decision = read.get("decision")
    if not isinstance(decision, str) or not decision.strip():
        raise UnusableReply(Failure.MALFORMED)
    decision = decision.strip().lower()
    if decision not in DECISIONS:
        raise UnusableReply(Failure.UNKNOWN_DECISION)
    confidence = _text(read.get("confidence")).lower()
    artifact = Artifact(
        decision,
        reason=_text(read.get("reason")),
        summary=_text(read.get("summary")),
        observations=_texts(read.get("observations")),
        risks=_texts(read.get("risks")),
        recommended_actions=_texts(read.get("recommended_actions")),
        answer_guidance=_text(read.get("answer_guidance")),
        confidence=confidence if confidence in CONFIDENCES else "low",
    )
    if decision == "answer" and not artifact.summary:
        raise UnusableReply(Failure.MALFORMED)
    return artifact


def is_artifact(response: str) -> bool:
    """Whether a stored response of the tool is an artifact, and so holds no record of a document."""
    try:
        read = json.loads(response)
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(read, dict)
        and read.keys() == FIELDS | {"results", "sources"}
        and not (read["results"] or read["sources"])
    )


def _read_object(reply: str) -> dict[str, Any]:
    """The reply, or what stands in its only code fence."""
    if not reply.startswith("{") and (fenced := _FENCED.search(reply)):
        reply = fenced[1]
    try:
        read = json.loads(reply)
    except (ValueError, RecursionError):
        raise UnusableReply(Failure.MALFORMED) from None
    if not isinstance(read, dict):
        raise UnusableReply(Failure.MALFORMED)
    return read


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnusableReply(Failure.MALFORMED)
    return clean(value).strip()[:MOST_CHARACTERS]


def _texts(value: Any) -> tuple[str, ...]:
    """Of a list of texts, or of one text."""
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items[:MOST_ITEMS] if (text := _text(item)))

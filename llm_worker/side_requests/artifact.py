"""The excerpts of documents that a secondary model reads for a restricted run, and the artifact that it writes. Pure."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from llm_worker.stream.sanitiser import clean
from llm_worker.stream.think_tags import without_reasoning

MOST_EXCERPTS: Final = 24
MOST_OF_AN_EXCERPT: Final = 1_200
MOST_CHARACTERS_IN_ALL: Final = 16_000
# All chunks are shown, not only search results, if they take at most this share of the free tokens of a request.
WHOLE_SHARE: Final = 0.3


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A chunk, or its beginning. id: identifies the chunk, in logs."""

    id: str
    text: str


def select_excerpts(found: Iterable[Excerpt]) -> Sequence[Excerpt]:
    """Select the most relevant excerpts within the limits, each once. found: the most relevant first."""
    selected: dict[str, Excerpt] = {}
    left = MOST_CHARACTERS_IN_ALL
    for excerpt in found:
        if len(selected) == MOST_EXCERPTS or left <= 0:
            break
        text = excerpt.text.strip()[: min(MOST_OF_AN_EXCERPT, left)]
        if text and excerpt.id not in selected:
            selected[excerpt.id] = Excerpt(excerpt.id, text)
            left -= len(text)
    return tuple(selected.values())


def fits_whole(tokens: int, free_tokens: int) -> bool:
    """Return whether all chunks are shown. tokens: of all chunks.  free_tokens: of a request to the secondary model."""
    return tokens <= WHOLE_SHARE * free_tokens


DECISIONS: Final = ("answer", "refuse")
CONFIDENCES: Final = ("high", "medium", "low")
# The summary of every refusal that is not the secondary model's own.
REFUSED: Final = "No safe summary of the documents is available for this question."
REFUSED_GUIDANCE: Final = (
    "Tell the user that the knowledge bases cannot be used for this answer. Do not guess what they hold."
)
# Longer responses are cut: the items of each list, and the characters of each text.
MOST_ITEMS: Final = 24
MOST_CHARACTERS: Final = 4_000

# From the first brace in a code fence to the last one.
_FENCED: Final = re.compile(r"```[ \t]*\w*\s*(\{.*\})\s*```", re.DOTALL)


class Failure(StrEnum):
    """The reason why there is no artifact of the secondary model: for logs and, except UNTOLD, its `reason` field."""

    NO_MODEL = "no_model"
    TIMEOUT = "timeout"
    MODEL_ERROR = "model_error"
    MALFORMED = "malformed"
    UNKNOWN_DECISION = "unknown_decision"
    REPEATS_DOCUMENTS = "repeats_documents"
    SEARCH_FAILED = "search_failed"
    ACCESS_CHANGED = "access_changed"


NO_HITS: Final = "no_hits"
# Told apart from a malformed reply, these would reveal something: that documents contain a number, for example.
UNTOLD: Final = frozenset({Failure.UNKNOWN_DECISION, Failure.REPEATS_DOCUMENTS})


class UnusableReply(Exception):
    """The reply of a secondary model is not an artifact. failure: the reason."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.value)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Artifact:
    """The eight fields of the response, in its order."""

    decision: str
    reason: str
    summary: str = ""
    observations: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    recommended_actions: tuple[str, ...] = ()
    answer_guidance: str = ""
    confidence: str = "low"

    def render(self) -> str:
        """Return the response of the tool: a JSON object, with empty `results` and `sources` beside the fields."""
        return json.dumps(asdict(self) | {"results": [], "sources": []}, ensure_ascii=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts of the artifact, in the order of the response."""
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
    """Return the artifact for a failure. Only the reason differs, and failures of UNTOLD count as malformed replies.

    So a refusal reveals nothing of the documents.
    """
    told = Failure.MALFORMED if failure in UNTOLD else failure
    return Artifact("refuse", told.value, REFUSED, answer_guidance=REFUSED_GUIDANCE)


def no_hits() -> Artifact:
    """Return the artifact for bases without any text, whatever was asked."""
    return Artifact("refuse", NO_HITS)


def parse_artifact(reply: str) -> Artifact:
    """Parse the artifact in a reply, which may be in a code fence. Raises UnusableReply."""
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
    """Return whether a stored response of the tool is an artifact, and so contains no record of a document."""
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
    """Parse the JSON object that is the reply, or that a code fence in it contains. Raises UnusableReply."""
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
    """Read a list of texts, or one text. Leaves empty texts out. Raises UnusableReply."""
    if value is None:
        return ()
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items[:MOST_ITEMS] if (text := _text(item)))

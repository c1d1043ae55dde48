"""The use of a user, and of each limit, as clients see it."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Final

from chat.models.side_request import Purpose
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.limit_use import LimitUse
from chat.protocol.member_types import Moment, choice, doc
from chat.transcript.token_usage import ESTIMATED_TOKENS_HELP

# The purposes as clients are told them; None: runs.
PURPOSES: Final = {
    None: "answers",
    Purpose.TITLE: "titles",
    Purpose.SUMMARY: "summaries",
    Purpose.SAFE_SUMMARY: "safe_summaries",
    Purpose.EXPANSION: "expansions",
}


class UsedAnswer(Answer):
    day: date
    model: str
    purpose: Annotated[str, choice(sorted(PURPOSES.values()))]
    runs: Annotated[int, doc("Answers; 0 of other purposes.")]
    requests: Annotated[int, doc("To the model.")]
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    estimated_tokens: Annotated[int, doc(ESTIMATED_TOKENS_HELP)]
    cost: float | None


class LimitUseAnswer(Answer):
    code: Annotated[str, doc("Of the limit.")]
    used: float
    max: Annotated[float | None, doc("Null: there is no limit.")]
    unit: Annotated[str, doc("What is counted.")]
    resets_at: Annotated[Moment | None, doc("When `used` starts again at 0; null: not at a time.")]
    is_estimated: Annotated[
        bool, doc("Whether tokens that no model server reported are counted too, by an estimate.")
    ]


def present_limit_use(use: LimitUse) -> JSONObject:
    most = None if use.max is None else plain_number(use.max)
    return LimitUseAnswer.from_row(use, used=plain_number(use.used), max=most).json()


def plain_number(value: int | Decimal) -> int | float:
    """Return the number as JSON has it."""
    return value if isinstance(value, int) else float(value)

"""Limits on what a user uses in a day (UTC): runs, tokens and cost, checked whenever runs are started (decision 0088).

Runs are counted by the statement that starts them, so no limit on them is passed. What tokens and cost runs in progress
still take is not known: these limits forbid further runs once they are reached, and end none.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from django.contrib.auth.models import User

from chat.models.daily_use import DailyAccount
from chat.presenters.json_values import isoformat_or_none
from chat.presenters.usage import plain_number
from chat.protocol.errors import ApiError
from chat.protocol.limit_use import LimitUse


def check(account: DailyAccount, new_runs: int) -> None:
    """Raise ApiError if the user may not start so many runs today."""
    if reached := account.reached(new_runs):
        raise refusal(reached)


def check_again(user_id: int, new_runs: int) -> None:
    """check(), after another send may have taken what was left."""
    account = DailyAccount.read(user_id)
    if account:
        check(account, new_runs)


def refusal(reached: LimitUse) -> ApiError:
    wait = reached.resets_at - datetime.now(UTC) if reached.resets_at else None
    return ApiError(
        "daily_limit_reached",
        retry_after_s=max(1, round(wait.total_seconds())) if wait else None,
        limit=reached.code,
        used=plain_number(reached.used),
        max=None if reached.max is None else plain_number(reached.max),
        resets_at=isoformat_or_none(reached.resets_at),
    )


def limit_uses(user: User) -> Iterable[LimitUse]:
    """The limits of today."""
    return DailyAccount.read(user.pk) or ()

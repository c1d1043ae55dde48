"""Daily limits (UTC) on the runs, tokens and cost of a user, and on the tokens and cost of an API token, checked whenever
runs are started (decision 0088).

The statement that starts runs also counts them, so their limit is never exceeded. How many tokens and how much cost the
runs in progress will add is not known: once these limits are reached, they forbid further runs, but end none.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from django.contrib.auth.models import User

from chat.infrastructure import log_context
from chat.models import TokenUse
from chat.models.usage import DailyAccount
from chat.presenters.json_values import isoformat_or_none
from chat.protocol.answer import LimitUse, plain_number
from chat.protocol.errors import ApiError


def check(account: DailyAccount, new_runs: int) -> None:
    """Raise ApiError if the user, or the API token of the current work, may not start this many more runs today."""
    token = log_context.current_api_token()
    if reached := account.reached(new_runs) or (token and TokenUse.objects.reached(token)):
        raise refusal(reached)


def check_again(user_id: int, new_runs: int) -> None:
    """Check the limits again, after another send may have used them up. Raises ApiError."""
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
    """Return today's limits of the user, with their use."""
    return DailyAccount.read(user.pk) or ()

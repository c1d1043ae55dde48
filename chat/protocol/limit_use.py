"""LimitUse: how much of one limit a user has used, as clients are told before they reach it. Pure."""

from datetime import datetime
from decimal import Decimal
from typing import NamedTuple


class LimitUse(NamedTuple):
    """code: that of the limit.  max: None: there is no limit.  unit: what is counted, in the plural.

    resets_at: when `used` starts again at 0, UTC; None: it falls when something ends or is deleted.
    is_estimated: tokens that no server reported are counted too.
    """

    code: str
    used: int | Decimal
    max: int | Decimal | None
    unit: str
    resets_at: datetime | None = None
    is_estimated: bool = False


def plain_number(value: int | Decimal) -> int | float:
    """Return the number as JSON has it."""
    return value if isinstance(value, int) else float(value)

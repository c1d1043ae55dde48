"""Creates a month of generated runs for the admin's screenshots. Runs in `manage.py shell`."""

import math
import random
from datetime import datetime, timedelta
from decimal import Decimal

from django.contrib.auth import get_user_model
from django.utils import timezone

from chat.models import ChatMessage, Role, Run, Session, Turn
from chat.protocol.states import Status

DAYS = 30
TITLES = (
    "Knots for beginners",
    "Letter to the harbour master",
    "Tides in the Channel",
    "A week at sea: what to pack",
    "Why is the sea salty?",
    "Names for a sailing boat",
)
# model -> (share of the questions, tokens it reads, tokens it writes, milliseconds to its first token)
MODELS = {"alpha": (0.6, 2400, 420, 380), "beta": (0.3, 1500, 300, 620), "gamma": (0.1, 5200, 800, 1100)}
ERRORS = ("upstream_unavailable", "upstream_rate_limited", "deadline_exceeded")


def invent() -> None:
    """Of bob's; the same numbers every time, the newest of them yesterday."""
    dice = random.Random(7)
    bob = get_user_model().objects.get(username="bob")
    sessions = [Session.objects.start(bob, title=title) for title in TITLES]
    for ago in range(DAYS, 0, -1):
        noon = timezone.now() - timedelta(days=ago)
        # Fewer at weekends, and a few more every week.
        number = round((7 + (DAYS - ago) / 5) * (0.4 if noon.weekday() > 4 else 1) + dice.uniform(0, 3))
        for _ in range(number):
            _answered(dice, dice.choice(sessions), noon + timedelta(minutes=dice.uniform(-300, 300)))


def _answered(dice: random.Random, session: Session, ended: datetime) -> None:
    question = ChatMessage.objects.append(
        ChatMessage.objects.root_of(session), role=Role.USER, text="And then?"
    )
    answer = ChatMessage.objects.append(question, role=Role.ASSISTANT, text="Then the water falls again.")
    turn = Turn.objects.create(session=session, user_message=question, ended_at=ended)
    name = dice.choices(list(MODELS), weights=[share for share, *_ in MODELS.values()])[0]
    _, reads, writes, wait_ms = MODELS[name]
    status = dice.choices((Status.COMPLETED, Status.STOPPED, Status.FAILED), weights=(92, 5, 3))[0]
    prompt, completion = (round(most * math.exp(dice.gauss(0, 0.4))) for most in (reads, writes))
    run = Run.objects.create(
        turn=turn, message=answer, model=name, model_index=0, status=status, deadline=ended, ended_at=ended,
        last_seq=1, announced_at=ended, attempt=1, prompt_tokens=prompt, cached_tokens=round(prompt * 0.7),
        completion_tokens=completion, cost=Decimal(prompt + 4 * completion) / 1_000_000,
        time_to_first_token_ms=round(wait_ms * math.exp(dice.gauss(0, 0.5))),
        error_code=dice.choice(ERRORS) if status == Status.FAILED else "",
    )  # fmt: skip
    begun = ended - timedelta(seconds=dice.uniform(2, 20))
    Run.objects.filter(pk=run.pk).update(created_at=begun, claimed_at=begun + timedelta(milliseconds=8))

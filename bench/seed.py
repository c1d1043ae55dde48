"""Rows the benchmark needs, written past the API: a user with a token, models, and long histories.

Run as `python -m bench.seed MODEL…` with the stack's environment; prints JSON.
"""

import json
import os
import sys
from datetime import timedelta
from typing import Any

# (name, messages in the tree, messages on the branch)
TREES = (
    ("tree_10", 10, 10),
    ("tree_1000", 1_000, 10),
    ("tree_10000", 10_000, 10),
    ("branch_1000", 1_000, 1_000),
)
TEXT = "A sentence of the past that the model is shown again, about as long as people write. " * 2
TEXT_TOKENS = 40


def main(models: list[str]) -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.contrib.auth.models import User
    from knox.models import AuthToken

    from chat.models import ModelConfig

    for name in models:
        ModelConfig.objects.create(is_default=name == models[0], **ModelConfig.fields_for(name, 128_000))
    alice = User.objects.create_user("alice")
    _, token = AuthToken.objects.create(alice)
    trees = {name: tree(alice, messages, branch) for name, messages, branch in TREES}
    sys.stdout.write(json.dumps({"token": token, "trees": trees}))


def tree(owner: Any, messages: int, branch: int) -> dict[str, str]:
    """A session whose current branch has `branch` messages, the rest of the tree in branches of ten beside it."""
    from django.db import transaction

    from chat.models import Session

    session = Session.objects.start(owner)
    with transaction.atomic():
        for _ in range((messages - branch) // 10):
            grow(session, 10)
        leaf = grow(session, branch)
        session.point_at(leaf)
    return {"session": str(session.pk), "leaf": str(leaf.pk)}


def grow(session: Any, length: int) -> Any:
    """A finished branch under the root, chosen at every node; returns its leaf."""
    from django.utils import timezone

    from chat.models import ChatMessage, Run, Turn
    from chat.states import Status

    now = timezone.now()
    parent, path, turns, runs = session.root, [], [], []
    for number in range(length):
        role = "assistant" if number % 2 else "user"
        message = ChatMessage(
            session=session,
            parent=parent,
            parent_role=parent.role,
            role=role,
            text=TEXT,
            token_count=TEXT_TOKENS,
        )
        if role == "assistant":
            turns.append(Turn(session=session, user_message=parent, ended_at=now))
            runs.append(
                Run(
                    turn=turns[-1], message=message, model="past", model_index=0, status=Status.COMPLETED,
                    attempt=1, deadline=now + timedelta(hours=1), ended_at=now, announced_at=now, last_seq=1,
                )
            )  # fmt: skip
        path.append(message)
        parent = message
    ChatMessage.objects.bulk_create(path)
    Turn.objects.bulk_create(turns)
    Run.objects.bulk_create(runs)
    for message in path:
        message.choose()
    return parent


if __name__ == "__main__":
    main(sys.argv[1:])

"""Creation of the rows that a benchmark needs: a user with a token, models, and long histories.

Run as `python -m bench.seed MODEL…` with the environment of the stack; it prints JSON. The rows are written without the
API.
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
    trees = {name: create_tree(alice, messages, branch) for name, messages, branch in TREES}
    sys.stdout.write(json.dumps({"token": token, "trees": trees}))


def create_tree(owner: Any, messages: int, branch: int) -> dict[str, str]:
    """Create a session whose current branch has `branch` messages; the other messages are in branches of ten beside it."""
    from django.db import transaction
    from django.db.models import OuterRef, Subquery

    from chat.models import ChatMessage, Run, Session, Turn

    # It has a title, so that none is requested from the model.
    session = Session.objects.start(owner, title="Bench")
    root = ChatMessage.objects.root_of(session)
    lengths = [10] * ((messages - branch) // 10) + [branch]
    paths = [build_branch(root, length) for length in lengths]
    with transaction.atomic():
        ChatMessage.objects.bulk_create([message for path in paths for message in path])
        runs = [run for path in paths for run in build_runs(path)]
        Turn.objects.bulk_create([run.turn for run in runs])
        Run.objects.bulk_create(runs)
        child = ChatMessage.objects.filter(parent=OuterRef("pk")).values("pk")[:1]
        ChatMessage.objects.filter(session=session, parent__isnull=False).update(latest_child=Subquery(child))
        paths[-1][0].choose()
        session.point_at(paths[-1][-1])
    return {"session": str(session.pk), "leaf": str(paths[-1][-1].pk)}


def build_branch(root: Any, length: int) -> list[Any]:
    """Build an unsaved branch under the root, questions and answers alternating. Oldest first."""
    from chat.models import ChatMessage

    path: list[Any] = []
    for number in range(length):
        parent = path[-1] if path else root
        role = "assistant" if number % 2 else "user"
        path.append(
            ChatMessage(
                session=root.session, parent=parent, parent_role=parent.role, role=role, text=TEXT,
                token_count=TEXT_TOKENS,
            )
        )  # fmt: skip
    return path


def build_runs(path: list[Any]) -> list[Any]:
    """Build an unsaved completed run, with its turn, for each answer of the branch."""
    from django.utils import timezone

    from chat.models import Run, Turn
    from chat.protocol.states import Status

    now = timezone.now()
    ended = {"status": Status.COMPLETED, "ended_at": now, "announced_at": now, "last_seq": 1, "attempt": 1}
    pairs = [(path[n], path[n + 1]) for n in range(0, len(path) - 1, 2)]
    return [
        Run(
            turn=Turn(session=question.session, user_message=question, ended_at=now), message=answer,
            model="past", model_index=0, deadline=now + timedelta(hours=1), **ended,
        )
        for question, answer in pairs
    ]  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1:])

"""Stores, in the database of real processes, a user who has everything, with a session as large as an import may be, and another."""

import json
from pathlib import Path
from typing import Any, Final

from django.db import connection, transaction
from django.test.utils import setup_test_environment

from chat.models import ChatMessage, ModelConfig, Session
from chat.sessions.portable.exporter import as_json
from knowledge.models import File
from tests import factories, huge_session
from tests.matrix import belongings
from tests.matrix.subjects import with_token_of

MESSAGES: Final = 5_000
CALLS: Final = 500


def write(place: str) -> None:
    """Store them, and write ids, tokens and an export to the file at `place`."""
    setup_test_environment()  # allows the host of the test client
    ModelConfig.objects.all().delete()
    belongings.create_models()
    owned = belongings.create_belongings("mallory")
    session = _filled_session(owned.user)
    leaf = ChatMessage.objects.get(pk=session.leaf_id)
    read = [owned.ids["file"], owned.ids["document"]]
    File.objects.filter(pk__in=read).update(text="More of it. " * 100_000)
    found = {
        "ids": owned.ids
        | {"session": str(session.pk), "answer": str(leaf.pk), "question": str(leaf.parent_id)},
        "exported": b"".join(as_json(session)).decode(),
        "owner": _token(owned.user),
        "staff": _token(factories.create_user("someone", is_staff=True, is_superuser=True)),
        "bystander": _token(factories.create_user("bystander")),
    }
    Path(place).write_text(json.dumps(found), encoding="utf-8")


def _filled_session(owner: Any) -> Session:
    session = Session.objects.start(owner, title="Filled")
    with transaction.atomic(), connection.cursor() as cursor:
        huge_session.fill(
            cursor.execute, str(session.pk), messages=MESSAGES, calls=CALLS, answers=[2, MESSAGES]
        )
    session.refresh_from_db()
    return session


def _token(user: Any) -> str:
    return with_token_of(user).headers["Authorization"].partition(" ")[2]

"""Stores, in the database of real processes, what one user's runs search and read: a large base, and a project with a long file."""

import json
from pathlib import Path
from typing import Any, Final

from django.contrib.auth import get_user_model
from django.db import connection

from chat.models import ModelConfig
from chat.transcript.tokens import count_tokens
from knowledge.models import Chunk, File, FileStatus, KnowledgeBase, Project
from tests.indexed import add_indexed
from tests.matrix.largest_inputs import WORDS

CONTEXT_WINDOW: Final = 200_000
PASSAGES: Final = 20_000
_FILE_CHARACTERS: Final = 2_000_000
_COPIES: Final = """
    INSERT INTO knowledge_chunk (file_id, version, position, start, text, content_hash, language)
    SELECT file_id, version, n, n, n || ' ' || text, sha256((n || text)::bytea), language
    FROM knowledge_chunk, generate_series(1, %s) AS n WHERE file_id = %s"""


def write(place: str) -> None:
    """Store them for alice, and write their ids to the file at `place`."""
    # So that the file is searched and read in parts.
    ModelConfig.objects.update(context_window=CONTEXT_WINDOW)
    alice = get_user_model().objects.get(username="alice")
    base = KnowledgeBase.objects.start(alice, name="Tides")
    document = add_indexed(base, "tides.txt", WORDS)
    with connection.cursor() as cursor:
        cursor.execute(_COPIES, [PASSAGES, document.pk])
        cursor.execute("ANALYZE knowledge_chunk")
    project = Project.objects.create(owner=alice, name="Harbour")
    text = WORDS * (_FILE_CHARACTERS // len(WORDS))
    file = add_indexed(project, "harbour.txt", text, token_count=count_tokens(text))
    found: dict[str, Any] = {"knowledge_base": base, "document": document, "project": project, "file": file}
    assert (
        Chunk.objects.found_in(File.objects.filter(pk=document.pk, status=FileStatus.READY)).count()
        > PASSAGES
    )
    Path(place).write_text(json.dumps({name: str(row.pk) for name, row in found.items()}), encoding="utf-8")

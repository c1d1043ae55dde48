"""Searches the texts of a project's files by words, and reads parts of them. Reads and writes the database.

A passage is as relevant as its words are rare in the project. Passages are stored by the first search after a file has
become ready, so that neither uploads nor projects have to know of them.
"""

from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from knowledge.models import File, FileKind, FilePassage, FileStatus
from knowledge.passages import split_passages

# Passages of one transaction, which others that change the file wait for: 0.4 s. The longest text has 19,000 of them.
BATCH: Final = 200
# Passages with a smaller share of the best one's relevance hold little more than words that most passages have.
LEAST_SHARE: Final = 0.2


class FoundPassage(NamedTuple):
    """start: in the file's text, in characters."""

    file: UUID
    name: str
    start: int
    text: str


# Parameters: query, project, owner, limit, least. Plan: files by project, one_passage_per_position, then every passage of
# the project is compared with each word.
_SEARCH: Final = """
    WITH term AS (
        SELECT DISTINCT lexeme, quote_literal(lexeme)::tsquery AS query FROM unnest(
            to_tsvector('simple', %(query)s) || to_tsvector('english', %(query)s) || to_tsvector('german', %(query)s)
        )
    ), passage AS MATERIALIZED (
        SELECT passage.id, passage.words FROM knowledge_filepassage AS passage
        JOIN knowledge_file AS file ON file.id = passage.file_id
        WHERE file.project_id = %(project)s AND file.owner_id = %(owner)s AND EXISTS (
            SELECT 1 FROM knowledge_filepassage AS first WHERE first.file_id = file.id AND first.position = 0
        )
    ), hit AS MATERIALIZED (
        SELECT passage.id, term.lexeme FROM passage JOIN term ON passage.words @@ term.query
    ), weight AS (
        SELECT lexeme, ln(1 + ((SELECT count(*) FROM passage) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
        FROM hit GROUP BY lexeme
    ), scored AS (
        SELECT hit.id, sum(weight.weight) AS score FROM hit JOIN weight USING (lexeme) GROUP BY hit.id
    ), best AS (
        SELECT id, score FROM scored
        WHERE score >= %(least)s * (SELECT max(score) FROM scored)
    )
    SELECT file.id, file.name, found.start, found.text
    FROM best JOIN knowledge_filepassage AS found ON found.id = best.id JOIN knowledge_file AS file ON file.id = found.file_id
    ORDER BY best.score + ts_rank_cd(found.words, (
        SELECT string_agg(quote_literal(lexeme), ' | ')::tsquery FROM term
    ), 32) / 10 DESC, file.created_at, file.id, found.position
    LIMIT %(limit)s
"""


def search_project(project: UUID, owner: int, query: str, limit: int) -> list[FoundPassage]:
    """The passages that share words with the query, best first."""
    _store_missing_passages(project, owner)
    given: dict[str, Any] = {
        "project": project,
        "owner": owner,
        "query": query,
        "limit": limit,
        "least": LEAST_SHARE,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SEARCH, given)
        return [FoundPassage(*row) for row in cursor.fetchall()]


def _store_missing_passages(project: UUID, owner: int) -> None:
    """Of files that are not complete. The first passage of each comes last: with it the file is found, as a whole."""
    texts = File.objects.filter(project=project, owner=owner, status=FileStatus.READY).exclude(
        kind=FileKind.IMAGE
    )
    complete = FilePassage.objects.filter(file=OuterRef("pk"), position=0)
    for pk, attempt in list(texts.filter(~Exists(complete)).values_list("pk", "attempt")):
        same = File.objects.filter(pk=pk, attempt=attempt, status=FileStatus.READY)
        text = same.values_list("text", flat=True).first() or ""
        passages = [
            FilePassage(file_id=pk, position=position, start=start, text=part)
            for position, (start, part) in enumerate(split_passages(text))
        ]
        for end in range(len(passages), 0, -BATCH):
            if not _store_batch(same, passages[max(0, end - BATCH) : end]):
                break


def _store_batch(same: QuerySet[File], passages: list[FilePassage]) -> bool:
    """In one transaction. False: the file was deleted, or is read again. What another search has stored stays."""
    with transaction.atomic():
        if not same.select_for_update(no_key=True).values_list("pk").first():
            return False
        places = (passages[0].position, passages[-1].position)
        others = FilePassage.objects.filter(file_id=passages[0].file_id, position__range=places)
        stored = set(others.values_list("position", flat=True))
        FilePassage.objects.bulk_create([one for one in passages if one.position not in stored])
    return True

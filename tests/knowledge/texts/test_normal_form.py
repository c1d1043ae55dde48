"""Texts are found in whichever spelling they are written, by one normal form (decision 0106)."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.migrations.state import ProjectState

from knowledge.migration_operations import FillInBatches
from knowledge.models import Chunk, Project
from knowledge.models.sql.chunk_search import search_chunks
from knowledge.texts.searched_text import normal_form, query_words
from tests import factories
from tests.indexed import add_indexed

FORMS = json.loads(Path(__file__).with_name("normal_forms.json").read_text())
FILL = FillInBatches("knowledge_chunk", "normal_words", "knowledge_other_words(language::regconfig, text)")


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(owner=factories.create_user("alice"), name="Tides")


def names(project: Project, query: str) -> list[str]:
    return [found.name for found in search_chunks(project.files.all(), query, None, 10)]


def normal_words() -> list[str | None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT normal_words::text FROM knowledge_chunk ORDER BY id")
        return [words for (words,) in cursor.fetchall()]


@pytest.mark.parametrize(("text", "form"), FORMS)
@pytest.mark.pure
def test_the_normal_form(text: str, form: str) -> None:
    assert normal_form(text) == form
    assert normal_form(form) == form


def test_postgres_has_the_same(db: None) -> None:
    with connection.cursor() as cursor:
        for text, form in FORMS:
            cursor.execute("SELECT knowledge_normal_form(%s)", [text])
            assert cursor.fetchone() == (form,)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("修改youer服务端", "修改 youer 服务 务端"),
        ("月 moon", "月 moon"),
        ("서울에서 api를", "서울에서 서울 울에 에서 api 를"),
        ("plain words", "plain words"),
    ],
)
def test_what_is_written_without_spaces_is_asked_for_by_pairs(query: str, words: str) -> None:
    assert query_words(query).split() == words.split()


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Zu\u0308rich liegt an der Limmat", "Z\u00fcrich"),
        ("Z\u00fcrich liegt an der Limmat", "Zu\u0308rich"),
        ("An o\ufb03cer of the \ufb02eet", "officers"),
        (
            "\uff34\uff48\uff45 \uff54\uff49\uff44\uff45 \uff4f\uff46 \uff54\uff48\uff45 \uff53\uff45\uff41",
            "tide",
        ),
        ("修改youer服务端的计划", "youer"),
        ("修改youer服务端的计划", "服务端在哪里\uff1f"),
        ("月亮牵引着海洋", "海"),
        ("潮汐はﾃﾞｰﾀﾍﾞｰｽにある", "データベース"),
        ("서울에서 API를 부른다", "서울"),
        ("서울에서 API를 부른다", "API"),
        ("ดวงจันทร์ดึงทะเล", "จันทร์"),
    ],
)
def test_words_find_every_spelling(project: Project, written: str, asked: str) -> None:
    add_indexed(project, "it.txt", written)
    add_indexed(project, "other.txt", "Bread is baked. 面包是烤的。")
    assert names(project, asked) == ["it.txt"]
    assert Chunk.objects.get(file__name="it.txt").text == written


def test_the_text_with_more_of_the_question_is_first(project: Project) -> None:
    for number in range(5):
        add_indexed(project, f"{number}.txt", f"服务很好\uff0c计划 {number} 也好。")
    add_indexed(project, "best.txt", "服务端的计划在这里。")
    assert names(project, "服务端的计划")[0] == "best.txt"


def test_texts_whose_words_are_the_same_have_no_second_ones(project: Project) -> None:
    add_indexed(project, "en.txt", "The naïve café of the town is “open” to all of us")
    add_indexed(project, "de.txt", "Die Straße ist der größte Spaß, und das für die ganze Stadt")
    assert normal_words() == [None, None]


@pytest.mark.django_db(transaction=True)
def test_rows_that_are_there_are_filled_in_batches_and_those_in_use_after_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("knowledge.migration_operations.FILLED_AT_ONCE", 3)
    project = Project.objects.create(owner=factories.create_user("alice"), name="Tides")
    for number in range(5):
        add_indexed(project, f"{number}.txt", f"\u670d\u52a1{number}" if number != 2 else "plain")
    expected = normal_words()
    assert [bool(words) for words in expected] == [True, True, False, True, True]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE knowledge_chunk SET normal_words = NULL")
    assert names(project, "\u670d\u52a1") == []
    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        Chunk.objects.order_by("pk").select_for_update().first()
        filled = pool.submit(_fill)
        wait_until_locked()
        assert normal_words()[:2] == [None, expected[1]]
        transaction.on_commit(lambda: filled.result(20))
    assert normal_words() == expected


def wait_until_locked() -> None:
    """Until another connection waits for a lock."""
    with connection.cursor() as cursor:
        while True:
            cursor.execute("SELECT count(*) FROM pg_locks, pg_sleep(0.02) WHERE NOT granted")
            if cursor.fetchone()[0]:
                return


def _fill() -> None:
    state = ProjectState.from_apps(apps)
    try:
        with connection.schema_editor(atomic=False) as editor:
            FILL.database_forwards("knowledge", editor, state, state)
    finally:
        connection.close()

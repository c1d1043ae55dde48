"""Migration 0013 builds the index of each model's vectors again, also after an attempt that was interrupted."""

from importlib import import_module
from typing import Any, Final

import pytest
from django.apps import apps
from django.db import connection

from knowledge.models import EmbeddingModel

pytestmark = pytest.mark.django_db(transaction=True)

MIGRATION: Final = import_module("knowledge.migrations.0013_denser_vector_index")
CURRENT: Final = ["m=24", "ef_construction=128"]
FORMER: Final = ["m=16", "ef_construction=64"]


@pytest.fixture
def model() -> EmbeddingModel:
    """With the index that the version before made."""
    model = EmbeddingModel.objects.create(name="sea", dimensions=3)
    create_index(model.index_name, model, FORMER)
    return model


def create_index(name: str, model: EmbeddingModel, options: list[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE INDEX {name} ON knowledge_chunkvector USING hnsw ((vector::halfvec(3)) halfvec_cosine_ops) "
            f"WITH ({', '.join(options)}) WHERE model_id = {model.pk}"
        )


def rebuild() -> None:
    """As the migration does it, outside of a transaction."""
    with connection.schema_editor(atomic=False) as editor:
        MIGRATION.rebuild(apps, editor)


def indexes(model: EmbeddingModel) -> dict[str, Any]:
    """Name -> parameters, of those that are valid."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, reloptions FROM pg_class JOIN pg_index ON indexrelid = oid "
            "WHERE indrelid = 'knowledge_chunkvector'::regclass AND indisvalid AND starts_with(relname, %s)",
            [model.index_name],
        )
        return dict(cursor.fetchall())


def number(model: EmbeddingModel) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)::oid", [model.index_name])
        [found] = cursor.fetchone()
    return int(found)


def test_the_index_of_a_model_is_replaced_under_its_name(model: EmbeddingModel) -> None:
    rebuild()
    assert indexes(model) == {model.index_name: CURRENT}


def test_an_index_that_is_current_stays(model: EmbeddingModel) -> None:
    rebuild()
    before = number(model)
    rebuild()
    assert number(model) == before


def test_a_new_index_gets_the_same_parameters_as_a_rebuilt_one(model: EmbeddingModel) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {model.index_name}")
    model.set_dimensions(3)
    before = number(model)
    rebuild()
    assert number(model) == before


def test_an_attempt_that_was_interrupted_while_it_built_is_repeated(model: EmbeddingModel) -> None:
    create_index(f"{model.index_name}_new", model, FORMER)
    rebuild()
    assert indexes(model) == {model.index_name: CURRENT}


def test_an_attempt_that_was_interrupted_before_it_dropped_the_former_one_drops_it(
    model: EmbeddingModel,
) -> None:
    rebuild()
    create_index(f"{model.index_name}_former", model, FORMER)
    rebuild()
    assert indexes(model) == {model.index_name: CURRENT}


def test_a_model_without_vectors_gets_none(model: EmbeddingModel) -> None:
    EmbeddingModel.objects.filter(pk=model.pk).update(dimensions=None)
    rebuild()
    assert indexes(model) == {model.index_name: FORMER}

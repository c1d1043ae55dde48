"""The NamedTuples of raw statements and the models they become."""

from typing import Any, NamedTuple, get_type_hints

import pytest
from django.db import models

from chat.models import ChatMessage, ModelConfig, Run, Session, Turn
from chat.models.sql.rows import MessagePlace, ModelConfigRow, SessionRow, TurnRow
from chat.models.sql.runs import RunRow, SessionOfRun
from chat.models.sql.statements import Statement
from chat.models.sql.turns import OfferedModel

pytestmark = pytest.mark.pure


def attributes(model: type[models.Model]) -> list[str]:
    return [field.attname for field in model._meta.concrete_fields]


@pytest.mark.parametrize(
    ("row", "model"), [(SessionRow, Session), (TurnRow, Turn), (ModelConfigRow, ModelConfig)]
)
def test_a_whole_row_has_every_field_of_its_model_in_order(row: Any, model: type[models.Model]) -> None:
    assert list(row._fields) == attributes(model)


@pytest.mark.parametrize(
    ("row", "model"),
    [(RunRow, Run), (SessionOfRun, Session), (MessagePlace, ChatMessage), (OfferedModel, ModelConfig)],
)
def test_a_partial_row_has_fields_of_its_model_in_order(row: Any, model: type[models.Model]) -> None:
    assert list(row._fields) == [name for name in attributes(model) if name in get_type_hints(row)]


class Inner(NamedTuple):
    a: int | None
    b: int


class Outer(NamedTuple):
    before: int
    inner: Inner
    other: Inner | None
    after: int


def test_a_nested_row_takes_as_many_columns_as_it_has_fields() -> None:
    read = Statement("", Outer).read
    assert read((1, 2, 3, 4, 5, 6)) == Outer(1, Inner(2, 3), Inner(4, 5), 6)


def test_an_optional_nested_row_is_none_if_its_first_column_is_null() -> None:
    read = Statement("", Outer).read
    assert read((1, None, 3, None, None, 6)) == Outer(1, Inner(None, 3), None, 6)

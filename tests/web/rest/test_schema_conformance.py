"""Requests generated from the OpenAPI document, valid and invalid ones, are answered as the document says.

Of every change: some operations. tests/web/rest/test_every_operation.py asks all of them.
"""

# ruff: noqa: F811  fixtures that are imported are parameters as well

from typing import Any, Final

import pytest
import yaml
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from tests.web.rest.conformance import SCHEMA, SETTINGS, Answers, answers, ask, world  # noqa: F401  fixtures
from tests.web.rest.generated_requests import World

pytestmark = pytest.mark.django_db
# Of each kind a cheap one: a list with a search, a row, a change, a deletion, a send. All operations take minutes.
OF_EVERY_CHANGE: Final = [
    "projects_update", "runs_cancel", "runs_read", "sessions_delete", "sessions_list", "withdrawal_create",
]  # fmt: skip


@SCHEMA.include(operation_id=OF_EVERY_CHANGE).parametrize()
@SETTINGS
def test_generated_requests_are_answered_as_documented(case: Any, world: World, answers: Answers) -> None:
    ask(case, world, answers)


def test_the_operations_of_every_change_exist() -> None:
    known = {one.ok().definition.raw["operationId"] for one in SCHEMA.get_all_operations()}
    assert set(OF_EVERY_CHANGE) <= known


def test_there_is_an_object_for_every_path(world: World) -> None:
    operations = [one.ok() for one in SCHEMA.get_all_operations()]
    assert {one.name for operation in operations for one in operation.path_parameters} <= world.ids.keys()


def test_the_served_document_is_the_one_that_requests_are_generated_from() -> None:
    served = yaml.load(APIClient().get("/api/schema/").content, yaml.CSafeLoader)
    generated = yaml.dump(SchemaGenerator().get_schema(request=None, public=True), Dumper=yaml.CSafeDumper)
    assert served == yaml.load(generated, yaml.CSafeLoader)

"""One world for the tests of a module, built once; what a test does to it is rolled back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from chat.infrastructure.redis_client import sync_redis
from tests.matrix import belongings
from tests.matrix.belongings import Belongings
from tests.matrix.subjects import SUBJECTS, Identity


@pytest.fixture(scope="module")
def built_world(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[Belongings, Belongings]]:
    with django_db_blocker.unblock(), transaction.atomic():
        sync_redis().flushdb()
        belongings.create_models()
        owner = belongings.create_belongings("alice")
        belongings.add_rows_of_staff(owner)
        yield owner, belongings.create_belongings("bob")
        transaction.set_rollback(True)


@pytest.fixture
def world(
    built_world: tuple[Belongings, Belongings], db: None, settings: Any
) -> tuple[Belongings, Belongings]:
    """alice's rows and bob's, outside of development."""
    settings.DEVELOPMENT = False
    return built_world


@pytest.fixture(scope="module")
def identities(built_world: tuple[Belongings, Belongings], django_db_blocker: Any) -> dict[str, Identity]:
    """Of each subject; they end with the world."""
    with django_db_blocker.unblock():
        return {subject.name: subject.identity(built_world[0]) for subject in SUBJECTS}


@pytest.fixture
def owned(world: tuple[Belongings, Belongings]) -> Belongings:
    """alice's rows, of which nobody else reads or changes anything."""
    return world[0]

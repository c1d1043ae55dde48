"""What a test that commits leaves to the next one."""

import inspect
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.test import TransactionTestCase

from chat.models import Agent, Session
from tests import factories
from tests.empty_tables import empty_tables


@pytest.mark.pure
def test_it_takes_the_place_of_what_django_calls():
    """Private in Django: another name or other parameters would leave the rows, or fail every test."""
    assert TransactionTestCase._fixture_teardown is empty_tables
    assert list(inspect.signature(empty_tables).parameters) == ["test"]
    assert "include_mirrors" in inspect.signature(TransactionTestCase._databases_names).parameters


@pytest.mark.django_db(transaction=True)
def test_every_table_is_empty_but_those_that_migrations_fill():
    kept = ContentType.objects.count(), Permission.objects.count()
    alice = factories.create_user("alice")
    Session.objects.start(alice)
    Agent.objects.create(owner=alice, name="Tides")
    empty_tables(SimpleNamespace(_databases_names=lambda **_options: ["default"]))
    assert [model.objects.count() for model in (User, Session, Agent)] == [0, 0, 0]
    assert (ContentType.objects.count(), Permission.objects.count()) == kept
    assert min(kept) > 0

"""Started once per test session, before Django's settings are read: Postgres and Valkey of the tests' own."""

import os
from collections.abc import Iterator

import django
import pytest

from tests import services as test_services
from tests.stack import Stack
from tests.upstream import Upstream

SERVICES = test_services.start_for_this_process()
# Here and not in pyproject.toml: pytest-django would read the settings before the services have addresses.
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()


@pytest.fixture(scope="session")
def services() -> test_services.Services:
    return SERVICES


@pytest.fixture(scope="session")
def running_stack(services: test_services.Services) -> Iterator[Stack]:
    """One for all: two would take each other's runs from the same queue."""
    with Upstream() as upstream, Stack.running(services, upstream) as stack:
        yield stack


@pytest.fixture
def stack(running_stack: Stack) -> Stack:
    """The real processes; the upstream's script is cleared before each test."""
    running_stack.upstream.reset()
    return running_stack

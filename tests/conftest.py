"""Started once per test session, before Django's settings are read: Postgres and Valkey of the tests' own."""

import os

import django
import pytest

from tests import services as test_services

SERVICES = test_services.start_for_this_process()
# Here and not in pyproject.toml: pytest-django would read the settings before the services have addresses.
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
django.setup()


@pytest.fixture(scope="session")
def services() -> test_services.Services:
    return SERVICES

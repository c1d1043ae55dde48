"""States and other choices are shown in the reader's language, on every page of the admin."""

import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest
from django.contrib import admin
from django.db.models import Field
from django.test import Client
from django.utils import translation

from chat.metrics.counters import swept
from chat.metrics.tally import Tally
from chat.sweeper.runs import SweepReport
from tests import factories
from tests.matrix import belongings
from tests.matrix.admin_pages import pages
from web.admin.workers import REPAIRED

# The same in German, or a name of the API.
SAME = {"text", "Text", "stdio", "http", "openapi"}
NAMES = {"unsupported_options", "dialect"}
TEXT = re.compile(r">\s*([^<>]+?)\s*<")
REPAIRS = {field.name for field in fields(SweepReport)} - {"taken_over"}
SHOWING = ("changelist", "change", "index", "app_list", "usage", "workers")


def choices() -> Iterator[tuple[Field[Any, Any], str, Any]]:
    """Each choice of a column that has a page: the field, the value and the label."""
    for table in admin.site._registry:
        for field in table._meta.fields:
            for value, label in () if field.name in NAMES else field.flatchoices:
                yield field, str(value), label


@pytest.fixture
def owned(db: None, settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    belongings.create_models()
    belongings.add_rows_of_staff(belongings.create_belongings("anna"))
    swept(takeovers=1, repairs=dict.fromkeys(REPAIRS, 1))
    Tally("sweeper").push()


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(factories.create_user("boss", is_staff=True, is_superuser=True))
    return client


def test_every_choice_has_a_label_in_german() -> None:
    labels = {(str(field), value): label for field, value, label in choices()}
    with translation.override("en"):
        english = {key: str(label) for key, label in labels.items()}
    with translation.override("de"):
        german = {key: str(label) for key, label in labels.items()}
    assert labels
    assert [key for key, text in german.items() if text == english[key] and text not in SAME] == []


@pytest.mark.pure
def test_every_kind_of_repair_has_a_name_on_the_page_of_workers() -> None:
    assert set(REPAIRED) == REPAIRS


def test_no_page_shows_a_choice_in_english(owned: None, staff: Client) -> None:
    english = {text for _field, value, label in choices() for text in (value, str(label))} - SAME - {""}
    found = {}
    for page in pages():
        if page.kind in SHOWING or page.name in SHOWING:
            for address in page.addresses():
                shown = staff.get(address, HTTP_ACCEPT_LANGUAGE="de").content.decode()
                found[address] = set(TEXT.findall(shown)) & english
    assert found
    assert {address: words for address, words in found.items() if words} == {}

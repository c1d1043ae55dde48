"""The page's HTML and the static files it needs."""

import json
import re
from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.test import AsyncClient, Client

from chat.models import Suggestion
from tests.instance import ROOT
from tests.messages import TEMPLATES
from web.page.vendor import MODULES


@pytest.mark.django_db
def test_an_anonymous_user_is_redirected_to_the_login() -> None:
    answer = Client().get("/")
    assert answer.status_code == HTTPStatus.FOUND
    assert answer["Location"].startswith("/login/")


@pytest.mark.django_db
def test_every_script_of_the_page_carries_the_nonce_of_its_policy() -> None:
    alice = Client()
    alice.force_login(User.objects.create_user("alice"))
    answer = alice.get("/")
    nonce = re.search(r"'nonce-([^']+)'", answer["Content-Security-Policy"])
    scripts = re.findall(r"<script[^>]*>", answer.content.decode())
    assert len(scripts) == 3
    assert nonce
    assert all(f'nonce="{nonce[1]}"' in script for script in scripts)


@pytest.mark.django_db
@pytest.mark.parametrize(("days", "says_none"), [(0, True), (1, False)])
def test_the_page_knows_whether_deleted_chats_come_back(days: int, says_none: bool, settings: Any) -> None:
    settings.KEEP_DELETED_DAYS = days
    alice = Client()
    alice.force_login(User.objects.create_user("alice"))
    assert ('data-trash="none"' in alice.get("/").content.decode()) == says_none


@pytest.mark.django_db
@pytest.mark.parametrize(("minutes", "offers_them"), [(0, False), (1, True)])
def test_the_page_offers_temporary_chats_unless_there_are_none(
    minutes: int, offers_them: bool, settings: Any
) -> None:
    settings.TEMPORARY_CHAT_MINUTES = minutes
    alice = Client()
    alice.force_login(User.objects.create_user("alice"))
    assert ('id="temporary"' in alice.get("/").content.decode()) == offers_them


@pytest.mark.django_db
def test_the_empty_page_offers_the_suggestions_of_staff_in_their_order_as_text() -> None:
    alice = Client()
    alice.force_login(User.objects.create_user("alice"))
    assert "data-suggestion" not in alice.get("/").content.decode()
    for position, text in enumerate(["Is 1 < 2?", "Sum up a file"]):
        Suggestion.objects.create(text=text, position=-position + 1)
    offered = re.findall(r"<button[^>]*data-suggestion>([^<]*)</button>", alice.get("/").content.decode())
    assert offered == ["Sum up a file", "Is 1 &lt; 2?"]


@pytest.mark.django_db
def test_an_address_that_leads_nowhere_leads_to_the_chats() -> None:
    answer = Client().get("/nowhere/")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert '<a href="/">' in answer.content.decode()


@pytest.mark.pure
def test_every_static_file_a_template_names_exists() -> None:
    templates = [file.read_text(encoding="utf-8") for file in TEMPLATES]
    names = re.findall(r"{% static ['\"]([^'\"]+)", "\n".join(templates))
    assert [name for name in names if not finders.find(name)] == []


@pytest.mark.pure
def test_of_the_installed_modules_only_the_named_files_are_served() -> None:
    assert all(finders.find(address) for address in MODULES)
    assert not finders.find("vendor/marked/package.json")
    assert not finders.find("node_modules/marked/package.json")


@pytest.mark.pure
def test_lock_file_names_versions_and_no_registry() -> None:
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    assert "integrity" in lock
    assert "resolved" not in lock
    modules = json.loads(lock)["packages"].values()
    # Where authors ask for money is no registry.
    assert "http" not in json.dumps([{**module, "funding": None} for module in modules])


@pytest.mark.slow
@pytest.mark.pure
async def test_the_named_modules_are_served_while_developing() -> None:
    """They are inside the folder that their storage names: files outside it, including uploads, are not served."""
    answers = {address: (await AsyncClient().get(f"/static/{address}")).status_code for address in MODULES}
    assert set(answers.values()) == {HTTPStatus.OK}, answers

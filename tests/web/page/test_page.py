"""The page's HTML and the static files it needs."""

import re
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.test import AsyncClient, Client

from tests.instance import ROOT
from web.page.modules import modules
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


def test_an_address_that_leads_nowhere_leads_to_the_chats() -> None:
    answer = Client().get("/nowhere/")
    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert '<a href="/">' in answer.content.decode()


def test_every_static_file_a_template_names_exists() -> None:
    templates = [file.read_text(encoding="utf-8") for file in (ROOT / "web" / "templates").rglob("*.html")]
    names = re.findall(r"{% static ['\"]([^'\"]+)", "\n".join(templates))
    assert [name for name in names if not finders.find(name)] == []


def test_of_the_installed_modules_only_the_named_files_are_served() -> None:
    assert all(finders.find(address) for address in MODULES)
    assert not finders.find("vendor/marked/package.json")
    assert not finders.find("node_modules/marked/package.json")


def test_the_head_announces_what_the_page_imports_at_once_and_nothing_else() -> None:
    announced = modules()
    assert all(finders.find(address) for address in announced)
    assert {"chat/page.js", "chat/elements/element.js", "vendor/marked.js"} <= set(announced)
    assert not {"chat/tree/tree_panel.js", "vendor/d3-hierarchy.js", "chat/types.js"} & set(announced)


def test_lock_file_names_versions_and_no_registry() -> None:
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    assert "integrity" in lock
    assert "resolved" not in lock
    assert "http" not in lock


async def test_the_named_modules_are_served_while_developing() -> None:
    """They are inside the folder that their storage names: files outside it, including uploads, are not served."""
    answers = {address: (await AsyncClient().get(f"/static/{address}")).status_code for address in MODULES}
    assert set(answers.values()) == {HTTPStatus.OK}, answers

"""Every page is rendered in the right language and theme by the server."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [
        ("en-GB,en", "en"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("es-MX", "es"),
        ("fr-CA", "fr"),
        ("zh-CN,zh;q=0.9", "zh-hans"),
        ("tlh", "en"),
    ],
)
def test_a_page_speaks_the_browsers_language(asked: str, spoken: str) -> None:
    answer = Client(headers={"accept-language": asked}).get("/login/")
    assert f'<html lang="{spoken}"' in answer.content.decode()


def test_the_language_of_the_settings_wins_over_the_browsers() -> None:
    browser = Client(headers={"accept-language": "en"})
    browser.post("/language/", {"language": "de", "next": "/login/"})
    assert '<html lang="de"' in browser.get("/login/").content.decode()


def test_the_api_speaks_english_whatever_the_browser_does() -> None:
    browser = Client(headers={"accept-language": "de"})
    browser.get("/login/")
    assert browser.get("/api/models/").json()["message"] == "Log in first."
    refused = browser.post("/api/auth/token/", {"username": "x"}, "application/json").json()
    assert refused["message"] == "The field is required."


def test_texts_of_the_modules_come_once_and_then_only_when_they_change() -> None:
    browser = Client(headers={"accept-language": "de"})
    first = browser.get("/language/catalog.js")
    assert first["Content-Type"].startswith("text/javascript")
    again = browser.get("/language/catalog.js", headers={"if-none-match": first["ETag"]})
    assert again.status_code == 304


@pytest.mark.parametrize(
    ("kept", "shown"), [("dark", "dark"), ("light", "light"), ("", "system"), ('"><b>', "system")]
)
def test_the_theme_is_there_before_the_first_paint(kept: str, shown: str) -> None:
    browser = Client()
    browser.cookies["theme"] = kept
    assert f'data-theme="{shown}"' in browser.get("/login/").content.decode()

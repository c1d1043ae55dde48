"""The static files that tests look for once."""

from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import override_settings

from tests.static_files import remembering
from web.page.static_files import StaticFiles

pytestmark = pytest.mark.pure


async def respond(_request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def test_each_middleware_has_them_although_they_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def look(middleware: Any) -> None:
        looked.append(middleware)
        middleware.files["/static/page.js"] = "page"

    monkeypatch.setattr(StaticFiles, "add_files_from_finders", remembering(look))
    first = StaticFiles(respond)
    first.files["/static/other.js"] = "other"
    assert StaticFiles(respond).files == {"/static/page.js": "page"}
    assert looked == [first]


def test_other_settings_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    monkeypatch.setattr(StaticFiles, "add_files_from_finders", remembering(looked.append))
    StaticFiles(respond)
    with override_settings(SERVESTATIC_MAX_AGE=7):
        StaticFiles(respond)
    assert len(looked) == 2
